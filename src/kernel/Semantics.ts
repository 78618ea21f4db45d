/**
 * `Semantics` are what a result says of entities: which column of its rows names the entity, or which measure of which
 * entity its points are. A tool declares them, nobody guesses. They are what the claims of an answer are compared with.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Claim from "./Claim.ts"
import type * as ClaimCheck from "./ClaimCheck.ts"
import * as Json from "./Json.ts"

const id = Schema.NonEmptyString
const row = Schema.Record({ key: Schema.String, value: Schema.Unknown })

/** Rows of facts. `entity` is the column that names what a row is about; every other column is a field of it. */
export const Facts = Schema.Struct({
  wherefore_facts: Schema.Struct({ entity: id }),
  rows: Schema.Array(row)
}).pipe(
  Schema.filter(({ rows, wherefore_facts: { entity } }) =>
    rows.flatMap((one, index) =>
      nameOf(one[entity]) === undefined
        ? [{ path: ["rows", index, entity], message: "The column of the entity must hold a text or a number." }]
        : []
    )
  )
)
export type Facts = typeof Facts.Type

/** Points of one measure of one entity. `at` is in milliseconds since the epoch. */
export const Series = Schema.Struct({
  wherefore_series: Schema.Struct({ entity: id, metric: id }),
  points: Schema.Array(Schema.Struct({ at: Schema.Finite, value: Schema.Unknown }))
})
export type Series = typeof Series.Type

/** A result of rows, for a tool whose success is `Facts`. */
export const facts = (rows: Facts["rows"], { entity }: Facts["wherefore_facts"]): Facts => ({
  wherefore_facts: { entity },
  rows
})

/** A result of points, for a tool whose success is `Series`. */
export const series = (points: Series["points"], { entity, metric }: Series["wherefore_series"]): Series => ({
  wherefore_series: { entity, metric },
  points
})

/** What a result has settled of a field of an entity. `measuredAt` is in milliseconds since the epoch. */
export type Settled = Pick<ClaimCheck.ClaimLedgerRow, "entity" | "field" | "value" | "measuredAt">

const nameOf = (value: unknown): string | undefined => {
  const name = typeof value === "number" ? String(value) : value
  return typeof name === "string" && name.trim() !== "" ? name : undefined
}

const isFacts = Schema.is(Facts)
const isSeries = Schema.is(Series)

/** What a result says of itself, in its order. Whatever is neither facts nor a series is data, and says nothing. */
export const read = (result: unknown): ReadonlyArray<Settled> => {
  if (isSeries(result)) {
    const { entity, metric: field } = result.wherefore_series
    return result.points.map(({ at, value }) => ({ entity, field, value, measuredAt: at }))
  }
  if (!isFacts(result)) return []
  const column = result.wherefore_facts.entity
  return result.rows.flatMap((one) => {
    const entity = nameOf(one[column]) ?? ""
    return Object.entries(one).flatMap(([field, value]) => (field === column ? [] : [{ entity, field, value }]))
  })
}

/** How many rows of a result are recorded, and of how many characters a value may be. */
const most = { rows: 1_000, chars: 4_096 } as const

const kept = (settled: Settled): Settled => {
  const canonical = Json.canonical(settled.value)
  if (Either.isRight(canonical) && canonical.right.length <= most.chars) return settled
  const reason = Either.isRight(canonical) ? "it is too long for the record" : "it is no JSON"
  return { ...settled, value: Claim.unknown(reason) }
}

/** What of a result is recorded: what is claimed, the newest of it if it is too much. */
export const claimed = (
  settled: ReadonlyArray<Settled>,
  claims: ReadonlyArray<ClaimCheck.DeclaredClaim>
): ReadonlyArray<Settled> => {
  const names = new Set(claims.map(({ entity, field }) => JSON.stringify([entity, field])))
  return settled
    .filter(({ entity, field }) => names.has(JSON.stringify([entity, field])))
    .slice(-most.rows)
    .map(kept)
}
