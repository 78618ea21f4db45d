/**
 * A `Cassette` is replies by the hash of the wire that they answer, as lines of JSON: one that says which model it was, then
 * one for each exchange. Of a wire it has the ids and the digests of the pieces, and no text.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Event from "../kernel/Event.ts"
import * as Usage from "../kernel/Usage.ts"
import type * as Wire from "../kernel/Wire.ts"
import * as WireHash from "../kernel/WireHash.ts"
import type * as LLM from "./LLM.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })
const count = Schema.NonNegativeInt

const Asked = Schema.Struct({ provider: Schema.String, id: Schema.String })

/** The first line. Its number is the version of the format. */
const Header = Schema.Struct({
  cassette: Schema.Literal(1),
  model: optional(Asked),
  answers: optional(Schema.Literal("json"))
})
export type Header = typeof Header.Type

/** Deltas of one kind in a row are one entry. */
const Deltas = Schema.NonEmptyArray(Schema.String)
const Stored = Schema.Union(
  Schema.Struct({ text: Deltas }),
  Schema.Struct({ reasoning: Deltas }),
  Schema.TaggedStruct("Sealed", { kind: Schema.Literal("text", "reasoning"), opaque: optional(Schema.Unknown) }),
  Schema.TaggedStruct("ToolCall", {
    toolCallId: Schema.String,
    toolName: Schema.String,
    args: Schema.String,
    cut: optional(Schema.Literal(true)),
    opaque: optional(Schema.Unknown)
  }),
  Schema.TaggedStruct("Usage", { usage: Usage.Usage }),
  Schema.TaggedStruct("Finish", {
    stopReason: Event.StopReason,
    usage: Usage.Usage,
    model: optional(Schema.String),
    provider: optional(Schema.String),
    by: optional(Asked),
    toolNames: optional(Schema.Array(Schema.String))
  })
)
type Stored = typeof Stored.Type

/** A piece of a wire: its id, and the digest of what the model reads in it. */
const Named = Schema.Tuple(Schema.String, Schema.String)
type Named = typeof Named.Type

/** `like` is an exchange above it, of whose pieces so many of each slot are the first of this one's. */
const Line = Schema.Struct({
  wire: Schema.NonEmptyString,
  pass: Schema.Positive.pipe(Schema.int()),
  like: optional(Schema.Struct({ wire: Schema.NonEmptyString, system: count, messages: count, tools: count })),
  system: optional(Schema.Array(Named)),
  messages: optional(Schema.Array(Named)),
  tools: optional(Schema.Array(Named)),
  parameters: optional(Event.Parameters),
  reply: Schema.Array(Stored)
})
type Line = typeof Line.Type

/** A reply that was not kept. */
const Withheld = Schema.Struct({ wire: Schema.NonEmptyString, withheld: Schema.Literal("secret") })

const slots = ["system", "messages", "tools"] as const
type Slot = (typeof slots)[number]

/** What a wire is known by. */
export interface Names {
  readonly wire: string
  readonly pass: number
  readonly pieces: { readonly [S in Slot]: ReadonlyArray<Named> }
  readonly parameters: Event.Parameters
}

/** `reply` is absent if it was not kept, since it held a secret. */
export interface Exchange extends Names {
  readonly reply?: ReadonlyArray<LLM.Part>
}

/** The exchanges stand in the order in which they were recorded first: the one at 0 is in the second line. */
export interface Cassette {
  readonly header: Header
  readonly exchanges: ReadonlyArray<Exchange>
  /** Where each is, by the hash of its wire. */
  readonly places: ReadonlyMap<string, number>
}

export const make = (header: Header, exchanges: ReadonlyArray<Exchange> = []): Cassette => ({
  header,
  exchanges,
  places: new Map(exchanges.map(({ wire }, at) => [wire, at]))
})

export const find = ({ exchanges, places }: Cassette, wire: string): Exchange | undefined => {
  const at = places.get(wire)
  return at === undefined ? undefined : exchanges[at]
}

const named = (piece: Wire.Piece): Named => [piece.id, WireHash.ofPiece(piece)]

export const names = ({ iteration, messages, parameters, system, tools }: Wire.Wire): Names => {
  const pieces = { system: system.map(named), messages: messages.map(named), tools: tools.map(named) }
  const hashes = (slot: Slot) => pieces[slot].map(([, hash]) => hash)
  return {
    wire: WireHash.ofHashes(
      { system: hashes("system"), messages: hashes("messages"), tools: hashes("tools") },
      parameters
    ),
    pass: iteration,
    pieces,
    parameters
  }
}

