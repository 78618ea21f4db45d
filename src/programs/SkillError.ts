/**
 * A `SkillError` says why skills could not be read from their folders: which file, which line, which rule.
 *
 * @internal
 */
import type * as Arr from "effect/Array"
import * as Schema from "effect/Schema"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"
import * as SafeId from "../kernel/SafeId.ts"

export const Rule = Schema.Literal(
  "folder-exists",
  "has-skills",
  "search-limit",
  "file-name",
  "path",
  "inside-folder",
  "file-exists",
  "file-kind",
  "file-size",
  "readable",
  "utf-8",
  "text",
  "frontmatter-opens",
  "frontmatter-closes",
  "frontmatter-size",
  "yaml",
  "yaml-depth",
  "duplicate-key",
  "reserved-key",
  "unknown-key",
  "no-alias",
  "no-tag",
  "mapping",
  "name",
  "name-is-folder",
  "name-unique",
  "description",
  "license",
  "compatibility",
  "metadata",
  "allowed-tools"
)
export type Rule = typeof Rule.Type

const position = Schema.optionalWith(Schema.Positive.pipe(Schema.int()), { exact: true })

/** One fault. `line` and `column` count from 1 and are absent where the fault is in no line, as of a missing folder. */
export const SkillProblem = Schema.Struct({
  file: Schema.String,
  line: position,
  column: position,
  rule: Rule,
  what: Schema.String,
  next: Schema.String
})
export type SkillProblem = typeof SkillProblem.Type

/** A fault in a file that whoever asked knows. */
export type Fault = Omit<SkillProblem, "file">

/** Where a fault is, as editors write it. */
const place = ({ column, file, line }: SkillProblem): string =>
  `${file}${line === undefined ? "" : `:${line}${column === undefined ? "" : `:${column}`}`}`

const shown = 50

/** Nothing was loaded. `problems` has every fault of every file, in the order of the files. */
export class SkillError extends Schema.TaggedError<SkillError>()("SkillError", {
  ...Problem.fields,
  problems: Schema.NonEmptyArray(SkillProblem)
}) {
  override get message(): string {
    const rest = this.problems.length - shown
    return [
      Problem.render(this),
      ...this.problems
        .slice(0, shown)
        .map((problem) => Printable.line(`${place(problem)}: ${problem.what} (${problem.rule})`)),
      ...(rest > 0 ? [`and ${rest} more`] : [])
    ].join("\n")
  }
}

const failure = (code: string, what: string, problems: Arr.NonEmptyReadonlyArray<SkillProblem>): SkillError =>
  new SkillError({
    code,
    what,
    where: place(problems[0]),
    next: problems[0].next,
    outcome: "not-applied",
    retry: "after-human",
    problems: [...problems]
  })

const count = (n: number): string => `${n} ${n === 1 ? "fault" : "faults"}`

/** The skills of a folder cannot be loaded. */
export const malformed = (problems: Arr.NonEmptyReadonlyArray<SkillProblem>): SkillError =>
  failure(
    "WF-SKF-001",
    `The skills cannot be loaded: there ${problems.length === 1 ? "is" : "are"} ${count(problems.length)}.`,
    problems
  )

/** A file of a skill that was loaded cannot be read. */
export const unread = (skill: string, problem: SkillProblem): SkillError =>
  failure("WF-SKF-002", `A file of the skill ${SafeId.print(skill)} was not read.`, [problem])

/** The body of a skill links to what cannot be read. */
export const unlinked = (problems: Arr.NonEmptyReadonlyArray<SkillProblem>): SkillError =>
  failure("WF-SKF-003", `The links of the skill have ${count(problems.length)}.`, problems)
