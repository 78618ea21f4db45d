/**
 * An `Issues` list says where a value did not fit its schema: paths, what was expected, and what kind of thing was found.
 * It never shows the value, and it is bounded.
 *
 * @internal
 */
import type * as ParseResult from "effect/ParseResult"
import type * as SchemaAST from "effect/SchemaAST"
import * as Printable from "./Printable.ts"
import * as Problem from "./Problem.ts"

const most = 50

const expected = (ast: SchemaAST.AST): string => Printable.clip(Printable.line(String(ast)), 120)

const at = (path: ReadonlyArray<PropertyKey>): string =>
  path.length === 0 ? "the value" : `/${path.map((key) => Printable.clip(Printable.line(String(key)), 64)).join("/")}`

const walk = (issue: ParseResult.ParseIssue, path: ReadonlyArray<PropertyKey>, found: Array<string>): void => {
  if (found.length >= most) return
  switch (issue._tag) {
    case "Pointer": {
      const step = Array.isArray(issue.path) ? issue.path : [issue.path]
      return walk(issue.issue, [...path, ...step], found)
    }
    case "Composite": {
      const issues = Array.isArray(issue.issues) ? issue.issues : [issue.issues]
      for (const one of issues) walk(one, path, found)
      return
    }
    case "Refinement":
      if (issue.kind === "From") return walk(issue.issue, path, found)
      found.push(`${at(path)} must be ${expected(issue.ast)}; found ${Problem.kindOf(issue.actual)}`)
      return
    case "Transformation":
      return walk(issue.issue, path, found)
    case "Missing":
      found.push(`${at(path)} is missing`)
      return
    case "Unexpected":
      found.push(`${at(path)} is not expected`)
      return
    case "Type":
      found.push(`${at(path)} must be ${expected(issue.ast)}; found ${Problem.kindOf(issue.actual)}`)
      return
    case "Forbidden":
      found.push(`${at(path)} could not be read at once`)
      return
  }
}

/** One sentence part an issue, in the order of the value. */
export const list = (error: { readonly issue: ParseResult.ParseIssue }): ReadonlyArray<string> => {
  const found: Array<string> = []
  walk(error.issue, [], found)
  return found.length < most ? found : [...found.slice(0, 19), "and more"]
}
