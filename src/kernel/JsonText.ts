/**
 * A `JsonText` is JSON text from outside, and this is the one gate for it. It is narrower than `Json`, the domain that
 * it reads into: it has limits, and it refuses NUL, duplicate keys and the keys that reach a prototype.
 *
 * The value is built while the text is checked, with a stack of our own: nothing recurses with the depth of the text.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Problem from "./JsonProblem.ts"

/** Sizes are in UTF-16 code units. `maxKeys` counts the members of all objects; `maxDigits` those of one number. */
export interface Limits {
  readonly maxChars?: number
  readonly maxDepth?: number
  readonly maxKeys?: number
  readonly maxStringChars?: number
  readonly maxDigits?: number
}

export const defaults: Required<Limits> = {
  maxChars: 1_048_576,
  maxDepth: 64,
  maxKeys: 10_000,
  maxStringChars: 1_048_576,
  maxDigits: 64
}

type Frame =
  | { readonly _tag: "List"; readonly value: Array<unknown> }
  | { readonly _tag: "Object"; readonly value: { [key: string]: unknown }; key: string }

const reserved = new Set(["__proto__", "constructor", "prototype"])
const surrogate = /\p{Surrogate}/u
const literals = new Map<number, readonly [text: string, value: boolean | null]>([
  [116, ["true", true]],
  [102, ["false", false]],
  [110, ["null", null]]
])
const escapes = new Map<number, string>([
  [34, '"'],
  [47, "/"],
  [92, "\\"],
  [98, "\b"],
  [102, "\f"],
  [110, "\n"],
  [114, "\r"],
  [116, "\t"]
])

const isDigit = (code: number): boolean => code >= 48 && code <= 57

/**
 * The value that a text from outside stands for, as `JSON.parse` reads it, or why it was refused: the first fault in
 * reading order. Linear in the text; a text that is too long is not read at all.
 */
