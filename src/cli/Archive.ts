/**
 * An `Archive` is where the runs are that a command is about: a directory of files, or a database.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as path from "node:path"
import * as ArtifactStore from "../services/ArtifactStore.ts"
import * as Record from "../services/Record.ts"
import * as Complaint from "./Complaint.ts"
import * as DatabaseUrl from "./DatabaseUrl.ts"

/** What is asked of a database whose tables are there. */
export interface Tables {
  readonly record: typeof Record.Record.Service
  /** The ids of the runs that have a row, whatever is in it, and begin so. */
  readonly ids: (start: string) => Effect.Effect<ReadonlyArray<string>, Complaint.Complaint>
}

export interface Archive {
  /** As it may be shown, and written behind `--dir`. */
  readonly shown: string
  /** Of a directory alone. */
  readonly directory?: string
  /** Of a database alone. Nothing is made in it. */
  readonly tables?: Effect.Effect<Tables, Complaint.Complaint>
  /** For those who write: what is not there yet is made. */
  readonly record: Layer.Layer<Record.Record, Complaint.Complaint>
  /** The same for programs. */
  readonly layer: Layer.Layer<ArtifactStore.ArtifactStore | Record.Record, Complaint.Complaint>
}

/** A database that the user named. */
export type Named =
  | { readonly _tag: "Postgres"; readonly database: DatabaseUrl.DatabaseUrl }
  | { readonly _tag: "Sqlite"; readonly filename: string }

const usual = ".wherefore"

const ofProblem = (error: Parameters<typeof Complaint.ofProblem>[1]): Complaint.Complaint =>
  Complaint.ofProblem(3, error, error)

const inDirectory = (directory: string): Archive => {
  const artifacts = ArtifactStore.layerFileSystem({ directory: path.join(directory, "artifacts") })
  const record = Layer.mapError(Record.layerFile({ directory }), Complaint.ofRecord)
  return {
    shown: directory,
    directory,
    record,
    layer: Layer.merge(record, Layer.mapError(Layer.provide(artifacts, NodeFileSystem.layer), ofProblem))
  }
}

/** What a scheme begins with is never shown as it is: it may have a password in it. */
const wrong = Effect.fail(
  Complaint.usage(
    "--dir names no database that runs can be in.",
    "Write --dir DIRECTORY, --dir postgres://HOST/NAME or --dir sqlite:FILE."
  )
)

/** What of the word behind `--dir` must not be seen. */
export const secretsOf = (word: string): ReadonlyArray<string> => DatabaseUrl.postgres(word)?.secrets ?? []

/** The archive of the word behind `--dir`, open as long as the scope. Nothing is looked at before it is asked. */
export const open = (word: string | undefined): Effect.Effect<Archive, Complaint.Complaint, Scope.Scope> =>
  Effect.gen(function* () {
    if (word === undefined) return inDirectory(usual)
    const [, scheme, rest = ""] = /^([a-z][a-z0-9+.-]*):(?:\/\/(?=\/))?(.*)$/is.exec(word) ?? []
    if (scheme?.toLowerCase() === "sqlite") {
      if (rest === "" || rest.startsWith("//")) return yield* wrong
      return yield* inDatabase(`sqlite:${rest}`, { _tag: "Sqlite", filename: rest })
    }
    if (scheme === undefined || !/^[^/]*:\/\//.test(word)) return inDirectory(word)
    const database = DatabaseUrl.postgres(word)
    return database === undefined ? yield* wrong : yield* inDatabase(database.shown, { _tag: "Postgres", database })
  })

const inDatabase = (shown: string, named: Named): Effect.Effect<Archive, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const opened = yield* Effect.cached(
      Effect.flatMap(
        Effect.promise(() => import("./DatabaseArchive.ts")),
        (DatabaseArchive) => Scope.extend(DatabaseArchive.open(shown, named), scope)
      )
    )
    return {
      shown,
      tables: Effect.flatMap(opened, ({ tables }) => tables),
      record: Layer.unwrapEffect(Effect.map(opened, ({ record }) => record)),
      layer: Layer.unwrapEffect(Effect.map(opened, ({ layer }) => layer))
    }
  })
