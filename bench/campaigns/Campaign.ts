/**
 * A `Campaign` is a large number of trials, each from its own seed. It fails in no other way than by a line that says how
 * to have the same trial again.
 */
export type Size = "pull-request" | "nightly" | "release"

export interface Report {
  /** What was tried and how often, by name. */
  readonly counts: { readonly [name: string]: number }
  readonly failures: ReadonlyArray<{ readonly seed: number; readonly fault: string }>
}

export interface Campaign {
  readonly sizes: { readonly [S in Size]: number }
  readonly run: (trials: number, seed: number) => Promise<Report>
}
