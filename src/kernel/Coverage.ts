/**
 * A `Coverage` is what a tool looked at to make its result, what it did not look at, and what it cannot: declared by the
 * tool, never guessed. A tool that looked and found nothing returns an absence, which is a result and no error.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as CoverageError from "./CoverageError.ts"
import * as CoverageEvent from "./CoverageEvent.ts"
import * as Printable from "./Printable.ts"
import * as SafeId from "./SafeId.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

export { Entry } from "./CoverageEvent.ts"

const entries = Schema.Array(CoverageEvent.Entry)

export const Coverage = Schema.Struct({ checked: entries, notChecked: entries, cannotCover: entries })
export type Coverage = typeof Coverage.Type

/** What a result declared. An `absence` found nothing of what it `lookedFor`; a `ledger` came beside what was found. */
export const Declared = Schema.Struct({
  ...Coverage.fields,
  kind: Schema.Literal("absence", "ledger"),
  lookedFor: optional(Schema.String),
  tryInstead: optional(Schema.String)
})
export type Declared = typeof Declared.Type

/** What a call's result declared. */
export const DeclaredCoverage = Schema.Struct({
  ...Declared.fields,
  toolName: Schema.String,
  toolCallId: Schema.NonEmptyString,
  iteration: Schema.Positive.pipe(Schema.int())
})
export type DeclaredCoverage = typeof DeclaredCoverage.Type

/** How an author writes an entry. Texts are not blank; what cannot be covered needs its `why`. */
export type Written = string | CoverageEvent.Entry
export type WrittenWithWhy = Required<CoverageEvent.Entry>

export interface Lists {
  readonly checked?: ReadonlyArray<Written>
  readonly notChecked?: ReadonlyArray<Written>
  readonly cannotCover?: ReadonlyArray<WrittenWithWhy>
}

/** `what` was looked for in all that is `checked`, of which there is something. */
export interface Absent extends Lists {
  readonly what: string
  readonly checked: readonly [Written, ...Array<Written>]
  readonly tryInstead?: string
}

const entry = Schema.Union(Schema.String, CoverageEvent.Entry)
const lists = { not_checked: optional(Schema.Array(entry)), cannot_cover: optional(Schema.Array(entry)) }

/** The result of a tool that found nothing, for the schema of its success. */
export const Absence = Schema.Struct({
  wherefore_absent: Schema.Literal(true),
  outcome: Schema.Literal("absent"),
  looked_for: Schema.String,
  checked: Schema.Array(entry).pipe(Schema.minItems(1)),
  ...lists,
  retry_returns_the_same: Schema.Literal(true),
  try_instead: optional(Schema.String),
  note: Schema.String
})
export type Absence = typeof Absence.Type

const Boundary = Schema.Struct({ checked: optional(Schema.Array(entry)), ...lists, note: Schema.String })

/** A result with its boundary, for the schema of a tool's success. */
export const Covered = <A, I, R>(result: Schema.Schema<A, I, R>) =>
  Schema.Struct({ wherefore_coverage: Boundary, result })
export interface Covered<A> {
  readonly wherefore_coverage: typeof Boundary.Type
  readonly result: A
}

/** What every absence says. Nothing of a declaration stands in it. */
export const absenceNote =
  "The tool ran and found nothing in what it checked. That is its result and no error: the same call returns the same. " +
  "What it did not check, or cannot cover, may hold what was looked for."

/** What every boundary says. */
export const coverageNote =
  "The result speaks of what was checked. Of what was not checked, or cannot be covered, it says neither yes nor no."

const listNames = ["checked", "notChecked", "cannotCover"] as const
type Name = (typeof listNames)[number]

const onWire = { checked: "checked", notChecked: "not_checked", cannotCover: "cannot_cover" } as const

type Fields = { readonly [key: PropertyKey]: unknown }

/** What can be looked at without running code of the value's own. A proxy can fail when it is looked at. */
const dataOf = (value: unknown): { readonly isList: boolean; readonly members: Fields } | undefined =>
  Either.getOrUndefined(
    Either.try(() => {
      if (typeof value !== "object" || value === null) return undefined
      const isList = Array.isArray(value)
      const prototype: unknown = Object.getPrototypeOf(value)
      if (!isList && prototype !== Object.prototype && prototype !== null) return undefined
      const own = Object.entries(Object.getOwnPropertyDescriptors(value)).filter(([, { enumerable }]) => enumerable)
      const members = own.map(([key, property]): readonly [string, unknown] => [key, property.value])
      return { isList, members: Object.fromEntries(members) }
    })
  )

const objectOf = (value: unknown): Fields | undefined => {
  const data = dataOf(value)
  return data?.isList === false ? data.members : undefined
}

const itemsOf = (value: unknown): ReadonlyArray<unknown> | undefined => {
  const data = dataOf(value)
  return data?.isList === true ? Object.values(data.members) : undefined
}

