/**
 * A `Written` is a value where the model wrote it: in a reply, or in the arguments of a call.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as FindingRead from "./FindingRead.ts"
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

interface Range {
  readonly start: number
  readonly end: number
}

/** Where the declaration of findings stands in arguments that are one JSON object: its name, and all to its value's end. */
const declarationIn = (args: string): Range | undefined => {
  let depth = 0
  let found: number | undefined
  for (let at = 0; at < args.length; at++) {
    const code = args.charAt(at)
    if (code === '"') {
      const start = at
      for (at++; at < args.length && args.charAt(at) !== '"'; at++) if (args.charAt(at) === "\\") at++
      const isKey = depth === 1 && /^\s*:/.test(args.slice(at + 1, at + 65))
      if (isKey && args.slice(start + 1, at) === FindingRead.argument) found = start
      continue
    }
    if (code === "{" || code === "[") depth++
    else if (code === "}" || code === "]") depth--
    if (found !== undefined && ((code === "," && depth === 1) || depth === 0)) return { start: found, end: at }
  }
  return undefined
}

/** The arguments as they were written, without what they declare of findings, which no tool is sent. */
export const withoutFindings = (args: string): string => {
  const range = Either.isLeft(Json.parse(args)) ? undefined : declarationIn(args)
  if (range === undefined) return args
  const before = args.slice(0, range.start)
  const after = args.slice(range.end)
  return after.startsWith(",") ? before + after.slice(1).trimStart() : before.replace(/,\s*$/, "") + after
}

/** As `inArguments`, without the values of what is declared of findings. */
export const inCall = (args: string): ReadonlyArray<Written> => {
  const range = Either.isLeft(Json.parse(args)) ? undefined : declarationIn(args)
  if (range === undefined) return inArguments(args)
  // A member of the same length that says nothing, so that places stay.
  const blank = '"":""'.padEnd(range.end - range.start)
  return inArguments(args.slice(0, range.start) + blank + args.slice(range.end))
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
