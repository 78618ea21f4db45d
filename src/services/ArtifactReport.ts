/**
 * An `ArtifactReport` is what an audit of a store found.
 *
 * @internal
 */
import type * as Artifact from "../kernel/Artifact.ts"

/**
 * What is wrong. Leftovers of a crash, which a repair removes: `staged` (written, never named), `no-ticket` (bytes alone),
 * `no-bytes` (a ticket alone, which only a directory can have left of a crash). Damage, which is only told: `bytes-changed`,
 * `ticket-changed`, `foreign` (what the store did not make), `unreadable`.
 */
export type Kind = "staged" | "no-ticket" | "no-bytes" | "bytes-changed" | "ticket-changed" | "foreign" | "unreadable"

/** `where` is a path from the directory on, or what stands for one in a database. It names the scope. */
export interface Problem {
  readonly kind: Kind
  readonly where: string
  readonly ref?: Artifact.Ref
  readonly what: string
  readonly removed: boolean
}

/** How many scopes were looked at, how many artifacts in them are whole, how many bytes those have, and what is wrong. */
export interface Report {
  readonly scopes: number
  readonly artifacts: number
  readonly bytes: number
  readonly problems: ReadonlyArray<Problem>
}
