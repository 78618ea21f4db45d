/**
 * `ServeCommand` reads how a runner of durable runs is to be started. What it is made of is loaded then: its packages are not
 * those that the other verbs need.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Printable from "../kernel/Printable.ts"
import * as Complaint from "./Complaint.ts"
import * as DatabaseUrl from "./DatabaseUrl.ts"
import type * as Session from "./Session.ts"

export interface Place {
  readonly host: string
  readonly port: number
}

export interface Setting {
  readonly agents: string
  readonly database: DatabaseUrl.DatabaseUrl
  readonly address: Place
  readonly listen?: Place
  readonly lease?: number
  readonly handover?: number
}

type Read<A> = Either.Either<A, Complaint.Complaint>

const wrong = (what: string, next: string): Read<never> => Either.left(Complaint.usage(what, next))

const placeOf = (name: string, word: string): Read<Place> => {
  const [, bracketed, plain, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/@[\]]+)):(\d{1,5})$/.exec(word) ?? []
  const host = bracketed ?? plain
  const port = Number(digits)
  return host === undefined || port < 1 || port > 65_535
    ? wrong(`--${name} is not a host and a port: ${Printable.quote(word, 80)}.`, `Write --${name} 10.0.0.7:34431.`)
    : Either.right({ host, port })
}

const secondsOf = (name: string, word: string, least: number): Read<number> => {
  const seconds = Number(word)
  return /^\d+(\.\d+)?$/.test(word) && seconds >= least && seconds <= 3_600
    ? Either.right(seconds)
    : wrong(
        `--${name} is not a number of seconds from ${least} to 3600: ${Printable.quote(word, 80)}.`,
        `Write --${name} 12.`
      )
}

const example = "Write --database postgres://HOST/NAME, or set WHEREFORE_DATABASE."

const databaseOf = (word: string | undefined): Read<DatabaseUrl.DatabaseUrl> => {
  if (word === undefined || word === "") return wrong('"serve" needs a database.', example)
  const database = DatabaseUrl.postgres(word)
  return database === undefined
    ? wrong("The database is not named by a URL of PostgreSQL.", example)
    : Either.right(database)
}

/** What was asked for, or what is wrong with it. */
export const settingOf = (options: ReadonlyMap<string, string>, database: string | undefined): Read<Setting> =>
  Either.gen(function* () {
    if (!options.has("cluster")) {
      return yield* wrong('"serve" needs --cluster.', "Write: wherefore serve --cluster --agents FILE.ts")
    }
    const agents = options.get("agents")
    if (agents === undefined) {
      return yield* wrong('"serve" needs --agents.', "Write: wherefore serve --cluster --agents FILE.ts")
    }
    const optional = <A>(name: string, read: (word: string) => Read<A>): Read<A | undefined> => {
      const word = options.get(name)
      return word === undefined ? Either.right(undefined) : read(word)
    }
    const found = yield* databaseOf(options.get("database") ?? database)
    const address = yield* optional("runner-address", (word) => placeOf("runner-address", word))
    const listen = yield* optional("listen", (word) => placeOf("listen", word))
    const lease = yield* optional("lease", (word) => secondsOf("lease", word, 3))
    const handover = yield* optional("handover", (word) => secondsOf("handover", word, 0))
    return {
      agents,
      database: found,
      address: address ?? { host: "localhost", port: 34_431 },
      ...(listen === undefined ? {} : { listen }),
      ...(lease === undefined ? {} : { lease }),
      ...(handover === undefined ? {} : { handover })
    }
  })

export const run: Session.Command = (session) =>
  Effect.gen(function* () {
    const setting = yield* settingOf(session.arguments.options, process.env["WHEREFORE_DATABASE"])
    const Runner = yield* Effect.tryPromise({
      try: () => import("./Runner.ts"),
      catch: (cause) =>
        Complaint.unreadable(
          'The packages that "serve" needs could not be loaded.',
          "Install them: npm install @effect/cluster@0.60 @effect/workflow@0.19 @effect/rpc@0.76 @effect/sql-pg@0.53",
          { cause }
        )
    })
    return yield* Runner.serve(session, setting)
  })