const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== ""

type Fault = CoverageError.CoverageProblem

const fault = (kind: CoverageError.Kind, where: string, what: string, next: string): Fault => ({
  kind,
  where,
  what,
  next
})

const entryNext = "Write a text that is not blank, or an object with `what` and `why`."

/** An entry as it is written, or what is wrong with it. */
const entryOf = (value: unknown, where: string, needsWhy: boolean): Either.Either<CoverageEvent.Entry, Fault> => {
  const { what, why } = objectOf(value) ?? { what: value, why: undefined }
  if (typeof what !== "string") {
    return Either.left(fault("NotAnEntry", where, "The entry is neither a text nor an object with `what`.", entryNext))
  }
  if (!isText(what)) return Either.left(fault("BlankEntry", where, "The entry is blank.", entryNext))
  if (why !== undefined && !isText(why)) {
    return Either.left(fault("BlankWhy", `${where}/why`, "The `why` is blank or no text.", "Say why, or leave it out."))
  }
  if (why === undefined && needsWhy) {
    return Either.left(
      fault("WhyMissing", where, "The entry has no `why`.", "Say in `why` what keeps it from being covered.")
    )
  }
  return Either.right({ what, ...(why === undefined ? {} : { why }) })
}

interface Read {
  readonly found: Coverage
  readonly faults: ReadonlyArray<Fault>
}

/** The three lists, whatever they are called here; what is wrong with them is left out and told. */
const listsOf = (fields: Fields, nameOf: (name: Name) => string): Read => {
  const faults: Array<Fault> = []
  const read = (name: Name): ReadonlyArray<CoverageEvent.Entry> => {
    const value = fields[nameOf(name)]
    if (value === undefined) return []
    const items = itemsOf(value)
    if (items === undefined) {
      faults.push(fault("NotAList", `/${name}`, `\`${name}\` is no list.`, "Give a list, or leave it out."))
      return []
    }
    return items.flatMap((item, index) => {
      const own = entryOf(item, `/${name}/${index}`, name === "cannotCover")
      if (Either.isRight(own)) return [own.right]
      faults.push(own.left)
      return []
    })
  }
  return {
    found: { checked: read("checked"), notChecked: read("notChecked"), cannotCover: read("cannotCover") },
    faults
  }
}

const isEmpty = (coverage: Coverage): boolean => listNames.every((name) => coverage[name].length === 0)

/** The fields of a declaration that may be there, and what is wrong with the rest. */
const declared = (
  declaration: unknown,
  others: ReadonlyArray<string>,
  more: (fields: Fields, found: Coverage) => ReadonlyArray<Fault>
): Either.Either<Coverage, CoverageError.CoverageError> => {
  const fields = objectOf(declaration)
  if (fields === undefined) {
    const what = "The declaration is no plain object."
    return Either.left(CoverageError.make([fault("NotADeclaration", "", what, "Give an object with `checked`.")]))
  }
  const known: ReadonlyArray<string> = [...listNames, ...others]
  const unknown = Object.keys(fields)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const what = `There is no field ${SafeId.print(key)}.`
      return fault(
        "UnknownField",
        `/${Printable.clip(Printable.line(key), 64)}`,
        what,
        `The fields are: ${known.join(", ")}.`
      )
    })
  const { faults, found } = listsOf(fields, (name) => name)
  const [first, ...rest] = [...unknown, ...faults, ...more(fields, found)]
  return first === undefined ? Either.right(found) : Either.left(CoverageError.make([first, ...rest]))
}

type OnWire = string | CoverageEvent.Entry

/** An entry without a `why` is its text. */
const spell = (one: CoverageEvent.Entry): OnWire =>
  one.why === undefined ? one.what : { what: one.what, why: one.why }

const spellRest = ({ cannotCover, notChecked }: Coverage) => ({
  ...(notChecked.length === 0 ? {} : { not_checked: notChecked.map(spell) }),
  ...(cannotCover.length === 0 ? {} : { cannot_cover: cannotCover.map(spell) })
})

/** The result of a tool that looked for something and found nothing. */
export const absent = (declaration: Absent): Either.Either<Absence, CoverageError.CoverageError> =>
  Either.map(
    declared(declaration, ["what", "tryInstead"], ({ checked, tryInstead, what }, found) => [
      ...(isText(what) ? [] : [fault("BlankText", "/what", "`what` is blank or no text.", "Say what was looked for.")]),
      ...(tryInstead === undefined || isText(tryInstead)
        ? []
        : [
            fault("BlankText", "/tryInstead", "`tryInstead` is blank or no text.", "Say what to try, or leave it out.")
          ]),
      ...(found.checked.length === 0 && (checked === undefined || itemsOf(checked)?.length === 0)
        ? [
            fault(
              "NothingChecked",
              "/checked",
              "Nothing is said to be checked.",
              "Name what was looked at in `checked`."
            )
          ]
        : [])
    ]),
    (found): Absence => ({
      wherefore_absent: true,
      outcome: "absent",
      looked_for: declaration.what,
      checked: found.checked.map(spell),
      ...spellRest(found),
      retry_returns_the_same: true,
      ...(declaration.tryInstead === undefined ? {} : { try_instead: declaration.tryInstead }),
      note: absenceNote
    })
  )

