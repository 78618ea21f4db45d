/**
 * A `SqlRecord` keeps runs in a database: SQLite in a file, or PostgreSQL, over the `SqlClient` that the application has.
 * See `docs/decisions/0016-record-tables.md`.
 *
 * @since 0.1.0
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Layer from "effect/Layer"
import * as Record from "./Record.ts"
import type { RecordError } from "./RecordError.ts"
import * as RecordSql from "./RecordSql.ts"

export type { Options } from "./RecordSql.ts"

/**
 * Keeps all runs in tables that it makes where they are not there yet. An append is one statement in a transaction of its
 * own, acknowledged when it survives a loss of power; inside of a transaction of the caller it is refused. Several processes
 * can share the tables: of those who append at one place, one wins. A database in memory is refused, and a connection of
 * SQLite is set to flush each transaction.
 */
export const layer = (options: RecordSql.Options = {}): Layer.Layer<Record.Record, RecordError, SqlClient.SqlClient> =>
  Layer.scoped(Record.Record, RecordSql.make(options))