const pack = (parts: ReadonlyArray<LLM.Part>): ReadonlyArray<Stored> => {
  const packed: Array<Stored> = []
  let last: { readonly kind: "Text" | "Reasoning"; readonly deltas: [string, ...Array<string>] } | undefined
  for (const part of parts) {
    if (part._tag === "Retried") continue
    if (part._tag !== "Text" && part._tag !== "Reasoning") {
      last = undefined
      packed.push(part)
    } else if (last?.kind === part._tag) last.deltas.push(part.delta)
    else {
      last = { kind: part._tag, deltas: [part.delta] }
      packed.push(last.kind === "Text" ? { text: last.deltas } : { reasoning: last.deltas })
    }
  }
  return packed
}

/** A whole reply ends in its one finish. */
export const isWhole = (parts: ReadonlyArray<LLM.Part>): boolean =>
  parts.findIndex(({ _tag }) => _tag === "Finish") === parts.length - 1 && parts.length > 0

const unpack = (stored: ReadonlyArray<Stored>): ReadonlyArray<LLM.Part> =>
  stored.flatMap((one): ReadonlyArray<LLM.Part> => {
    if ("text" in one) return one.text.map((delta) => ({ _tag: "Text", delta }))
    if ("reasoning" in one) return one.reasoning.map((delta) => ({ _tag: "Reasoning", delta }))
    return [one]
  })

/** How many pieces two lists have in common from their start. */
const common = (left: ReadonlyArray<Named>, right: ReadonlyArray<Named>, isIdToo = false): number => {
  let shared = 0
  while (shared < left.length && shared < right.length) {
    const [a, b] = [left[shared], right[shared]]
    if (a?.[1] !== b?.[1] || (isIdToo && a?.[0] !== b?.[0])) break
    shared++
  }
  return shared
}

const rest = (key: Slot, pieces: ReadonlyArray<Named>) => (pieces.length === 0 ? {} : { [key]: pieces })

/** The line of an exchange behind `before`: what differs from it. */
const lineOf = ({ parameters, pass, pieces, reply, wire }: Exchange, before: Exchange | undefined): string => {
  if (reply === undefined) return JSON.stringify({ wire, withheld: "secret" } satisfies typeof Withheld.Type)
  const like = { wire: before?.wire ?? "", system: 0, messages: 0, tools: 0 }
  for (const slot of slots) like[slot] = common(before?.pieces[slot] ?? [], pieces[slot], true)
  const line: Line = {
    wire,
    pass,
    ...(before === undefined ? {} : { like }),
    ...rest("system", pieces.system.slice(like.system)),
    ...rest("messages", pieces.messages.slice(like.messages)),
    ...rest("tools", pieces.tools.slice(like.tools)),
    ...(before !== undefined && WireHash.sameParameters(before.parameters, parameters) ? {} : { parameters }),
    reply: pack(reply)
  }
  return JSON.stringify(line)
}

const isKept = ({ reply }: Exchange): boolean => reply !== undefined

/** All lines of a cassette. */
export const print = ({ exchanges, header }: Cassette): string => {
  let before: Exchange | undefined
  const lines = exchanges.map((exchange) => {
    const line = lineOf(exchange, before)
    if (isKept(exchange)) before = exchange
    return line
  })
  return [JSON.stringify(header), ...lines].map((line) => `${line}\n`).join("")
}

/** The cassette with an exchange, which replaces the one of its wire; `line` is all that is new in its file, if nothing was replaced. */
export const add = (
  cassette: Cassette,
  exchange: Exchange
): { readonly cassette: Cassette; readonly line?: string } => {
  const { exchanges, header, places } = cassette
  const at = places.get(exchange.wire)
  if (at !== undefined) return { cassette: { header, exchanges: exchanges.with(at, exchange), places } }
  return {
    cassette: make(header, [...exchanges, exchange]),
    line: `${lineOf(exchange, exchanges.findLast(isKept))}\n`
  }
}

/** A line that is not as one was written, from 1. */
export interface Damage {
  readonly line: number
  readonly what: string
}

