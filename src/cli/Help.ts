/**
 * A `Help` is what the command says of itself, in lines of at most 80 columns.
 */
import * as ScreenLine from "../programs/ScreenLine.ts"
import * as Verb from "./Verb.ts"

const title = (text: string): ScreenLine.Line => [ScreenLine.span(text, "strong")]

const table = (rows: ReadonlyArray<readonly [string, string]>): ReadonlyArray<ScreenLine.Line> => {
  const cells = rows.reduce((widest, [left]) => Math.max(widest, ScreenLine.width(left)), 0)
  return rows.map(([left, right]) => ScreenLine.plain(`  ${ScreenLine.pad(left, cells)}  ${right}`))
}

const optionRows = (options: ReadonlyArray<Verb.Option>) =>
  options.map(({ name, value, what }) => [`--${name}${value === undefined ? "" : ` ${value}`}`, what] as const)

const examples = (lines: ReadonlyArray<string>): ReadonlyArray<ScreenLine.Line> =>
  lines.length === 0 ? [] : [[], title("Examples"), ...lines.map((line) => ScreenLine.plain(`  ${line}`))]

export const ofVerb = (verb: Verb.Verb): ReadonlyArray<ScreenLine.Line> => [
  ScreenLine.plain(`wherefore ${verb.name} ${verb.takes}`),
  [],
  ScreenLine.plain(`  ${verb.what}`),
  ...(verb.details.length === 0
    ? []
    : [[], ...verb.details.flatMap((text) => ScreenLine.paragraph(text, 78, Infinity)).map(ScreenLine.plain)]),
  [],
  title("Options"),
  ...table(optionRows([...verb.options, ...Verb.common])),
  ...examples(verb.examples)
]

export const overview: ReadonlyArray<ScreenLine.Line> = [
  ScreenLine.plain("wherefore VERB: an answer, and the exact context that caused it"),
  [],
  ...table(Verb.verbs.map(({ name, takes, what }) => [`${name} ${takes.replace(/ \[--.*/, " …")}`, what])),
  [],
  title("Options of every verb"),
  ...table([...optionRows(Verb.common), ["--version", "the version, without a verb"]]),
  [],
  title("Exit codes"),
  ...table([
    ["0", "yes, done"],
    ["1", "the answer is no: not supported, changed, stopped without an answer"],
    ["2", "it was asked for in a way that cannot be"],
    ["3", "something could not be read"],
    ["4", "a record is damaged"],
    ["5", "a decision was refused, and nothing was done"],
    ["6", "a budget was used up before there was an answer"],
    ["7", "the model's provider failed"],
    ["8", "nobody knows whether something was done: it waits for a person"],
    ["130", "interrupted"]
  ]),
  [],
  title("Databases"),
  ScreenLine.plain("  --dir postgres://HOST/NAME, or --dir sqlite:FILE, in place of a directory."),
  ScreenLine.plain("  Other processes see a command: give a password in PGPASSWORD."),
  ...examples(["wherefore run hello.ts", "wherefore why @", "wherefore help why"])
]

/** The same for a program. */
export const toJson = (verb: Verb.Verb | undefined): ReadonlyArray<unknown> => [
  { format: "wherefore.help/1" },
  ...(verb === undefined ? Verb.verbs : [verb]).map(({ examples, name, options, takes, what }) => ({
    verb: name,
    takes,
    what,
    options: [...options, ...Verb.common],
    examples
  }))
]
