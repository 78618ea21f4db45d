/**
 * A `SqlArtifactStore` keeps artifacts in a database: SQLite in a file, or PostgreSQL, over the `SqlClient` that the
 * application has. See `docs/decisions/0011-artifact-tables.md`.
 *
 * @since 0.1.0
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Retention from "../kernel/Retention.ts"
import * as ArtifactPut from "./ArtifactPut.ts"
import * as ArtifactRows from "./ArtifactRows.ts"
import { ArtifactStore } from "./ArtifactStore.ts"
import type { ArtifactStoreError } from "./ArtifactStoreError.ts"
import * as ArtifactStreams from "./ArtifactStreams.ts"
import * as ArtifactTables from "./ArtifactTables.ts"
import * as ArtifactVerbs from "./ArtifactVerbs.ts"

export type { Problem, Report } from "./ArtifactReport.ts"
export type { Options as VerifyOptions } from "./ArtifactTableAudit.ts"
export { verify } from "./ArtifactTableAudit.ts"

/** `prefix` begins the names of the three tables: `wherefore_` unless said otherwise. An absent limit is none. */
export interface Options extends Retention.Limits {
  readonly prefix?: string
}

/**
 * Keeps artifacts in tables that it makes where they are not there yet. A put is one transaction; inside of a transaction of
 * the caller it is a part of that one. With limits, what goes first is what was not accessed for longest, also by other
 * processes. A database in memory is refused, and a connection of SQLite is set to flush each transaction.
 */
export const layer = ({ prefix, ...given }: Options = {}): Layer.Layer<
  ArtifactStore,
  ArtifactStoreError,
  SqlClient.SqlClient
> =>
  Layer.effect(
    ArtifactStore,
    Effect.gen(function* () {
      const limits = yield* ArtifactPut.limitsOf(given)
      const tables = yield* ArtifactTables.make(prefix === undefined ? {} : { prefix })
      yield* ArtifactTables.ensure(tables)
      const { maxBytesPerScope, maxCountPerScope } = limits
      const medium = ArtifactRows.medium(tables, maxBytesPerScope !== undefined || maxCountPerScope !== undefined)
      return { ...ArtifactVerbs.make(medium, limits), ...ArtifactStreams.make(medium, limits) }
    })
  )
