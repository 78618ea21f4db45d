/**
 * A `Printable` is text that can be shown anywhere: whatever a model, a tool or a file put into it, it opens no line,
 * no terminal escape and no section of its own.
 *
 * @since 0.1.0
 */

/** Controls, bidirectional marks, zero-width and tag characters, and the separators that end a line. */
const unprintable =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu
const lone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

const escape = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`
}

/** The text with every lone surrogate replaced by U+FFFD, so that it can be stored as UTF-8. */
export const wellFormed = (text: string): string => text.replace(lone, "\ufffd")

/** One line: every character that could move a cursor or open a line is written as an escape. */
export const line = (text: string): string => wellFormed(text).replace(unprintable, escape)

/** Several lines: as `line`, but line feeds and tabs stay. */
export const block = (text: string): string =>
  wellFormed(text)
    .replace(/\r\n/g, "\n")
    .replace(unprintable, (c) => (c === "\n" || c === "\t" ? c : escape(c)))

/** What else is seen nowhere, or as a space that it is not: fillers, variation selectors, joiners, spaces of other kinds. */
const unseen = /\p{Default_Ignorable_Code_Point}|(?! )\p{Zs}|\u2800/gu

/** One line in which everything can be seen: as `line`, and what no eye tells from nothing or from a space is an escape. */
export const exact = (text: string): string => line(text).replace(unseen, escape)

/** At most `max` code points; what was cut is counted in the text. */
export const clip = (text: string, max: number): string => {
  if (text.length <= max) return text
  const points = Array.from(text)
  return points.length <= max ? text : `${points.slice(0, max).join("")}… ${points.length - max} more`
}

/** A foreign value as data: one line, quoted, clipped. */
export const quote = (text: string, max = 64): string => `"${clip(line(text).replaceAll('"', '\\"'), max)}"`
