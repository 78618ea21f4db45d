/**
 * A `Retention` is how much a scope may hold, and for how long.
 *
 * @internal
 */
import * as Schema from "effect/Schema"

const limit = Schema.optionalWith(Schema.Positive.pipe(Schema.finite()), { exact: true })

/** An absent limit is none. */
export const Limits = Schema.Struct({ ttlMs: limit, maxBytesPerScope: limit, maxCountPerScope: limit })
export type Limits = typeof Limits.Type

/** What a scope holds. `lastAccessedAt` is any number that grows with each access. */
export interface Row {
  readonly ref: string
  readonly kind: string
  readonly bytes: number
  readonly expiresAt?: number
  readonly lastAccessedAt: number
}

/** What is about to be stored. Its parents stay, whatever has to go. */
export interface Incoming {
  readonly bytes: number
  readonly parentRefs?: ReadonlyArray<string>
}

export interface Swept {
  readonly ref: string
  readonly reason: "ttl" | "max-bytes" | "max-count"
  readonly kind: string
  readonly bytes: number
}

/** What has to go, in order, once the incoming artifact is stored; or why it cannot be, and then nothing goes. */
export interface Plan {
  readonly evict: ReadonlyArray<Swept>
  readonly refuse?: { readonly limit: "max-bytes" | "max-count"; readonly allowed: number; readonly needed: number }
}

export const isExpired = ({ expiresAt }: { readonly expiresAt?: number }, now: number): boolean =>
  expiresAt !== undefined && expiresAt <= now

/** When a ticket ends: at the time that was asked for or after the time to live, whichever comes first. */
export const expiryOf = (asked: number | undefined, { ttlMs }: Limits, now: number): number | undefined => {
  const ours = ttlMs === undefined ? undefined : now + ttlMs
  return asked === undefined || ours === undefined ? (asked ?? ours) : Math.min(asked, ours)
}

const byAccess = (self: Row, that: Row): number =>
  self.lastAccessedAt - that.lastAccessedAt || (self.ref < that.ref ? -1 : self.ref > that.ref ? 1 : 0)

const swept = ({ bytes, kind, ref }: Row, reason: Swept["reason"]): Swept => ({ ref, reason, kind, bytes })

const total = (rows: ReadonlyArray<Row>): number => rows.reduce((sum, { bytes }) => sum + bytes, 0)

/**
 * First the expired go. Then, least recently accessed first, what is over the count, the incoming artifact counted in;
 * then what is over the bytes.
 */
export const planRetention = (rows: ReadonlyArray<Row>, incoming: Incoming, limits: Limits, now: number): Plan => {
  const { maxBytesPerScope: maxBytes = Infinity, maxCountPerScope: maxCount = Infinity } = limits
  if (incoming.bytes > maxBytes) {
    return { evict: [], refuse: { limit: "max-bytes", allowed: maxBytes, needed: incoming.bytes } }
  }
  const expired = rows.filter((row) => isExpired(row, now)).sort(byAccess)
  const evict = expired.map((row) => swept(row, "ttl"))
  const live = rows.filter((row) => !isExpired(row, now))
  let count = live.length + 1
  let bytes = total(live) + incoming.bytes
  if (count > maxCount || bytes > maxBytes) {
    const pinned = new Set(incoming.parentRefs)
    for (const row of live.filter(({ ref }) => !pinned.has(ref)).sort(byAccess)) {
      const reason = count > maxCount ? "max-count" : bytes > maxBytes ? "max-bytes" : undefined
      if (reason === undefined) break
      evict.push(swept(row, reason))
      count -= 1
      bytes -= row.bytes
    }
  }
  if (count > maxCount) return { evict: [], refuse: { limit: "max-count", allowed: maxCount, needed: count } }
  if (bytes > maxBytes) return { evict: [], refuse: { limit: "max-bytes", allowed: maxBytes, needed: bytes } }
  return { evict }
}
