/**
 * A `Unit` is what a number counts, as it stands beside the number or in the name of its field: `5 s`, `12.35%`, `$12`,
 * `durationMs`, `price`. A number is one in another unit only where both say theirs.
 *
 * @internal
 */

export type Kind = "time" | "length" | "mass" | "data" | "money" | "ratio"

/**
 * `sizes` are in seconds, metres, grams, bytes, one of a currency, or 1 of a ratio. There is more than one where the name
 * leaves it open.
 */
export interface Unit {
  readonly kind: Kind
  readonly sizes: ReadonlyArray<number>
}

const spelled: { readonly [K in Kind]: ReadonlyArray<readonly [names: string, ...sizes: ReadonlyArray<number>]> } = {
  time: [
    ["ns nanos nanosecond nanoseconds", 1e-9],
    ["us µs μs micros microsecond microseconds", 1e-6],
    ["ms msec millis millisecond milliseconds", 1e-3],
    ["s sec secs second seconds", 1],
    ["min mins minute minutes", 60],
    ["h hr hrs hour hours", 3600],
    ["d day days", 86_400],
    ["week weeks", 604_800]
  ],
  length: [
    ["mm millimeter millimeters millimetre millimetres", 1e-3],
    ["cm centimeter centimeters centimetre centimetres", 1e-2],
    ["m meter meters metre metres", 1],
    ["km kilometer kilometers kilometre kilometres", 1e3]
  ],
  mass: [
    ["mg milligram milligrams", 1e-3],
    ["g gram grams", 1],
    ["kg kgs kilo kilos kilogram kilograms", 1e3],
    ["t tonne tonnes", 1e6]
  ],
  data: [
    ["byte bytes", 1],
    ["kb kilobyte kilobytes", 1e3, 1024],
    ["mb megabyte megabytes", 1e6, 1024 ** 2],
    ["gb gigabyte gigabytes", 1e9, 1024 ** 3],
    ["tb terabyte terabytes", 1e12, 1024 ** 4],
    ["kib", 1024],
    ["mib", 1024 ** 2],
    ["gib", 1024 ** 3]
  ],
  money: [
    ["cent cents", 1e-2],
    ["$ € £ usd eur gbp dollar dollars euro euros pound pounds", 1]
  ],
  ratio: [
    ["% percent pct", 1e-2],
    ["bps", 1e-4]
  ]
}

const tableOf = (entries: ReadonlyArray<readonly [Kind, string, ReadonlyArray<number>]>): ReadonlyMap<string, Unit> =>
  new Map(entries.flatMap(([kind, names, sizes]) => names.split(" ").map((name) => [name, { kind, sizes }] as const)))

const kinds = ["time", "length", "mass", "data", "money", "ratio"] as const

const units = tableOf(kinds.flatMap((kind) => spelled[kind].map(([names, ...sizes]) => [kind, names, sizes] as const)))

/** Names of what is counted, and what it is counted in where no unit is said. */
const quantities = tableOf([
  ["time", "duration elapsed latency timeout took time runtime uptime delay ttl", [1e-9, 1e-6, 1e-3, 1, 60, 3600]],
  ["length", "distance length height width depth altitude elevation radius diameter", [1e-3, 1e-2, 1, 1e3]],
  ["mass", "weight mass", [1e-3, 1, 1e3]],
  ["data", "size memory storage", [1, 1e3, 1024, 1e6, 1024 ** 2, 1e9, 1024 ** 3]],
  [
    "money",
    "price amount total subtotal sum cost fee fare balance revenue salary budget paid due tax payment charge charged " +
      "refund profit income sales expense loss credit debit deposit currency",
    [1, 1e-2]
  ],
  ["ratio", "rate ratio share fraction probability percentage accuracy growth margin discount", [1, 1e-2]]
])

const wordsOf = (name: string): ReadonlyArray<string> =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-zµμ]+/)
    .filter((word) => word !== "")

/** What the name of a field says that its number counts: a unit at its end, as in `duration_ms`, or a quantity. */
const named = (name: string): Unit | undefined => {
  const words = wordsOf(name)
  const last = words.at(-1) ?? ""
  const unit = last.length > 1 || words.length > 1 ? units.get(last) : undefined
  if (unit !== undefined) return unit
  for (const word of words) {
    const quantity = quantities.get(word) ?? quantities.get(word.replace(/ies$/, "y").replace(/s$/, ""))
    if (quantity !== undefined) return quantity
  }
  return undefined
}

const general = /^(?:value|values|number|n|count|min|max|avg|mean|median|p\d+)$/i

/** The name of the field that a JSON pointer leads to: of `/latency/p95` and `/prices/3` the one that says something. */
export const fieldOf = (pointer: string): string =>
  pointer
    .split("/")
    .filter((segment) => segment !== "" && !/^\d+$/.test(segment))
    .reduce((field, segment) => (field !== "" && general.test(segment) ? field : segment), "")

/** A number where a text says it: what stands right before and right after it decides what it counts. */
export interface Said {
  /** As it is written: digits, with its separators, mark and unit. */
  readonly text: string
  readonly before: string
  readonly after: string
}

const attached = /\d(%|[a-zµμ]{1,5})$/i
const following = /^[\s-]?(%|[a-zµμ]{1,12})(?![a-zµμ\d])/i
const currency = /[$€£]\s?$|\b(?:USD|EUR|GBP)\s?$/
const label = /([A-Za-z][A-Za-z_-]*)["'`*]*\s*(?:[:=]|\b(?:of|is|was)\b)?["'`*\s]*$/

/** The word that stands as a unit at a number. */
export const wordAt = ({ after, text }: Said): string | undefined =>
  (attached.exec(text) ?? following.exec(after))?.[1]?.toLowerCase()

/** An amount of a currency, whichever it is. */
export const money: Unit = { kind: "money", sizes: [1] }

const isMoney = ({ before, text }: Said): boolean => text.includes("$") || currency.test(before)

/** The unit that stands beside a number. */
export const beside = (said: Said): Unit | undefined => (isMoney(said) ? money : units.get(wordAt(said) ?? ""))

/** What a number counts: by what stands beside it, or else by what it is called, right before or by its field. */
export const of = (said: Said, field?: string): Unit | undefined => {
  const unit = beside(said)
  if (unit !== undefined) return unit
  const [, name = field ?? ""] = label.exec(said.before) ?? []
  return named(name)
}
