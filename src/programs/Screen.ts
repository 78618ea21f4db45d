/**
 * A `Screen` is how a run looks to a person: its live display, what it came to, and a chain as a tree. All of it is pure;
 * `print` makes characters of it that are safe for any terminal, whoever wrote the texts.
 *
 * @since 0.1.0
 */
export type { Line, Room, Span, Style } from "./ScreenLine.ts"
export { json, print } from "./ScreenLine.ts"
export type { Shown, Ticker } from "./ScreenTicker.ts"
export { initial, see, status, step } from "./ScreenTicker.ts"
export type { Options as StatusOptions, Standing } from "./ScreenStatus.ts"
export { nothing, over, room as statusRoom } from "./ScreenStatus.ts"
export type { Account, Options, Totals } from "./ScreenSummary.ts"
export { account, final, show } from "./ScreenSummary.ts"
export { sent } from "./ScreenExcerpt.ts"
export type { Board } from "./FindingsBoard.ts"
export { make as findings } from "./FindingsBoard.ts"
export { board } from "./ScreenFindings.ts"
export { lines as maps } from "./ScreenMaps.ts"
export type { Options as TrailOptions } from "./ScreenTrail.ts"
export { conclusion, gaps, tree } from "./ScreenTrail.ts"
export type { Verdict, Word } from "./ScreenVerdict.ts"
export { of as verdicts, supported } from "./ScreenVerdict.ts"