/** A result with its boundary, which stands before it. At least one of the lists has an entry. */
export const coverage = <A>(result: A, declaration: Lists): Either.Either<Covered<A>, CoverageError.CoverageError> =>
  Either.map(
    declared(declaration, [], (fields, found) =>
      isEmpty(found) && listNames.every((name) => fields[name] === undefined || itemsOf(fields[name])?.length === 0)
        ? [
            fault(
              "NothingDeclared",
              "",
              "All three lists are empty.",
              "Name something in one of them, or return the result."
            )
          ]
        : []
    ),
    (found) => ({
      wherefore_coverage: {
        ...(found.checked.length === 0 ? {} : { checked: found.checked.map(spell) }),
        ...spellRest(found),
        note: coverageNote
      },
      result
    })
  )

/**
 * What a result says of itself. `declared` are its declarations, the outermost first, `grounds` the values that it is
 * evidence of: of an absence its lists alone. `outcome` is absent where that of the call is unchanged; it does not
 * replace a failure.
 */
export interface Reading {
  readonly outcome?: "absent"
  readonly declared: ReadonlyArray<Declared>
  readonly grounds: ReadonlyArray<unknown>
}

const depth = 16

/**
 * Recognises what `absent` and `coverage` make: an object whose `wherefore_absent` is `true` and whose `checked` has an
 * entry, or one with lists under `wherefore_coverage` beside a `result`. Whatever else is data, and declares nothing.
 */
export const read = (value: unknown): Reading => {
  const found: Array<Declared> = []
  const grounds: Array<unknown> = []
  let at = value
  for (let level = 0; level < depth; level++) {
    const fields = objectOf(at)
    if (fields === undefined) break
    if (fields["wherefore_absent"] === true) {
      const own = listsOf(fields, (name) => onWire[name]).found
      if (own.checked.length === 0) break
      const { looked_for: lookedFor, try_instead: tryInstead } = fields
      found.push({
        ...own,
        kind: "absence",
        ...(isText(lookedFor) ? { lookedFor } : {}),
        ...(isText(tryInstead) ? { tryInstead } : {})
      })
      return { outcome: "absent", declared: found, grounds: [...grounds, own] }
    }
    const boundary = objectOf(fields["wherefore_coverage"])
    if (boundary === undefined || !("result" in fields)) break
    const own = listsOf(boundary, (name) => onWire[name]).found
    if (isEmpty(own)) break
    const { result, wherefore_coverage: _, ...beside } = fields
    found.push({ ...own, kind: "ledger" })
    grounds.push(own, ...(Object.keys(beside).length === 0 ? [] : [beside]))
    at = result
  }
  return { declared: found, grounds: [...grounds, at] }
}

const same = (one: CoverageEvent.Entry): string => JSON.stringify([one.what, one.why])

const distinct = (all: ReadonlyArray<CoverageEvent.Entry>): ReadonlyArray<CoverageEvent.Entry> =>
  Array.from(new Map(all.map((one): readonly [string, CoverageEvent.Entry] => [same(one), one])).values())

/** All that was declared, in its order, each entry once. */
export const merge = (all: ReadonlyArray<Coverage>): Coverage => ({
  checked: distinct(all.flatMap(({ checked }) => checked)),
  notChecked: distinct(all.flatMap(({ notChecked }) => notChecked)),
  cannotCover: distinct(all.flatMap(({ cannotCover }) => cannotCover))
})

const titles = { checked: "Checked", notChecked: "Not checked", cannotCover: "Cannot cover" } as const
const shown = 12
const longest = 240

const print = (text: string): string => Printable.clip(Printable.line(text), longest)

/** What the run's results declared, for a person to read: of each section the first 12. */
export const block = (all: ReadonlyArray<Coverage>): string => {
  const merged = merge(all)
  return listNames
    .flatMap((name) => {
      const list = merged[name]
      if (list.length === 0) return []
      const lines = list
        .slice(0, shown)
        .map(({ what, why }) => `- ${print(what)}${why === undefined ? "" : ` (${print(why)})`}`)
      const more = list.length > shown ? [`- ${list.length - shown} more`] : []
      return [[`${titles[name]}:`, ...lines, ...more].join("\n")]
    })
    .join("\n\n")
}

/** The answer with the block after it; the answer as it is if nothing was declared. */
export const compose = (answer: string, all: ReadonlyArray<Coverage>): string => {
  const text = block(all)
  return text === "" ? answer : `${answer}\n\n${text}`
}
