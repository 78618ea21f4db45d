/**
 * A `ClusterHost` is where runners of a cluster live in a test: a database of their own, and processes of the command.
 */
import { PgClient } from "@effect/sql-pg"
import * as SqlClient from "@effect/sql/SqlClient"
import { Effect, Redacted } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { createServer } from "node:net"
import * as path from "node:path"
import { fileURLToPath } from "node:url"

const root = path.resolve(import.meta.dirname, "../..")

/** The file of what the runners host. */
export const agents = fileURLToPath(new URL("./fixtures/cluster.ts", import.meta.url))

export const url = (database: string) => `postgres://postgres@127.0.0.1:5432/${database}`

type Row = { readonly [column: string]: unknown }

/** Each question has a connection of its own: what becomes of the runners' is the business of the test. */
const asked = (database: string, text: string, values: ReadonlyArray<unknown> = []): Promise<ReadonlyArray<Row>> =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Row>(text, values)).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url(database)), maxConnections: 1 })),
    Effect.runPromise
  )

export const hasPostgres = (): Promise<boolean> =>
  asked("test", "SELECT 1").then(
    () => true,
    () => false
  )

export interface Database {
  readonly name: string
  readonly query: (text: string, values?: ReadonlyArray<unknown>) => Promise<ReadonlyArray<Row>>
  readonly drop: () => Promise<unknown>
}

export const database = async (): Promise<Database> => {
  const name = `cluster_${randomBytes(6).toString("hex")}`
  await asked("test", `CREATE DATABASE ${name}`)
  return {
    name,
    query: (text, values) => asked(name, text, values),
    drop: () => asked("test", `DROP DATABASE ${name} WITH (FORCE)`)
  }
}

export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(address !== null && typeof address === "object" ? address.port : 0))
    })
  })

export interface Served {
  readonly process: ChildProcess
  /** The first line of standard output; undefined if it ended without. */
  readonly ready: Promise<string | undefined>
  readonly ended: Promise<{ readonly code: number | null; readonly said: string }>
}

/** A process of the command, from its sources. */
export const serve = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = {}): Served => {
  const { HOME, PATH, TMPDIR } = process.env
  const child = spawn(process.execPath, ["--import", "tsx", path.join(root, "src/cli/main.ts"), "serve", ...args], {
    cwd: root,
    env: { HOME, PATH, TMPDIR, ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let out = ""
  let said = ""
  const ended = new Promise<{ readonly code: number | null; readonly said: string }>((resolve) =>
    child.once("close", (code) => resolve({ code, said }))
  )
  const first = new Promise<string>((resolve) =>
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text
      said += text
      const [line, rest] = out.split("\n", 2)
      if (rest !== undefined && line !== undefined) resolve(line)
    })
  )
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text))
  return { process: child, ended, ready: Promise.race([first, ended.then(() => undefined)]) }
}
