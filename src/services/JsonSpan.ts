/**
 * A `JsonSpan` is where a value stands in a JSON text that has been parsed already. What is written there is what was
 * sent: numbers with all their digits, keys in their order and as often as they were given.
 *
 * @internal
 */

export interface Span {
  readonly from: number
  readonly to: number
}

const quote = 34
const backslash = 92

const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9

/** Where the next thing is that is not white space. */
const next = (text: string, from: number): number => {
  let at = from
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

/** The end of the string that opens at `from`. */
const afterString = (text: string, from: number): number => {
  let at = from + 1
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1
  return at + 1
}

/** The end of the value that begins at `from`. */
const after = (text: string, from: number): number => {
  const first = text.charAt(from)
  if (first === '"') return afterString(text, from)
  let at = from
  if (first !== "{" && first !== "[") {
    while (at < text.length && !/[,\]}\s]/.test(text.charAt(at))) at++
    return at
  }
  let depth = 0
  do {
    const c = text.charAt(at)
    if (c === "{" || c === "[") depth++
    else if (c === "}" || c === "]") depth--
    at = c === '"' ? afterString(text, at) : at + 1
  } while (depth > 0 && at < text.length)
  return at
}

/** What a list, or an object, that is written at `from` holds: of an object each member with its key. */
const parts = (text: string, from: number): ReadonlyArray<Span & { readonly key: string }> => {
  const found: Array<Span & { readonly key: string }> = []
  const isObject = text.charAt(from) === "{"
  for (let at = next(text, from + 1); at < text.length && !/[\]}]/.test(text.charAt(at));) {
    const end = isObject ? afterString(text, at) : at
    const key = isObject ? String(JSON.parse(text.slice(at, end))) : ""
    // Of an object, a colon comes first.
    const value = isObject ? next(text, next(text, end) + 1) : at
    const to = after(text, value)
    found.push({ key, from: value, to })
    at = next(text, to)
    if (text.charAt(at) === ",") at = next(text, at + 1)
  }
  return found
}

/** The value at a path through objects, the last of each key as a parser has it. `text` is valid JSON. */
export const at = (text: string, path: ReadonlyArray<string>, from = 0): Span | undefined => {
  let span: Span = { from: next(text, from), to: text.length }
  for (const key of path) {
    const found = text.charAt(span.from) === "{" ? parts(text, span.from).findLast((one) => one.key === key) : undefined
    if (found === undefined) return undefined
    span = found
  }
  return span
}

/** The values of the list at a path; none if there is no list. */
export const list = (text: string, path: ReadonlyArray<string>): ReadonlyArray<Span> => {
  const span = at(text, path)
  return span === undefined || text.charAt(span.from) !== "[" ? [] : parts(text, span.from)
}
