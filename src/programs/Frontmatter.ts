/**
 * A `Frontmatter` is the YAML that opens a `SKILL.md` between two lines of `---`. Every scalar is taken as it is
 * written (`1.0` and `true` are texts), and nothing is taken that can stand for more than it is: no alias, no tag.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as YAML from "yaml"
import * as Printable from "../kernel/Printable.ts"
import type * as SkillError from "./SkillError.ts"

/** What a key can have: a text, a list or a map. */
export type Value = string | ReadonlyArray<Value> | { readonly [key: string]: Value }

export const isList = (value: Value): value is ReadonlyArray<Value> => Array.isArray(value)

/** A key of the frontmatter with its value. Lines and columns are those of the file. */
export interface Field {
  readonly key: string
  readonly value: Value
  readonly line: number
  readonly column: number
}

/** `bodyLine` is the line of the file on which the body begins. */
export interface Split {
  readonly yaml: string
  readonly body: string
  readonly bodyLine: number
}

/** In UTF-16 code units. */
const maxLength = 16_384

/** How many lists and maps may be open inside each other: the parser calls itself for each. */
const maxDepth = 32

const fence = /^---[ \t]*\r?$/

/** The two parts of a file. A byte order mark may open it; a line ends at LF or CR LF. */
export const split = (text: string): Either.Either<Split, SkillError.Fault> => {
  const from = text.startsWith("\ufeff") ? 1 : 0
  const endOf = (at: number): number => {
    const end = text.indexOf("\n", at)
    return end < 0 ? text.length : end
  }
  const opens = endOf(from)
  if (!fence.test(text.slice(from, opens))) {
    return Either.left({
      rule: "frontmatter-opens",
      line: 1,
      what: text.length === from ? "The file is empty." : "The first line is not `---`.",
      next: "Open the file with the frontmatter: a line `---`, its keys, and another line `---`."
    })
  }
  const start = Math.min(opens + 1, text.length)
  for (let line = 2, at = start; at < text.length; line += 1) {
    const end = endOf(at)
    if (at - start > maxLength) {
      return Either.left({
        rule: "frontmatter-size",
        line,
        what: `The frontmatter has more than ${maxLength} characters, or no line \`---\` closes it.`,
        next: "Close it with a line `---`, and move long texts to the body."
      })
    }
    if (fence.test(text.slice(at, end))) {
      return Either.right({ yaml: text.slice(start, at), body: text.slice(end + 1), bodyLine: line + 1 })
    }
    at = end + 1
  }
  return Either.left({
    rule: "frontmatter-closes",
    line: 1,
    what: "No line `---` closes the frontmatter.",
    next: "Add a line `---` between the frontmatter and the body."
  })
}

/** The offset at which lists and maps are too many inside each other, by the tokens alone. */
const tooDeep = (yaml: string): number | undefined => {
  let flow = 0
  let inLine = 0
  let offset = 0
  for (const token of new YAML.Lexer().lex(yaml)) {
    const type = YAML.CST.tokenType(token)
    if (type === "newline") inLine = 0
    if (type === "flow-map-start" || type === "flow-seq-start") flow += 1
    if (type === "flow-map-end" || type === "flow-seq-end") flow = Math.max(0, flow - 1)
    if (type === "seq-item-ind" || type === "explicit-key-ind" || (type === "map-value-ind" && flow === 0)) inLine += 1
    if (flow > maxDepth || inLine > maxDepth) return offset
    // Marks of the lexer stand for no text.
    if (!/^[\u0002\u0018\u001f]$/.test(token)) offset += token.length
  }
  return undefined
}

const said: { readonly [C in YAML.ErrorCode]?: readonly [what: string, next: string] } = {
  BLOCK_AS_IMPLICIT_KEY: ["A value holds a colon and a space, which makes a key of it.", "Put the value in quotes."],
  BAD_INDENT: ["A line is not indented as the ones it belongs to.", "Indent it like them, or close what is open."],
  TAB_AS_INDENT: ["A line is indented with a tab.", "Indent with spaces."],
  BAD_SCALAR_START: ["A value begins with a character that YAML reserves.", "Put the value in quotes."],
  BAD_DQ_ESCAPE: ["A text in double quotes has an escape that YAML does not know.", "Use single quotes."],
  MULTIPLE_DOCS: ["The frontmatter has a second document.", "Leave one."]
}

