/**
 * A `Written` is a value where the model wrote it: in a reply, or in the arguments of a call.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Json from "./Json.ts"
import * as Sources from "./Sources.ts"
import * as Value from "./Value.ts"

/** In an answer, numbers of fewer digits are not asked about by themselves; `value` asks about any text. */
const minDigits = 3

export interface Written {
  readonly text: string
  readonly start: number
  readonly end: number
  /** Words that are no single value are looked for as they stand. */
  readonly phrase: boolean
}

export const ofToken = (token: Value.Token): Written => ({ ...token, phrase: false })

/** The values of a text that the model wrote. */
export const inText = (text: string): ReadonlyArray<Written> => Value.extract(text, { minDigits }).map(ofToken)

/** The strings, without their quotes, and the numbers of a JSON text that are no keys, as they stand in it. */
const literals = (json: string): ReadonlyArray<{ readonly start: number; readonly end: number }> => {
  const found: Array<{ readonly start: number; readonly end: number }> = []
  for (let at = 0; at < json.length;) {
    const start = at
    if (json.charAt(at) === '"') {
      for (at++; at < json.length && json.charAt(at) !== '"'; at++) if (json.charAt(at) === "\\") at++
      const end = at++
      const isKey = /^\s*:/.test(json.slice(at, at + 64))
      if (!isKey) found.push({ start: start + 1, end })
      continue
    }
    while (/[-+.\deE]/.test(json.charAt(at)) && (at > start || /[-\d]/.test(json.charAt(at)))) at++
    if (at > start) found.push({ start, end: at })
    else at++
  }
  return found
}

/** The values of a call's arguments: each number, each word that stands alone, the values of longer texts, and phrases. */
export const inArguments = (args: string): ReadonlyArray<Written> => {
  if (Either.isLeft(Json.parse(args))) return inText(args)
  const read = Sources.readable(args)
  const seen = new Set<string>()
  return literals(args)
    .flatMap(({ end, start }): ReadonlyArray<Written> => {
      const leaf = read.slice(start, end)
      const place = (token: { readonly text: string; readonly start: number; readonly end: number }): Written => ({
        text: token.text,
        start: start + token.start,
        end: start + token.end,
        phrase: false
      })
      const tokens = Value.tokens(leaf)
      const [only] = tokens
      if (only !== undefined && tokens.length === 1) return [place(only)]
      const isPhrase = !/\d/.test(leaf) && leaf.length <= 200 && leaf.trim() !== ""
      const whole = { text: args.slice(start, end), start, end, phrase: true }
      return [...(isPhrase ? [whole] : []), ...Value.extract(leaf, { minDigits: 1 }).map(place)]
    })
    .filter(({ text }) => !seen.has(text) && seen.add(text))
}