export const parse = (text: string, limits: Limits = {}): Either.Either<unknown, Problem.JsonProblem> => {
  const { maxChars, maxDepth, maxDigits, maxKeys, maxStringChars } = { ...defaults, ...limits }
  const stack: Array<Frame> = []
  let at = 0
  let keys = 0

  const malformed = (expected: string): Problem.JsonProblem => Problem.malformed(text, at, expected)

  /** Where the reader stands: in lists the index of the next member, in objects the last key. */
  const path = (): ReadonlyArray<string> =>
    stack.map((frame) => (frame._tag === "List" ? String(frame.value.length) : frame.key))

  /** The next code that is not white space; NaN at the end. */
  const peek = (): number => {
    for (;;) {
      const code = text.charCodeAt(at)
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return code
      at++
    }
  }

  const readEscape = (): string | Problem.JsonProblem => {
    const code = text.charCodeAt(at)
    const short = escapes.get(code)
    if (short === undefined && code !== 117) return malformed("an escape that JSON knows")
    at++
    if (short !== undefined) return short
    for (const end = at + 4; at < end; at++) {
      const digit = text.charCodeAt(at)
      const letter = digit | 32
      if (!isDigit(digit) && !(letter >= 97 && letter <= 102)) return malformed("four hexadecimal digits")
    }
    return String.fromCharCode(Number.parseInt(text.slice(at - 4, at), 16))
  }

  /** The string that opens at `at`. */
  const readString = (): { readonly value: string } | Problem.JsonProblem => {
    let value = ""
    at++
    for (;;) {
      const from = at
      let end = from
      let code = text.charCodeAt(end)
      while (code >= 32 && code !== 34 && code !== 92) code = text.charCodeAt(++end)
      at = end
      value += text.slice(from, end)
      if (code < 32) return malformed("an escape in place of a control character")
      if (code !== 34 && code !== 92) return malformed("a closing quote")
      at++
      if (code === 34) return { value }
      const escaped = readEscape()
      if (typeof escaped !== "string") return escaped
      value += escaped
    }
  }

  const judge = (value: string, where: () => ReadonlyArray<string>): Problem.JsonProblem | undefined => {
    if (value.length > maxStringChars) return Problem.tooLarge(maxStringChars, value.length, where())
    if (value.includes("\0")) return Problem.notCanonical(where(), "NUL")
    if (surrogate.test(value)) return Problem.notCanonical(where(), "lone surrogate")
    return undefined
  }

  /** Passes over digits, of which there must be one. */
  const skipDigits = (): number | Problem.JsonProblem => {
    const from = at
    while (isDigit(text.charCodeAt(at))) at++
    return at > from ? at - from : malformed("a digit")
  }

  const readNumber = (): number | Problem.JsonProblem => {
    const from = at
    if (text.charCodeAt(at) === 45) at++
    let digits = 1
    if (text.charCodeAt(at) === 48) at++
    else {
      const whole = skipDigits()
      if (typeof whole !== "number") return whole
      digits = whole
    }
    if (text.charCodeAt(at) === 46) {
      at++
      const fraction = skipDigits()
      if (typeof fraction !== "number") return fraction
      digits += fraction
    }
    if ((text.charCodeAt(at) | 32) === 101) {
      at++
      const sign = text.charCodeAt(at)
      if (sign === 43 || sign === 45) at++
      const exponent = skipDigits()
      if (typeof exponent !== "number") return exponent
      digits += exponent
    }
    const value = digits > maxDigits ? Number.NaN : Number(text.slice(from, at))
    if (!Number.isFinite(value)) return Problem.notCanonical(path(), "number out of range")
    return Object.is(value, -0) ? Problem.notCanonical(path(), "negative zero") : value
  }

  /** Reads a key and its colon into the frame. */
  const readKey = (frame: Frame & { readonly _tag: "Object" }, expected: string): Problem.JsonProblem | undefined => {
    if (peek() !== 34) return malformed(expected)
    const read = readString()
    if ("_tag" in read) return read
    const key = read.value
    frame.key = key
    if (reserved.has(key)) return Problem.forbiddenKey(path())
    if (Object.hasOwn(frame.value, key)) return Problem.notCanonical(path(), "duplicate key")
    if (++keys > maxKeys) return Problem.tooWide(maxKeys)
    const problem = judge(key, path)
    if (problem !== undefined) return problem
    if (peek() !== 58) return malformed("a colon")
    at++
    return undefined
  }

  if (text.length > maxChars) return Either.left(Problem.tooLarge(maxChars, text.length))
  for (let expected = "a value"; ;) {
    let value: unknown
    const code = peek()
    if (code === 123 || code === 91) {
      if (stack.length >= maxDepth) return Either.left(Problem.tooDeep(maxDepth, at))
      at++
      if (code === 123) {
        const frame: Frame = { _tag: "Object", value: {}, key: "" }
        stack.push(frame)
        if (peek() !== 125) {
          const problem = readKey(frame, "a key in double quotes, or }")
          if (problem !== undefined) return Either.left(problem)
          expected = "a value"
          continue
        }
      } else {
        stack.push({ _tag: "List", value: [] })
        if (peek() !== 93) {
          expected = "a value, or ]"
          continue
        }
      }
      at++
      value = stack.pop()?.value
    } else if (code === 34) {
      const read = readString()
      if ("_tag" in read) return Either.left(read)
      const problem = judge(read.value, path)
      if (problem !== undefined) return Either.left(problem)
      value = read.value
    } else if (code === 45 || isDigit(code)) {
      const read = readNumber()
      if (typeof read !== "number") return Either.left(read)
      value = read
    } else {
      const literal = literals.get(code)
      if (literal === undefined) return Either.left(malformed(expected))
      for (let n = 0; n < literal[0].length; n++, at++) {
        if (text.charCodeAt(at) !== literal[0].charCodeAt(n)) return Either.left(malformed(literal[0]))
      }
      value = literal[1]
    }
    // The value is complete: hand it to its container, and close every container that ends here.
    for (;;) {
      const frame = stack.at(-1)
      const next = peek()
      if (frame === undefined) {
        return at < text.length ? Either.left(malformed("the end of the text")) : Either.right(value)
      }
      if (frame._tag === "List") frame.value.push(value)
      else frame.value[frame.key] = value
      if (next === 44) {
        at++
        const problem = frame._tag === "Object" ? readKey(frame, "a key in double quotes") : undefined
        if (problem !== undefined) return Either.left(problem)
        expected = "a value"
        break
      }
      if (next !== (frame._tag === "List" ? 93 : 125)) {
        return Either.left(malformed(frame._tag === "List" ? "a comma, or ]" : "a comma, or }"))
      }
      at++
      value = frame.value
      stack.pop()
    }
  }
}