const problemOf = ({ code }: YAML.YAMLError): Pick<SkillError.Fault, "rule" | "what" | "next"> => {
  if (code === "DUPLICATE_KEY") return { rule: "duplicate-key", what: "A key stands here again.", next: "Leave one." }
  const [what, next] = said[code] ?? ["The frontmatter is not YAML here.", "Correct it; quote texts that have marks."]
  return { rule: "yaml", what, next }
}

const reserved = new Set(["__proto__", "constructor", "prototype"])

/** The keys of a frontmatter in their order, and what is wrong with it as YAML. With faults there may be keys amiss. */
export const parse = (
  yaml: string
): { readonly fields: ReadonlyArray<Field>; readonly faults: ReadonlyArray<SkillError.Fault> } => {
  const lineCounter = new YAML.LineCounter()
  const faults: Array<SkillError.Fault> = []
  const at = (offset: number) => {
    const { col, line } = lineCounter.linePos(offset)
    // The line that opens the frontmatter comes first; a break that YAML sees nothing in has no column.
    return { line: line + 1, column: Math.max(1, col) }
  }
  const blame = (offset: number, fault: Pick<SkillError.Fault, "rule" | "what" | "next">): void =>
    void faults.push({ ...fault, ...at(offset) })

  const deep = tooDeep(yaml)
  if (deep !== undefined) {
    const line = yaml.slice(0, deep).split("\n").length + 1
    const what = `More than ${maxDepth} lists and maps are open inside each other.`
    return { fields: [], faults: [{ rule: "yaml-depth", line, what, next: "Flatten the frontmatter." }] }
  }
  const document = YAML.parseDocument(yaml, {
    schema: "failsafe",
    stringKeys: true,
    prettyErrors: false,
    logLevel: "silent",
    lineCounter
  })
  const wrong = document.errors.filter(({ code }) => code !== "DUPLICATE_KEY")
  // What is wrong first makes most of the rest wrong.
  for (const error of wrong.length > 0 ? wrong.slice(0, 1) : document.errors) blame(error.pos[0], problemOf(error))
  if (wrong.length > 0) return { fields: [], faults }

  const textOf = (text: string, offset: number): string => {
    if (text.includes("\u0000") || Printable.wellFormed(text) !== text) {
      const what = "A text holds U+0000 or half a surrogate pair."
      blame(offset, { rule: "text", what, next: "Leave that character out." })
    }
    return text
  }
  const untagged = ({ range, tag }: YAML.ParsedNode): void => {
    const next = "Leave the tag out, or quote the text."
    if (tag !== undefined) blame(range[0], { rule: "no-tag", what: "A value has a tag.", next })
  }
  const keyOf = (node: YAML.ParsedNode): string => {
    const key = valueOf(node)
    const name = typeof key === "string" ? key : ""
    if (reserved.has(name)) {
      blame(node.range[0], { rule: "reserved-key", what: `The key ${name} is reserved.`, next: "Use another key." })
    }
    return name
  }
  const valueOf = (node: YAML.ParsedNode | null): Value => {
    if (node === null) return ""
    const offset = node.range[0]
    if (YAML.isAlias(node)) {
      const next = "Write out what it stands for, or quote the text."
      blame(offset, { rule: "no-alias", what: "An alias stands for something else.", next })
      return ""
    }
    untagged(node)
    if (YAML.isMap(node)) {
      return Object.fromEntries(node.items.map((pair) => [keyOf(pair.key), valueOf(pair.value)]))
    }
    if (YAML.isSeq(node)) return node.items.map((item) => (YAML.isPair(item) ? "" : valueOf(item)))
    return textOf(typeof node.value === "string" ? node.value : "", offset)
  }
  const { contents } = document
  if (contents !== null && !YAML.isMap(contents)) {
    const next = "Write one key on each line, as `name: …`."
    blame(contents.range[0], { rule: "mapping", what: "The frontmatter has no keys.", next })
    return { fields: [], faults }
  }
  if (contents !== null) untagged(contents)
  const fields = (contents?.items ?? []).map((pair) => ({
    key: keyOf(pair.key),
    value: valueOf(pair.value),
    ...at(pair.key.range[0])
  }))
  return { fields, faults }
}
