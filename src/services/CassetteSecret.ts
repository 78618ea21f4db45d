/**
 * A `CassetteSecret` is what must not be written down: the values that the application names, however they are encoded, and
 * what has the shape of a well-known key.
 *
 * @internal
 */
import * as Encoding from "effect/Encoding"
import * as Redacted from "effect/Redacted"

/** Keys of providers and forges, private keys, signed tokens, and what follows "Bearer". */
const shapes: ReadonlyArray<RegExp> = [
  /\b[spr]k[-_][A-Za-z0-9_-]{16,}/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\bAIza[0-9A-Za-z_-]{30,}/,
  /\bgh[opsru]_[A-Za-z0-9]{30,}/,
  /\bgithub_pat_[A-Za-z0-9_]{30,}/,
  /\bglpat-[A-Za-z0-9_-]{20,}/,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\./,
  /\bBearer\s+[A-Za-z0-9._~+/-]{20,}/i
]

/** What of the Base64 of a text does not depend on what stands before it and behind it, for each place in a group of three. */
const base64 = (text: string): ReadonlyArray<string> =>
  [0, 1, 2].map((shift) => {
    const bytes = new TextEncoder().encode(text)
    const padded = new Uint8Array([...new Uint8Array(shift), ...bytes])
    const encoded = Encoding.encodeBase64(padded).replace(/=+$/, "")
    const isOpen = (padded.length * 8) % 6 !== 0
    return encoded.slice(shift === 0 ? 0 : shift + 1, isOpen ? -1 : undefined)
  })

const percent = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")

/** A text as JSON holds it, without the quotes. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

/** Texts as they are, and as JSON holds them, once and twice. */
const inJson = (texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from(new Set(texts.flatMap((text) => [text, escaped(text), escaped(escaped(text))])))

/** A text without the escapes that JSON does not need, which a writer may put anywhere, and as often as the JSON is in JSON. */
const unescaped = (text: string): string =>
  text.replace(/\\+(?:u([0-9a-f]{4})|\/)/gi, (_, unit: string | undefined) =>
    unit === undefined ? "/" : escaped(String.fromCharCode(Number.parseInt(unit, 16)))
  )

/** The spellings of a value that give it away, in lower case where their case says nothing. */
const spellings = (
  value: string
): { readonly exact: ReadonlyArray<string>; readonly folded: ReadonlyArray<string> } => {
  const standard = base64(value)
  const exact = [
    value,
    encodeURIComponent(value),
    encodeURIComponent(encodeURIComponent(value)),
    Array.from(value).toReversed().join(""),
    ...standard,
    ...standard.map((one) => one.replaceAll("+", "-").replaceAll("/", "_"))
  ]
  return { exact: inJson(exact), folded: inJson([Encoding.encodeHex(value), percent(value)]) }
}

/** Whether a text holds a secret. */
export type Holds = (text: string) => boolean

/** A value of fewer characters is in too many texts to be looked for. */
const shortest = 4

export const finder = (secrets: ReadonlyArray<Redacted.Redacted>): Holds => {
  const known = secrets
    .map(Redacted.value)
    .filter((value) => value.length >= shortest)
    .map(spellings)
  const exact = known.flatMap((one) => one.exact)
  const folded = known.flatMap((one) => one.folded)
  const isIn = (text: string): boolean => {
    if (shapes.some((shape) => shape.test(text)) || exact.some((one) => text.includes(one))) return true
    const lower = folded.length === 0 ? "" : text.toLowerCase()
    return folded.some((one) => lower.includes(one))
  }
  return (text) => isIn(text) || isIn(unescaped(text))
}
