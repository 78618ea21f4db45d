/**
 * A `Reference` is how a run is named on the command line: by its id or the start of it, by its file, by how new it is, or
 * as what comes in on standard input.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Printable from "../kernel/Printable.ts"
import * as Record from "../services/Record.ts"
import * as ScreenSummary from "../programs/ScreenSummary.ts"
import * as Complaint from "./Complaint.ts"
import type { Session } from "./Session.ts"

/** A record, not read yet, and what to write after a verb to name it again, as a shell reads it. */
export interface Located {
  readonly record: Effect.Effect<Record.Reading, Record.RecordError>
  readonly name: string
  /** As a person would call it: a run id, or where it came from. */
  readonly label: string
  /** Whose record it has to be, where it is kept under an id. */
  readonly runId?: string
}

export interface Found extends Located {
  readonly reading: Record.Reading
}

/** Where the artifacts are: beside the records of the directory, unless said otherwise. */
export const artifactsOf = ({ archive, arguments: { options } }: Session): string | undefined =>
  options.get("store") ?? (archive.directory === undefined ? undefined : path.join(archive.directory, "artifacts"))

/** The run, with where it is if that is not the usual place. */
export const named = ({ archive, arguments: { options } }: Session, runId: string): string =>
  options.has("dir") ? `${runId} --dir ${ScreenSummary.shell(archive.shown)}` : runId

export const quote = (word: string): string => Printable.quote(word, 80)

const reasonOf = (cause: unknown): string => {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""
  switch (code) {
    case "ENOENT":
      return "there is no such file"
    case "EACCES":
    case "EPERM":
      return "it may not be read"
    case "EISDIR":
      return "it is a directory"
    case "ERR_FS_FILE_TOO_LARGE":
      return "it is larger than 2 GiB"
    default:
      return code === "" ? "it cannot be read" : `the system says ${code}`
  }
}

/** The bytes of a file that the user named. */
export const readFile = (file: string): Effect.Effect<Uint8Array, Complaint.Complaint> =>
  Effect.try({
    try: () => fs.readFileSync(file),
    catch: (cause) =>
      Complaint.unreadable(
        `${quote(file)} could not be read: ${reasonOf(cause)}.`,
        "Check the name and the rights of the file.",
        { cause }
      )
  })

/** All of standard input. */
export const readInput: Effect.Effect<Uint8Array, Complaint.Complaint> = Effect.suspend(() => {
  if (process.stdin.isTTY) {
    return Effect.fail(Complaint.usage("Nothing is piped into standard input.", "Write: wherefore … - < FILE"))
  }
  return Effect.async<Uint8Array, Complaint.Complaint>((resume) => {
    const chunks: Array<Buffer> = []
    process.stdin
      .on("data", (chunk) => chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk))
      .once("end", () => resume(Effect.succeed(Buffer.concat(chunks))))
      .once("error", (cause) =>
        resume(
          Effect.fail(Complaint.unreadable("Standard input could not be read.", "Pipe a record into it.", { cause }))
        )
      )
  })
})

/** What is asked of the record of the archive. A directory that is not there is not made. */
const recorded = <A>(
  { archive: { directory = "", tables } }: Session,
  asked: Effect.Effect<A, Record.RecordError, Record.Record>
): Effect.Effect<A, Complaint.Complaint> =>
  tables === undefined
    ? asked.pipe(
        Effect.provide(Record.layerFile({ directory, durability: "process-crash" })),
        Effect.mapError(Complaint.ofRecord)
      )
    : Effect.flatMap(tables, ({ record }) =>
        Effect.mapError(Effect.provideService(asked, Record.Record, record), Complaint.ofRecord)
      )

/** The runs of the archive, newest first; none if there is no directory. */
export const list = (
  session: Session,
  limit: number
): Effect.Effect<ReadonlyArray<Record.RunSummary>, Complaint.Complaint> => {
  const { directory } = session.archive
  const pages = Effect.gen(function* () {
    const record = yield* Record.Record
    const runs: Array<Record.RunSummary> = []
    let cursor: string | undefined
    do {
      const page = yield* record.list({ limit: Math.min(limit, 10_000), ...(cursor === undefined ? {} : { cursor }) })
      runs.push(...page.runs)
      cursor = page.cursor
    } while (cursor !== undefined && runs.length < limit)
    return runs.slice(0, limit)
  })
  return Effect.suspend(() =>
    directory !== undefined && !fs.existsSync(directory) ? Effect.succeed([]) : recorded(session, pages)
  )
}

const idsIn = (directory: string): ReadonlyArray<string> =>
  fs.existsSync(directory)
    ? fs.readdirSync(directory).flatMap((name) => /^([a-z0-9][a-z0-9_-]{0,63})\.ndjson$/.exec(name)?.[1] ?? [])
    : []

/** The runs that the archive has something of, whatever that is, and whose ids begin so. */
export const ids = (
  { archive: { directory = "", tables } }: Session,
  start = ""
): Effect.Effect<ReadonlyArray<string>, Complaint.Complaint> =>
  tables === undefined
    ? Effect.sync(() => idsIn(directory).filter((id) => id.startsWith(start)))
    : Effect.flatMap(tables, ({ ids }) => ids(start))

