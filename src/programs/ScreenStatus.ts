/**
 * A `ScreenStatus` is the last line of a terminal while something goes on: it is written over, and no trace of it stays.
 *
 * It moves the cursor with nothing but carriage returns, so it may never be as wide as the terminal.
 *
 * @internal
 */
import * as ScreenLine from "./ScreenLine.ts"

/** How many cells of the line are written on. */
export type Standing = number

export const nothing: Standing = 0

export interface Options {
  readonly colour: boolean
  /** 0 if the terminal does not say. */
  readonly columns: number
}

/** How wide a status may be. */
export const room = (columns: number): { readonly width: number } => ({
  width: columns > 0 ? Math.max(1, columns - 1) : 79
})

/** What to write so that lines stand where the status stood, and the next status under them. */
export const over = (
  standing: Standing,
  lines: ReadonlyArray<ScreenLine.Line>,
  status: ScreenLine.Line | undefined,
  { colour, columns }: Options
): { readonly text: string; readonly standing: Standing } => {
  const { width } = room(columns)
  const cleared = standing === 0 ? "" : `\r${" ".repeat(Math.min(standing, width))}\r`
  const above = cleared + ScreenLine.print(lines, { colour })
  if (status === undefined) return { text: above, standing: nothing }
  const shown =
    ScreenLine.widthOf(status) <= width
      ? status
      : [ScreenLine.span(ScreenLine.fit(status.map(({ text }) => text).join(""), width), "faint")]
  return { text: above + ScreenLine.printLine(shown, { colour }), standing: ScreenLine.widthOf(shown) }
}
