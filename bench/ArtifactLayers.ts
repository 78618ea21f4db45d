/**
 * `ArtifactLayers` are the stores that the benchmark of artifacts compares, each with the least that could be done instead: a
 * file that is flushed, a row, or the hash alone.
 */
import { NodeFileSystem, NodeHttpClient } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { SqliteClient } from "@effect/sql-sqlite-node"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { AwsClient } from "aws4fetch"
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ArtifactStore, S3ArtifactStore, SqlArtifactStore } from "wherefore"

/** Writes bytes, and reads them back. */
export interface Floor {
  readonly name: string
  readonly reading: string
  readonly put: (bytes: Uint8Array) => Promise<unknown>
  readonly get: () => Promise<unknown>
}

export interface Kept {
  readonly store: typeof ArtifactStore.ArtifactStore.Service
  readonly floor: Floor
}

/** A row of the table: a new layer is one more. */
export interface Row {
  readonly name: string
  /** Runs with a store, and removes it. Rejects where the service that it needs is not there. */
  readonly use: <A>(work: (kept: Kept) => Promise<A>) => Promise<A>
}

const inDirectory = async <A>(work: (directory: string) => Promise<A>): Promise<A> => {
  const directory = fs.mkdtempSync(join(tmpdir(), "bench-artifacts-"))
  try {
    return await work(directory)
  } finally {
    fs.rmSync(directory, { recursive: true, force: true })
  }
}

const hashing = (): Floor => {
  let kept: Uint8Array = new Uint8Array()
  const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")
  return {
    name: "SHA-256 of the bytes",
    reading: "SHA-256 of the bytes",
    put: async (bytes) => hash((kept = bytes)),
    get: async () => hash(kept)
  }
}

const flushing = (directory: string): Floor => {
  const path = join(directory, "floor")
  return {
    name: "a file with fsync",
    reading: "a file",
    put: async (bytes) => {
      const file = await fs.promises.open(path, "w")
      await file.writeFile(bytes)
      await file.sync()
      await file.close()
    },
    get: () => fs.promises.readFile(path)
  }
}

const inserting = (sql: SqlClient.SqlClient, table: string): Floor => ({
  name: "a row",
  reading: "a row",
  put: (bytes) =>
    Effect.runPromise(
      Effect.zipRight(
        sql`DELETE FROM ${sql(table)}`,
        sql`INSERT INTO ${sql(table)} ${sql.insert({ bytes: Buffer.from(bytes.buffer) })}`
      )
    ),
  get: () => Effect.runPromise(sql`SELECT bytes FROM ${sql(table)}`)
})

const ofLayer = <A, E>(
  layer: Layer.Layer<ArtifactStore.ArtifactStore, E>,
  floor: Floor,
  work: (kept: Kept) => Promise<A>
): Promise<A> =>
  Effect.runPromise(
    Effect.provide(
      Effect.flatMap(ArtifactStore.ArtifactStore, (store) => Effect.promise(() => work({ store, floor }))),
      layer
    )
  )

const inTables = <A, E>(
  client: Layer.Layer<SqlClient.SqlClient, E>,
  type: string,
  work: (kept: Kept) => Promise<A>
): Promise<A> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const prefix = "bench_"
      const tables = ["floor", "artifacts", "artifact_pieces", "artifact_uploads"].map((name) => `${prefix}${name}`)
      const drop = Effect.forEach(tables, (table) => sql`DROP TABLE IF EXISTS ${sql(table)}`)
      yield* drop
      yield* sql`CREATE TABLE ${sql(`${prefix}floor`)} (bytes ${sql.literal(type)})`
      const layer = Layer.provide(SqlArtifactStore.layer({ prefix }), Layer.succeed(SqlClient.SqlClient, sql))
      return yield* Effect.ensuring(
        Effect.promise(() => ofLayer(layer, inserting(sql, `${prefix}floor`), work)),
        Effect.ignore(drop)
      )
    }).pipe(Effect.provide(client))
  )

const bucket = "artifacts"
/** The server's own test account. */
const account = { accessKeyId: Redacted.make("S3RVER"), secretAccessKey: Redacted.make("S3RVER") }

const serving = async (directory: string) => {
  const program = new URL("./objects.ts", import.meta.url).pathname
  const server = spawn(process.execPath, ["--import", "tsx", program, directory, bucket], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const [port] = await once(server.stdout, "data")
  const close = async () => {
    server.kill()
    await once(server, "exit")
  }
  return { endpoint: `http://127.0.0.1:${String(port).trim()}`, close }
}

const putting = (url: string): Floor => {
  const signer = new AwsClient({ accessKeyId: "S3RVER", secretAccessKey: "S3RVER", service: "s3", region: "us-east-1" })
  return {
    name: "a signed PUT",
    reading: "a signed GET",
    put: async (bytes) => (await signer.fetch(url, { method: "PUT", body: Buffer.from(bytes.buffer) })).text(),
    get: async () => (await signer.fetch(url)).arrayBuffer()
  }
}

export const rows: ReadonlyArray<Row> = [
  {
    name: "memory",
    use: (work) => ofLayer(ArtifactStore.layerMemory({ maxBytesPerScope: 2 ** 30 }), hashing(), work)
  },
  {
    name: "directory",
    use: (work) =>
      inDirectory((directory) =>
        ofLayer(
          Layer.provide(ArtifactStore.layerFileSystem({ directory: join(directory, "store") }), NodeFileSystem.layer),
          flushing(directory),
          work
        )
      )
  },
  {
    name: "SQLite",
    use: (work) =>
      inDirectory((directory) => inTables(SqliteClient.layer({ filename: join(directory, "db") }), "BLOB", work))
  },
  {
    name: "PostgreSQL",
    use: (work) =>
      inTables(
        PgClient.layer({ host: "127.0.0.1", database: "test", username: "postgres", connectTimeout: "2 seconds" }),
        "BYTEA",
        work
      )
  },
  {
    name: "S3",
    use: (work) =>
      inDirectory(async (directory) => {
        const { endpoint, close } = await serving(directory)
        const layer = Layer.provide(
          S3ArtifactStore.layer({ endpoint, bucket, credentials: account, conditionalWrites: false }),
          NodeHttpClient.layerUndici
        )
        try {
          return await ofLayer(layer, putting(`${endpoint}/${bucket}/floor`), work)
        } finally {
          await close()
        }
      })
  }
]