/** What is said of a run that is not there, with the runs that are. */
const missing = (session: Session, what: string): Effect.Effect<never, Complaint.Complaint> =>
  Effect.flatMap(list(session, 3), (runs) => {
    const empty = `There are no runs in ${quote(session.archive.shown)}.`
    if (runs.length === 0) return Effect.fail(Complaint.unreadable(empty, "Make one: wherefore run FILE.ts"))
    const ids = runs.map(({ runId }) => runId).join(", ")
    return Effect.fail(Complaint.unreadable(what, `Newest here: ${ids}. List them: wherefore runs`))
  })

/** All of a run in a database. It is verified while it is read. */
const whole = (record: typeof Record.Record.Service, runId: string): Located["record"] =>
  Effect.map(Stream.runCollect(record.read(runId)), (found) => {
    const entries = Chunk.toReadonlyArray(found)
    return { runId, entries, hash: entries.at(-1)?.hash ?? "", bytesDropped: 0 }
  })

/** The record of a run of the archive. */
export const ofRun = (session: Session, runId: string): Effect.Effect<Located, Complaint.Complaint> => {
  const { directory = "", tables } = session.archive
  const record: Effect.Effect<Located["record"], Complaint.Complaint> =
    tables === undefined
      ? Effect.map(readFile(path.join(directory, `${runId}.ndjson`)), (bytes) => Record.fromText(bytes))
      : Effect.map(tables, ({ record }) => whole(record, runId))
  return Effect.map(record, (record) => ({ record, name: named(session, runId), label: runId, runId }))
}

const byAge = (session: Session, age: number): Effect.Effect<Located, Complaint.Complaint> =>
  Effect.flatMap(list(session, age), (runs) => {
    const run = runs[age - 1]
    if (run !== undefined) return ofRun(session, run.runId)
    return missing(session, `There is no run number ${age} here; there are ${runs.length}.`)
  })

const byId = (session: Session, word: string): Effect.Effect<Located, Complaint.Complaint> =>
  Effect.flatMap(ids(session, word), (all) => {
    if (all.includes(word)) return ofRun(session, word)
    const found = all.toSorted()
    const [only] = found
    if (only !== undefined && found.length === 1) return ofRun(session, only)
    if (only !== undefined) {
      const some = found.slice(0, 5).join(", ") + (found.length > 5 ? ` and ${found.length - 5} more` : "")
      return Effect.fail(
        Complaint.usage(`${found.length} runs start with ${quote(word)}: ${some}.`, "Write more of the id.")
      )
    }
    if (fs.existsSync(word)) return byFile(word)
    return missing(session, `No run starts with ${quote(word)}.`)
  })

const byFile = (file: string): Effect.Effect<Located, Complaint.Complaint> =>
  Effect.map(readFile(file), (bytes) => ({
    record: Record.fromText(bytes),
    name: ScreenSummary.shell(file),
    label: file
  }))

/** The record that a word names. */
export const locate = (session: Session, word: string): Effect.Effect<Located, Complaint.Complaint> => {
  if (word === "-")
    return Effect.map(readInput, (bytes) => ({ record: Record.fromText(bytes), name: "-", label: "standard input" }))
  const [, age] = /^@([1-9]\d{0,5})?$/.exec(word) ?? []
  if (word.startsWith("@") && !word.includes("/")) {
    if (word !== "@" && age === undefined) {
      return Effect.fail(
        Complaint.usage(`${quote(word)} names no run.`, "Write @ for the newest run, @2 for the one before that.")
      )
    }
    return byAge(session, Number(age ?? 1))
  }
  return /^[a-z0-9][a-z0-9_-]{0,63}$/.test(word) ? byId(session, word) : byFile(word)
}

/** The verified entries of the record that a word names. */
export const read = (session: Session, word: string): Effect.Effect<Found, Complaint.Complaint> =>
  Effect.flatMap(locate(session, word), (located) =>
    located.record.pipe(
      Effect.map((reading) => ({ ...located, reading })),
      Effect.mapError((error) => unread(located, error))
    )
  )

export const unread = ({ label, name }: Located, error: Record.RecordError): Complaint.Complaint => {
  const about = Complaint.ofRecord(error)
  if (error.reason !== "Corrupt") return about
  if (error.runId === undefined) {
    const next = "Name the file of a run. A conversation from elsewhere becomes one with: wherefore import FILE"
    return {
      ...about,
      what: `${quote(label)} is not the record of a run: ${error.found ?? "it cannot be read"}.`,
      next
    }
  }
  return { ...about, next: `See what is wrong with it: wherefore verify ${name}` }
}

/** Says that an append was cut short, if one was. */
export const notice = ({ terminal }: Session, { label, reading }: Found): void => {
  if (reading.bytesDropped === 0) return
  terminal.progress([
    [
      {
        text: `${quote(label)} ends in ${reading.bytesDropped} bytes of an event that was never finished. It is shown without them.`,
        style: "warn"
      }
    ]
  ])
}
