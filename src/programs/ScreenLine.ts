/**
 * A `ScreenLine` is one line for a terminal: texts with a style each. `print` is the only way from lines to characters, and
 * it cleans every text, so that nothing but our own styling can reach a terminal, whoever wrote the text.
 *
 * Widths are those of the cleaned text in terminal cells.
 *
 * @internal
 */
import * as Printable from "../kernel/Printable.ts"

export type Style = "strong" | "faint" | "good" | "bad" | "warn" | "mark"

export interface Span {
  readonly text: string
  readonly style?: Style
}

export type Line = ReadonlyArray<Span>

/** Where lines are shown. Without a width it is no terminal: nothing is wrapped, and only very long texts are cut. */
export interface Room {
  readonly width?: number
  /** Nothing is cut: what is wider than the room goes on in the next line. */
  readonly full?: boolean
}

/** How much of a text is shown where there is no width to keep to. */
const unbounded = 240

const codes: { readonly [S in Style]: string } = {
  strong: "1",
  faint: "2",
  good: "32",
  bad: "31",
  warn: "33",
  mark: "1;36"
}

export const span = (text: string, style?: Style): Span => (style === undefined ? { text } : { text, style })

export const plain = (text: string): Line => [span(text)]

const paint = ({ style, text }: Span, colour: boolean): string => {
  const cleaned = Printable.line(text)
  return !colour || style === undefined || cleaned === "" ? cleaned : `\u001b[${codes[style]}m${cleaned}\u001b[0m`
}

/** A line without its line feed. */
export const printLine = (line: Line, options: { readonly colour: boolean }): string =>
  line
    .map((one) => paint(one, options.colour))
    .join("")
    .replace(/ +$/, "")

/** The characters for a terminal or a pipe. Every line ends in a line feed. */
export const print = (lines: ReadonlyArray<Line>, options: { readonly colour: boolean }): string =>
  lines.map((line) => `${printLine(line, options)}\n`).join("")

/** JSON on one line. What could move a cursor is written as JSON escapes, so that a parser reads what was there. */
export const json = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g,
    (found) =>
      Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
        ""
      )
  )

const none = /(?!\ufe0f)(?:\p{Mn}|\p{Me})/u
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u

const cells = (point: string): number => (point < "\u0300" ? 1 : none.test(point) ? 0 : wide.test(point) ? 2 : 1)

const simple = /^[\u0020-\u02ff]*$/

/** How many cells a cleaned text takes. */
const measure = (cleaned: string): number =>
  simple.test(cleaned) ? cleaned.length : Array.from(cleaned).reduce((sum, point) => sum + cells(point), 0)

/** How many cells a text takes once it is clean. */
export const width = (text: string): number => measure(Printable.line(text))

export const widthOf = (line: Line): number => line.reduce((sum, { text }) => sum + width(text), 0)

export const count = (n: number): string => String(n).replace(/\B(?=(\d{3})+$)/g, ",")

/** As many of the points as fit, cleaned, and how many that were. */
const take = (points: ReadonlyArray<string>, max: number): { readonly text: string; readonly taken: number } => {
  let text = ""
  let used = 0
  let taken = 0
  for (const point of points) {
    const cleaned = Printable.line(point)
    used += measure(cleaned)
    if (used > max) break
    text += cleaned
    taken++
  }
  return { text, taken }
}

const takeLast = (points: ReadonlyArray<string>, max: number) => {
  const { taken } = take([...points].reverse(), max)
  const last = taken === 0 ? [] : points.slice(-taken)
  return { text: last.map(Printable.line).join(""), taken }
}

/** A part of a text, cleaned, and how many UTF-16 units of the text it is. */
interface Part {
  readonly text: string
  readonly chars: number
}

const part = (points: ReadonlyArray<string>): Part => ({
  text: points.map(Printable.line).join(""),
  chars: points.join("").length
})

/** As much of the start of a text as fits. */
export const first = (text: string, max: number): Part => {
  const points = Array.from(text)
  return part(points.slice(0, take(points, max).taken))
}