const read = <A, I>(schema: Schema.Schema<A, I>, text: string): Either.Either<A, string> =>
  Either.flatMap(Either.try({ try: (): unknown => JSON.parse(text), catch: () => "it is no JSON" }), (value) =>
    Either.mapLeft(Schema.decodeUnknownEither(schema)(value), () => "it is no line of a cassette of this version")
  )

const noPieces: Names["pieces"] = { system: [], messages: [], tools: [] }

const exchangeOf = (line: Line | typeof Withheld.Type, base: (wire: string) => Exchange | undefined) => {
  if ("withheld" in line) return Either.right({ wire: line.wire, pass: 1, pieces: noPieces, parameters: {} })
  const { like, parameters, pass, reply, wire } = line
  const above = like === undefined ? undefined : base(like.wire)
  if (like !== undefined && above === undefined) return Either.left("it is like an exchange that is not above it")
  if (like !== undefined && slots.some((slot) => (above?.pieces[slot].length ?? 0) < like[slot]))
    return Either.left("it has more in common with an exchange than that has pieces")
  const parts = unpack(reply)
  if (!isWhole(parts)) return Either.left("its reply does not end in its one finish")
  const whole = (slot: Slot) => [...(above?.pieces[slot].slice(0, like?.[slot]) ?? []), ...(line[slot] ?? [])]
  return Either.right({
    wire,
    pass,
    pieces: { system: whole("system"), messages: whole("messages"), tools: whole("tools") },
    parameters: parameters ?? above?.parameters ?? {},
    reply: parts
  })
}

/** The cassette of a text, or the first line of it that is damaged. */
export const parse = (text: string): Either.Either<Cassette, Damage> => {
  const lines = text.split("\n")
  const damaged = (line: number, what: string) => Either.left<Damage>({ line, what })
  if (lines.pop() !== "") return damaged(lines.length + 1, "it does not end in a line feed")
  const header = read(Header, lines[0] ?? "")
  if (Either.isLeft(header)) return damaged(1, header.left)
  const exchanges: Array<Exchange> = []
  const known = new Map<string, Exchange>()
  for (const [at, line] of lines.slice(1).entries()) {
    const exchange = Either.flatMap(read(Schema.Union(Line, Withheld), line), (one) =>
      exchangeOf(one, (wire) => known.get(wire))
    )
    if (Either.isLeft(exchange)) return damaged(at + 2, exchange.left)
    if (known.has(exchange.right.wire)) return damaged(at + 2, "its wire is that of a line above it")
    exchanges.push(exchange.right)
    known.set(exchange.right.wire, exchange.right)
  }
  return Either.right(make(header.right, exchanges))
}

/** Where a wire differs first from the recorded one that is nearest to it. */
export interface Drift {
  /** The line of the recorded wire. */
  readonly line: number
  readonly pass: number
  readonly slot: Slot | "parameters"
  readonly index: number
  /** The ids of the pieces there; absent where that wire has none. */
  readonly recorded?: string
  readonly asked?: string
}

const likeness = (recorded: Names, asked: Names): number =>
  slots.reduce((sum, slot) => sum + common(recorded.pieces[slot], asked.pieces[slot]), 0) +
  (recorded.pass === asked.pass ? 0.5 : 0)

/** The recorded wire that shares most pieces with one, in each slot from its start, and the first that it does not share. */
export const drift = ({ exchanges }: Cassette, asked: Names): Drift | undefined => {
  let nearest: { readonly exchange: Exchange; readonly line: number; readonly likeness: number } | undefined
  for (const [at, exchange] of exchanges.entries()) {
    const same = likeness(exchange, asked)
    if (isKept(exchange) && (nearest === undefined || same > nearest.likeness))
      nearest = { exchange, line: at + 2, likeness: same }
  }
  if (nearest === undefined) return undefined
  const { exchange, line } = nearest
  const { pass, pieces } = exchange
  for (const slot of slots) {
    const index = common(pieces[slot], asked.pieces[slot])
    const recorded = pieces[slot][index]
    const now = asked.pieces[slot][index]
    if (recorded === undefined && now === undefined) continue
    return {
      line,
      pass,
      slot,
      index,
      ...(recorded === undefined ? {} : { recorded: recorded[0] }),
      ...(now === undefined ? {} : { asked: now[0] })
    }
  }
  return { line, pass, slot: "parameters", index: 0 }
}
