/**
 * A `Figure` is one number that a benchmark measured, against a floor measured in the same process and run.
 */
export interface Figure {
  readonly bench: string
  /** The size of the work: passes, calls, deltas. */
  readonly n: number
  readonly metric: string
  readonly value: number
  readonly unit: string
  /** What the value is compared with, in words. */
  readonly against: string
  /** The value divided by that of `against`. */
  readonly ratio: number
}

const round = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)

/** A table for people. */
export const table = (figures: ReadonlyArray<Figure>): string => {
  const rows = figures.map((figure) => [
    figure.bench,
    String(figure.n),
    figure.metric,
    `${round(figure.value)} ${figure.unit}`,
    `${figure.ratio.toFixed(2)} × ${figure.against}`
  ])
  const all = [["bench", "n", "metric", "value", "ratio"], ...rows]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  return all
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

/** The middle value of some measurements. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
