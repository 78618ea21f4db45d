/**
 * `Arguments` are the words after the command's name, read against the table of verbs.
 */
import { parseArgs } from "node:util"
import * as Printable from "../kernel/Printable.ts"
import * as Complaint from "./Complaint.ts"
import * as Verb from "./Verb.ts"

export interface Arguments {
  readonly verb: Verb.Name
  readonly positionals: ReadonlyArray<string>
  /** Options that were given, by name; a switch is the empty string. */
  readonly options: ReadonlyMap<string, string>
  /** What follows `--`, for the program that `run` or `resume` runs. */
  readonly rest: ReadonlyArray<string>
}

/** What was asked for before any verb runs. `json` and `debug` are known also if the rest could not be read. */
export interface Asked {
  readonly json: boolean
  readonly debug: boolean
  readonly wants:
    | { readonly _tag: "Version" }
    | { readonly _tag: "Help"; readonly verb?: Verb.Name }
    | { readonly _tag: "Run"; readonly arguments: Arguments }
    | { readonly _tag: "Wrong"; readonly complaint: Complaint.Complaint; readonly verb?: Verb.Name }
}

const known = new Map<string, Verb.Option>(
  [...Verb.common, ...Verb.verbs.flatMap(({ options }) => options)].map((option) => [option.name, option])
)

const shapes = Object.fromEntries(
  Array.from(known.values(), ({ name, value }) => [
    name,
    { type: value === undefined ? ("boolean" as const) : ("string" as const) }
  ])
)

const shown = (word: string): string => Printable.quote(word, 48)

const helpOf = (verb: string): string => `See: wherefore ${verb} --help`

interface Token {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
  readonly inline: boolean
}

/** What is wrong with an option of a verb. */
const review = (verb: Verb.Verb, { inline, name, rawName, value }: Token): Complaint.Complaint | undefined => {
  const options = [...verb.options, ...Verb.common]
  const option = options.find((one) => one.name === name && rawName.startsWith("--"))
  if (option === undefined) {
    const near = Verb.nearest(
      name,
      options.map((one) => one.name)
    )
    const hint = near === undefined ? helpOf(verb.name) : `Did you mean --${near}?`
    return Complaint.usage(`"${verb.name}" has no option ${shown(rawName)}.`, hint)
  }
  if (option.value === undefined) {
    return value === undefined ? undefined : Complaint.usage(`--${name} takes no value.`, `Write --${name} alone.`)
  }
  if (value === undefined || value === "" || (!inline && value.startsWith("--"))) {
    return Complaint.usage(`--${name} needs a value.`, `Write --${name} ${option.value}, or --${name}=${option.value}.`)
  }
  return undefined
}

const unknownVerb = (word: string): Complaint.Complaint => {
  const near = Verb.nearest(
    word,
    Verb.verbs.map(({ name }) => name)
  )
  const hint = near === undefined ? "See: wherefore help" : `Did you mean "${near}"?`
  return Complaint.usage(`There is no command ${shown(word)}.`, hint)
}

const miscounted = (verb: Verb.Verb, positionals: ReadonlyArray<string>): Complaint.Complaint | undefined => {
  const usage = `Write: wherefore ${verb.name} ${verb.takes}`.trimEnd()
  if (positionals.length < verb.least)
    return Complaint.usage(`"${verb.name}" needs ${verb.takes.split(" ")[0]}.`, usage)
  const extra = positionals[verb.most]
  return extra === undefined ? undefined : Complaint.usage(`"${verb.name}" has no use for ${shown(extra)}.`, usage)
}

export const parse = (words: ReadonlyArray<string>): Asked => {
  const end = words.indexOf("--")
  const own = end === -1 ? words : words.slice(0, end)
  const rest = end === -1 ? [] : words.slice(end + 1)
  const { tokens } = parseArgs({ args: [...own], options: shapes, allowPositionals: true, strict: false, tokens: true })
  const positionals = tokens.flatMap((token) => (token.kind === "positional" ? [token.value] : []))
  const options = tokens.flatMap((token): ReadonlyArray<Token> =>
    token.kind === "option"
      ? [
          {
            name: token.name === "h" ? "help" : token.name,
            rawName: token.rawName.replace(/^-h$/, "--help"),
            value: token.value,
            inline: token.inlineValue === true
          }
        ]
      : []
  )
  const has = (name: string) => options.some((option) => option.name === name && option.rawName === `--${name}`)
  const base = { json: has("json"), debug: has("debug") }
  const wrong = (complaint: Complaint.Complaint, verb?: Verb.Name): Asked => ({
    ...base,
    wants: { _tag: "Wrong", complaint, ...(verb === undefined ? {} : { verb }) }
  })

  const [word, ...others] = positionals
  if (word === undefined) {
    if (has("version")) return { ...base, wants: { _tag: "Version" } }
    const strange = options.find(({ name, rawName }) => rawName !== `--${name}` || !known.has(name))
    if (strange !== undefined) {
      return wrong(Complaint.usage(`There is no option ${shown(strange.rawName)}.`, "See: wherefore help"))
    }
    return { ...base, wants: { _tag: "Help" } }
  }
  const verb = Verb.find(word)
  if (verb === undefined) return wrong(unknownVerb(word))
  if (has("help")) return { ...base, wants: { _tag: "Help", verb: verb.name } }
  for (const option of options) {
    const complaint = review(verb, option)
    if (complaint !== undefined) return wrong(complaint, verb.name)
  }
  if (verb.name === "help") {
    const [about] = others
    if (about === undefined) return { ...base, wants: { _tag: "Help" } }
    const found = Verb.find(about)
    return found === undefined
      ? wrong(unknownVerb(about), verb.name)
      : { ...base, wants: { _tag: "Help", verb: found.name } }
  }
  const complaint = miscounted(verb, others)
  if (complaint !== undefined) return wrong(complaint, verb.name)
  if (rest.length > 0 && verb.name !== "run" && verb.name !== "resume") {
    return wrong(Complaint.usage(`"${verb.name}" has no use for what follows --.`, helpOf(verb.name)), verb.name)
  }
  return {
    ...base,
    wants: {
      _tag: "Run",
      arguments: {
        verb: verb.name,
        positionals: others,
        options: new Map(options.map(({ name, value }) => [name, value ?? ""])),
        rest
      }
    }
  }
}
