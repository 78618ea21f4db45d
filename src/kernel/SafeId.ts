/**
 * A `SafeId` is an id or a name as it stands in a text for a model: bare if it is plain, and otherwise a JSON string
 * literal, so that it opens no line and no section, and reads back as what it was.
 *
 * @since 0.1.0
 */
import * as Printable from "./Printable.ts"

const plain = /^[A-Za-z0-9_.:-]{1,64}$/
const tags = /[\u{e0000}-\u{e007f}]/gu

const escapeUnits = (character: string): string =>
  Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16)}`).join("")

/** The text as a JSON string literal of one printable line. Beyond `max` code points it is cut; what was, is counted outside. */
export const literal = (text: string, max = 64): string => {
  const points = Array.from(text)
  const quoted = JSON.stringify(points.slice(0, max).join("")).replace(tags, escapeUnits)
  const cut = points.length - max
  return `${Printable.line(quoted)}${cut > 0 ? ` (+${cut} characters)` : ""}`
}

export const print = (id: string): string => (plain.test(id) ? id : literal(id))

const shown = 12

/** The first 12 in their order, then how many more there are. */
export const list = (ids: ReadonlyArray<string>): string =>
  [...ids.slice(0, shown).map(print), ...(ids.length > shown ? [`+${ids.length - shown} more`] : [])].join(", ")