/** As much of the end of a text as fits. */
export const last = (text: string, max: number): Part => {
  const points = Array.from(text)
  const { taken } = takeLast(points, max)
  return part(taken === 0 ? [] : points.slice(-taken))
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

/** As much of the end of a text as fits, in whole graphemes, cleaned. Without its begin, it may begin inside of one. */
export const lastWhole = (text: string, max: number, hasBegin: boolean): string => {
  const found = Array.from(graphemes.segment(text), ({ segment }) => Printable.line(segment))
  const whole = hasBegin ? found : found.slice(1)
  let used = 0
  const begin = whole.findLastIndex((one) => {
    used += measure(one)
    return used > max
  })
  return whole.slice(begin + 1).join("")
}

const pointsIn = (text: string): number => {
  if (text.length > 1_000_000) return text.length
  let points = 0
  for (const _ of text) points++
  return points
}

/** The text in at most `max` cells: what does not fit is cut from its middle, and counted there. */
export const fit = (text: string, max: number): string => {
  if (text.length <= 4 * max) {
    const cleaned = Printable.line(text)
    if (measure(cleaned) <= max) return cleaned
  }
  const total = pointsIn(text)
  const window = 2 * max + 2
  const head = Array.from(text.slice(0, window))
  const tail = text.length <= window ? head : Array.from(text.slice(-window))
  const marker = (cut: number): string => `… ${count(cut)} more …`
  const left = max - marker(total).length
  if (left < 12) {
    const end = (cut: number): string => `… ${count(cut)} more`
    const { taken, text: begun } = take(head, Math.max(0, max - end(total).length))
    return `${begun}${end(total - taken)}`
  }
  const first = take(head, Math.ceil((left * 2) / 3))
  const last = takeLast(tail, left - Math.ceil((left * 2) / 3))
  return `${first.text}${marker(total - first.taken - last.taken)}${last.text}`
}

/** As `fit`, unless nothing may be cut. */
export const brief = (text: string, max: number, { full = false }: Room): string =>
  full ? Printable.line(text) : fit(text, max)

/** As `brief`, where the room has a width; a long text is cut in any room. `taken` cells are used by something else. */
export const fitIn = (text: string, room: Room, taken: number, least = 16): string =>
  brief(text, room.width === undefined ? unbounded : Math.max(least, room.width - taken), room)

/** Words of several lines as one line. */
export const oneLine = (text: string): string => text.trim().replaceAll(/\s*\n\s*/g, " ")

export const pad = (text: string, cells: number): string => {
  const cleaned = Printable.line(text)
  return cleaned + " ".repeat(Math.max(0, cells - measure(cleaned)))
}

export const padLeft = (text: string, cells: number): string => {
  const cleaned = Printable.line(text)
  return " ".repeat(Math.max(0, cells - measure(cleaned))) + cleaned
}

/** A line whose last part ends where the room does; without a width it follows after two spaces. */
export const ending = (line: Line, last: Span, room: Room): Line => {
  const gap = room.width === undefined ? 2 : Math.max(2, room.width - widthOf(line) - width(last.text))
  return [...line, span(" ".repeat(gap)), last]
}

/** Breaks one cleaned line of text between words, and words that are longer than a line. */
const broken = (text: string, max: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  for (const word of text.split(" ")) {
    const joined = line === "" ? word : `${line} ${word}`
    if (measure(joined) <= max) {
      line = joined
      continue
    }
    if (line !== "") lines.push(line)
    let rest = Array.from(word)
    for (;;) {
      const { taken, text: part } = take(rest, max)
      if (taken >= rest.length || taken === 0) break
      lines.push(part)
      rest = rest.slice(taken)
    }
    line = rest.join("")
  }
  return [...lines, line]
}

/** Breaks lines that are wider than the room, between words where it can; what goes on is indented. */
export const wrap = (lines: ReadonlyArray<Line>, { width }: Room): ReadonlyArray<Line> =>
  width === undefined ? lines : lines.flatMap((line) => (widthOf(line) <= width ? [line] : wrapped(line, width)))

const indent = "    "

const wrapped = (line: Line, max: number): ReadonlyArray<Line> => {
  const lines: Array<Array<Span>> = []
  let current: Array<Span> = []
  let used = 0
  const open = (): void => {
    lines.push(current)
    current = [span(indent)]
    used = indent.length
  }
  for (const { style, text } of line) {
    for (const word of Printable.line(text).split(/(?<= )(?! )/)) {
      if (used > indent.length && used + measure(word.trimEnd()) > max) open()
      let rest = Array.from(word)
      for (;;) {
        const { taken, text: part } = take(rest, max - used)
        if (taken > 0) current.push(span(part, style))
        used += measure(part)
        rest = rest.slice(taken)
        if (rest.length === 0) break
        // Spaces at the end of a line are seen nowhere.
        if (rest.every((point) => point === " ")) break
        open()
      }
    }
  }
  return [...lines, current]
}

/**
 * A text of several lines, cleaned, as lines of at most `max` cells each. More than `most` lines are cut in the middle,
 * with the count said.
 */
export const paragraph = (text: string, max: number | undefined, most: number): ReadonlyArray<string> => {
  const raw = Printable.block(text).replaceAll("\t", "    ").split("\n")
  const lines = max === undefined ? raw : raw.flatMap((line) => broken(line, max))
  if (lines.length <= most) return lines
  const head = Math.ceil((most - 1) / 2)
  const tail = most - 1 - head
  const hidden = lines.length - head - tail
  return [...lines.slice(0, head), `… ${count(hidden)} more lines …`, ...(tail === 0 ? [] : lines.slice(-tail))]
}

/** Sizes are in units of 1,000 bytes. */
export const bytes = (n: number): string => {
  if (n < 1_000) return `${n} B`
  if (n < 999_950) return `${(n / 1_000).toFixed(1)} KB`
  return `${(n / 1_000_000).toFixed(1)} MB`
}

export const duration = (ms: number): string => {
  if (ms < 100) return `${Math.round(ms)}ms`
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)}s`
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, "0")}s`
}

export const utf8 = (text: string): number => Buffer.byteLength(text)

/** `1 pass`, `2 passes`. */
export const counted = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`
