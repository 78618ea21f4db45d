/**
 * An `Artifact` is data kept outside the conversation and spoken of by ticket: a minted name that tells nothing of the
 * content, and what may be said about the content without showing it.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Printable from "./Printable.ts"
import type * as Retention from "./Retention.ts"

export { planRetention } from "./Retention.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

/** Whose artifact it is. Nothing is visible from another scope. An empty tenant or principal is an absent one. */
export const Scope = Schema.Struct({
  conversationId: Schema.String,
  tenant: optional(Schema.String),
  principal: optional(Schema.String)
})
export type Scope = typeof Scope.Type

const grammar = /^art_[A-Za-z0-9]{22}$/

/** An artifact's name. */
export const Ref = Schema.String.pipe(Schema.pattern(grammar))
export type Ref = typeof Ref.Type

/** The one recogniser of refs, asked before a ref touches a path, a key or a query. */
export const isRef = (value: unknown): value is Ref => typeof value === "string" && grammar.test(value)

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
const refLength = 22

/**
 * The ref that random bytes spell, by rejection: a byte of 248 or more is dropped, so that each character is as likely as
 * any other. `undefined` if too few are left.
 */
export const mint = (random: Uint8Array): Ref | undefined => {
  let ref = "art_"
  for (const byte of random) {
    if (byte < 248) ref += alphabet.charAt(byte % 62)
    if (ref.length === 4 + refLength) return ref
  }
  return undefined
}

/** How many random bytes to mint from: with 64, one try in 10^40 has too few. */
export const mintBytes = 64

/** Which call of which run made it. */
export const Origin = Schema.Struct({
  runId: optional(Schema.NonEmptyString),
  toolCallId: optional(Schema.NonEmptyString)
})
export type Origin = typeof Origin.Type

const millis = Schema.JsonNumber

/** The ticket. `bytes` counts what is stored; times are milliseconds since the epoch; `digest` is there if asked for. */
export const Meta = Schema.Struct({
  ref: Ref,
  kind: Schema.NonEmptyString,
  mediaType: Schema.NonEmptyString,
  bytes: Schema.NonNegativeInt,
  createdAt: millis,
  label: optional(Schema.String),
  digest: optional(Schema.String.pipe(Schema.pattern(/^sha-256:[0-9a-f]{64}$/))),
  expiresAt: optional(millis),
  origin: optional(Origin),
  parentRefs: optional(Schema.Array(Ref))
})
export type Meta = typeof Meta.Type

/** What a put made room by. */
export const Swept = Schema.Struct({
  ref: Ref,
  reason: Schema.Literal("ttl", "max-bytes", "max-count"),
  kind: Schema.String,
  bytes: Schema.NonNegativeInt
})
export type Swept = Retention.Swept

/** What is stored: a text, bytes, or a value of the closed JSON domain. The store stamps the rest of the ticket. */
export interface PutInput {
  readonly kind: string
  readonly mediaType: string
  readonly data: unknown
  readonly label?: string
  readonly digest?: "sha-256"
  readonly expiresAt?: number
  readonly origin?: Origin
  readonly parentRefs?: ReadonlyArray<string>
}

export interface Stored {
  readonly meta: Meta
  readonly data: unknown
}

const absent = "_"
const lone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
const hex = (text: string): string => (text.codePointAt(0) ?? 0).toString(16).toUpperCase()

/** Upper case is marked, so that folding the case merges nothing, and what names a path is written in hexadecimal. */
const encodeField = (value: string): string => {
  if (value === "") return absent
  if (value === absent) return `%${hex(absent)}`
  const marked = value.replace(/[A-Z~]/g, (c) => (c === "~" ? "~~" : `~${c.toLowerCase()}`))
  // A lone surrogate has no UTF-8; no store takes one, but its code is still its own.
  const parts = marked.split(lone).map((part) => encodeURIComponent(part).replace(/[.!*'()]/g, (c) => `%${hex(c)}`))
  const codes = Array.from(marked.matchAll(lone), ([half]) => `%u${hex(half)}`)
  return parts.map((part, index) => part + (codes[index] ?? "")).join("")
}

/**
 * A scope as path segments, for every adapter: tenant, principal, conversation. Injective, safe where case is folded,
 * and without a dot or a separator; segments are to be compared as a list, or joined with a `/` that ends them as well.
 */
export const encodeScope = ({ conversationId, principal, tenant }: Scope): ReadonlyArray<string> => [
  encodeField(tenant ?? ""),
  encodeField(principal ?? ""),
  encodeField(conversationId)
]

const decodeField = (segment: string): Option.Option<string> => {
  if (segment === absent) return Option.some("")
  return Option.map(Option.liftThrowable(decodeURIComponent)(segment), (marked) =>
    marked.replace(/~(.)/gs, (_, c: string) => (c === "~" ? "~" : c.toUpperCase()))
  )
}

/** The scope that the segments encode: the proof that no two scopes share one encoding. */
export const decodeScope = (segments: ReadonlyArray<string>): Option.Option<Scope> =>
  Option.flatMap(Option.all(segments.map(decodeField)), ([tenant, principal, conversationId]) => {
    if (tenant === undefined || principal === undefined || conversationId === undefined) return Option.none()
    const scope: Scope = {
      conversationId,
      ...(tenant === "" ? {} : { tenant }),
      ...(principal === "" ? {} : { principal })
    }
    const again = encodeScope(scope)
    return segments.length === again.length && again.every((segment, index) => segment === segments[index])
      ? Option.some(scope)
      : Option.none()
  })

/** Whether it is text that every adapter can store. */
export const isWellFormed = (value: unknown): value is string =>
  typeof value === "string" && value === Printable.wellFormed(value)

/** Which field of a scope no adapter can store, if there is one. */
export const scopeFault = (scope: unknown): string | undefined => {
  if (typeof scope !== "object" || scope === null) return "scope"
  if (!("conversationId" in scope) || !isWellFormed(scope.conversationId)) return "scope.conversationId"
  if ("tenant" in scope && scope.tenant !== undefined && !isWellFormed(scope.tenant)) return "scope.tenant"
  if ("principal" in scope && scope.principal !== undefined && !isWellFormed(scope.principal)) return "scope.principal"
  return undefined
}

/** The place of a row in a listing. */
export type Key = Pick<Meta, "createdAt" | "ref">

/** Newest first, then by ref. */
export const compare = (self: Key, that: Key): number =>
  that.createdAt - self.createdAt || (self.ref < that.ref ? -1 : self.ref > that.ref ? 1 : 0)

/** Where the next page starts: after this row, whether it is still there or not. */
export const encodeCursor = ({ createdAt, ref }: Key): string =>
  Encoding.encodeBase64Url(JSON.stringify([createdAt, ref]))

const decodeKey = Schema.decodeUnknownOption(Schema.parseJson(Schema.Tuple(millis, Ref)))

export const decodeCursor = (cursor: string): Option.Option<Key> =>
  Encoding.decodeBase64UrlString(cursor).pipe(
    Either.getRight,
    Option.flatMap(decodeKey),
    Option.map(([createdAt, ref]) => ({ createdAt, ref })),
    Option.filter((key) => encodeCursor(key) === cursor)
  )
