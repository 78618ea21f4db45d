/**
 * `Prices` are what models cost, given as data: a currency, and for each model prices per million tokens as decimals. They
 * are the user's; none come with the package.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Issues from "./Issues.ts"
import * as Printable from "./Printable.ts"
import * as Problem from "./Problem.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/** An amount as text, exact: at most 12 digits before and after its point. */
export const Decimal = Schema.String.pipe(
  Schema.pattern(/^(?:0|[1-9]\d{0,11})(?:\.\d{1,12})?$/, {
    identifier: "a decimal of at most 12 digits before and after its point, such as 0.25"
  })
)

/** A price per million tokens. A number is taken as it is written; the text is exact. */
const Price = Schema.transform(Schema.Union(Schema.String, Schema.JsonNumber), Decimal, {
  strict: true,
  decode: String,
  encode: (text) => text
})

/**
 * What a model costs, by the counts of a `Usage`. `provider` is absent if it costs the same wherever it is. Reasoning
 * without a price of its own costs what other output does; a cache without one has none, and what it took stays unknown.
 */
export const Model = Schema.Struct({
  provider: optional(Schema.NonEmptyString),
  model: Schema.NonEmptyString,
  input: Price,
  cacheRead: optional(Price),
  cacheWrite: optional(Price),
  output: Price,
  reasoning: optional(Price)
})
export type Model = typeof Model.Type

/** `currency` is a code of ISO 4217, such as `USD`. */
export const Prices = Schema.Struct({
  currency: Schema.String.pipe(Schema.pattern(/^[A-Z]{3}$/, { identifier: "three capital letters, such as USD" })),
  models: Schema.NonEmptyArray(Model)
})
export type Prices = typeof Prices.Type

/** Why a table of prices cannot be used: each fault, with its path in the table. */
export class PricesError extends Schema.TaggedError<PricesError>()("PricesError", {
  ...Problem.fields,
  problems: Schema.NonEmptyArray(Schema.String)
}) {
  override get message(): string {
    return [Problem.render(this), ...this.problems].join("\n")
  }
}

const refuse = (problems: readonly [string, ...Array<string>]): PricesError =>
  new PricesError({
    code: "WF-PRI-001",
    what: "The table of prices cannot be used.",
    found: problems.length === 1 ? problems[0] : `${problems[0]}, and ${problems.length - 1} more`,
    next: "Correct the table. It is JSON with a currency and models, each with input and output per million tokens.",
    outcome: "not-applied",
    retry: "never",
    problems
  })

const nameOf = ({ model, provider }: Pick<Model, "model" | "provider">): string => JSON.stringify([provider, model])

const doubles = ({ models }: Prices): ReadonlyArray<string> => {
  const seen = new Set<string>()
  return models.flatMap((model, index) => {
    const name = nameOf(model)
    const isDouble = seen.has(name)
    seen.add(name)
    return isDouble ? [`/models/${index} is a second price of ${Printable.quote(model.model, 64)}`] : []
  })
}

const decode = Schema.decodeUnknownEither(Prices, { errors: "all", onExcessProperty: "error" })

/** The table that a value is, as it comes from JSON. */
export const read = (value: unknown): Either.Either<Prices, PricesError> =>
  Either.flatMap(
    Either.mapLeft(decode(value), (error) => {
      const [first = "it is no table", ...rest] = Issues.list(error)
      return refuse([first, ...rest])
    }),
    (prices) => {
      const [first, ...rest] = doubles(prices)
      return first === undefined ? Either.right(prices) : Either.left(refuse([first, ...rest]))
    }
  )

/** The price of a model: that of its provider, or else that of any. */
export const find = ({ models }: Prices, provider: string | undefined, model: string): Model | undefined =>
  models.find((one) => one.model === model && one.provider !== undefined && one.provider === provider) ??
  models.find((one) => one.model === model && one.provider === undefined)
