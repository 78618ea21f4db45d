/**
 * A `Source` is the text of a TypeScript module as this project's checks read it: code told apart from comments and
 * from strings, and the names that go in and out.
 */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

export interface Source {
  /** From the root of the project, with forward slashes. */
  readonly path: string
  readonly text: string
  /** As long as `text` and with the same lines; what is inside comments, strings and regular expressions is blank. */
  readonly code: string
}

/** What may stand before a slash that opens a regular expression. After anything else it divides. */
const operand = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|delete|void|yield|await|else|do))\s*$/

const regex = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\//y
const string = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/y
const comment = /\/\/[^\n]*|\/\*[^]*?\*\//y
const template = /(?:\\[^]|\$(?!\{)|[^\\`$])*(?:`|\$\{)/y

const blank = (text: string): string => text.replaceAll(/[^\n]/g, " ")

/** The same text with the inside of comments, strings and regular expressions blank. */
export const code = (text: string): string => {
  let out = ""
  let at = 0
  // For each template whose `${` is open, the braces that are open inside it.
  const open: Array<number> = []
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }
  const pass = (found: string, margin: number): void => {
    const inner = Math.max(margin, found.length - margin)
    out += found.slice(0, margin) + blank(found.slice(margin, inner)) + found.slice(inner)
    at += found.length
  }
  /** The text of a template up to where it ends or a `${` opens. */
  const quasi = (): void => {
    const found = match(template) ?? text.slice(at)
    const end = found.endsWith("${") ? 2 : 1
    if (end === 2) open.push(0)
    out += blank(found.slice(0, -end)) + found.slice(-end)
    at += found.length
  }
  while (at < text.length) {
    const char = text.charAt(at)
    const last = open.length - 1
    const depth = open[last]
    const remark = char === "/" ? match(comment) : undefined
    if (remark !== undefined) {
      out += blank(remark)
      at += remark.length
      continue
    }
    const literal =
      char === '"' || char === "'"
        ? match(string)
        : char === "/" && operand.test(out.slice(-80))
          ? match(regex)
          : undefined
    if (literal !== undefined) {
      pass(literal, 1)
      continue
    }
    out += char
    at += 1
    if (char === "`") quasi()
    else if (depth !== undefined && char === "{") open[last] = depth + 1
    else if (depth !== undefined && char === "}") {
      if (depth > 0) open[last] = depth - 1
      else {
        open.pop()
        quasi()
      }
    }
  }
  return out
}

export const of = (path: string, text: string): Source => ({ path, text, code: code(text) })

const read = (path: string): Source => of(path, readFileSync(path, "utf8"))

/** Every TypeScript file in a folder and below, in order. */
export const within = (folder: string): ReadonlyArray<Source> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${folder}/${file.replaceAll("\\", "/")}`)
    .toSorted()
    .map(read)

export interface Import {
  readonly from: string
  /** Only types come in, so that nothing of the module runs. */
  readonly isType: boolean
}

const clause = /(?:\b(?:import|export)\s+(type\s)?[^"'();]*?\bfrom\s*|\bimport\s*\(?\s*)(["'])( *)\2/g

/** The modules a source names: imported, exported from, or loaded while it runs. */
export const imports = ({ code, text }: Source): ReadonlyArray<Import> =>
  Array.from(code.matchAll(clause), (found) => {
    const end = found.index + found[0].length - 1
    return { from: text.slice(end - (found[3] ?? "").length, end), isType: found[1] !== undefined }
  })

const declaration =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:const|let|var|function\*?|class|interface|type|enum|namespace)\s+([\w$]+)/gm
const list = /^export\s+(?:type\s+|const\s+)?\{([^}]*)\}/gm
const namespace = /^export\s+(?:type\s+)?\*\s+as\s+([\w$]+)/gm
const star = /^export\s+(?:type\s+)?\*\s+from\s*"( *)"/gm

/** The names a source exports, each once, in order of the alphabet. */
export const exports = (source: Source): ReadonlyArray<string> => {
  const names = new Set<string>()
  for (const [, name] of source.code.matchAll(declaration)) if (name !== undefined) names.add(name)
  for (const [, name] of source.code.matchAll(namespace)) if (name !== undefined) names.add(name)
  for (const [, items] of source.code.matchAll(list)) {
    for (const item of (items ?? "").split(",")) {
      // `a as b` and `a: b` are known outside as `b`.
      const name = item
        .trim()
        .split(/[\s:]+/)
        .at(-1)
      if (name !== undefined && name !== "") names.add(name)
    }
  }
  for (const found of source.code.matchAll(star)) {
    const end = found.index + found[0].length - 1
    const from = source.text.slice(end - (found[1] ?? "").length, end)
    for (const name of exports(read(join(dirname(source.path), from)))) names.add(name)
  }
  return Array.from(names).toSorted()
}

/** The comment that opens a module, without its stars. */
export const opening = ({ text }: Source): string | undefined =>
  /^\/\*\*([^]*?)\*\//
    .exec(text)?.[1]
    ?.replaceAll(/^ *\* ?/gm, "")
    .trim()
