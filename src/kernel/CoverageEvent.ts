/**
 * A `CoverageEvent` is what the result of a call declared of where it looked.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type * as Coverage from "./Coverage.ts"
import * as Printable from "./Printable.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

/** Something that was, was not, or cannot be looked at, and why. */
export const Entry = Schema.Struct({ what: Schema.String, why: optional(Schema.String) })
export type Entry = typeof Entry.Type

const entries = optional(Schema.Array(Entry))
const common = {
  iteration: Schema.Positive.pipe(Schema.int()),
  toolCallId: Schema.NonEmptyString,
  toolName: Schema.String,
  checked: entries,
  notChecked: entries,
  cannotCover: entries,
  more: optional(Schema.Positive.pipe(Schema.int()))
}

/** The tool looked for something and found nothing. An empty list is absent; `more` counts the entries that were too many. */
export const AbsenceDeclared = Schema.TaggedStruct("AbsenceDeclared", {
  ...common,
  lookedFor: optional(Schema.String),
  tryInstead: optional(Schema.String)
})
export type AbsenceDeclared = typeof AbsenceDeclared.Type

/** The tool found something, and said what of it was looked at. */
export const CoverageDeclared = Schema.TaggedStruct("CoverageDeclared", common)
export type CoverageDeclared = typeof CoverageDeclared.Type

export const CoverageEvent = Schema.Union(AbsenceDeclared, CoverageDeclared)
export type CoverageEvent = typeof CoverageEvent.Type

/** Of each list this many entries are recorded, and of each text this many characters, so that an event has a bound. */
const most = { entries: 200, chars: 1_000 } as const

const clip = (text: string): string => Printable.clip(Printable.wellFormed(text), most.chars)

const recorded = (list: ReadonlyArray<Entry>): ReadonlyArray<Entry> =>
  list.slice(0, most.entries).map(({ what, why }) => ({
    what: clip(what),
    ...(why === undefined ? {} : { why: clip(why) })
  }))

/** A declaration as the record holds it. */
export const of = (
  { iteration, toolCallId, toolName }: Pick<Coverage.DeclaredCoverage, "iteration" | "toolCallId" | "toolName">,
  { cannotCover, checked, kind, lookedFor, notChecked, tryInstead }: Coverage.Declared
): CoverageEvent => {
  const more = [checked, notChecked, cannotCover].reduce(
    (sum, list) => sum + Math.max(0, list.length - most.entries),
    0
  )
  const common = {
    iteration,
    toolCallId,
    toolName,
    ...(checked.length === 0 ? {} : { checked: recorded(checked) }),
    ...(notChecked.length === 0 ? {} : { notChecked: recorded(notChecked) }),
    ...(cannotCover.length === 0 ? {} : { cannotCover: recorded(cannotCover) }),
    ...(more === 0 ? {} : { more })
  }
  return kind === "ledger"
    ? { _tag: "CoverageDeclared", ...common }
    : {
        _tag: "AbsenceDeclared",
        ...common,
        ...(lookedFor === undefined ? {} : { lookedFor: clip(lookedFor) }),
        ...(tryInstead === undefined ? {} : { tryInstead: clip(tryInstead) })
      }
}

/** What an event of the record declares. */
export const read = ({
  _tag,
  cannotCover = [],
  checked = [],
  more: _,
  notChecked = [],
  ...rest
}: CoverageEvent): Coverage.DeclaredCoverage => ({
  ...rest,
  checked,
  notChecked,
  cannotCover,
  kind: _tag === "AbsenceDeclared" ? "absence" : "ledger"
})
