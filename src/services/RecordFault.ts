/**
 * A `RecordFault` is what a failure of the database means to those who use the record in it. Messages of databases quote
 * values: it says what failed by its code alone.
 *
 * @internal
 */
import type { SqlError } from "@effect/sql/SqlError"
import * as Printable from "../kernel/Printable.ts"
import * as Database from "./Database.ts"
import * as RecordError from "./RecordError.ts"

/** What it is about, where there is something: a run, and the entry that was to be read or written. */
export interface About {
  readonly runId?: string
  readonly seq?: number
}

const isDamaged = (code: string): boolean => /^(SQLITE_(CORRUPT|NOTADB)|XX00[12]$)/.test(code)
const isBroken = (code: string): boolean => /^(SQLITE_IOERR|58)/.test(code)

/** The database did not do something that changed nothing. */
export const of = (error: SqlError, about: About = {}): RecordError.RecordError => {
  const found = Database.codeOf(error)
  const what =
    about.runId === undefined
      ? "The database of the record could not be used."
      : `The database could not be used for run ${Printable.quote(about.runId)}.`
  const details = { ...about, what, found }
  if (Database.isBusy(found) || Database.isStopped(found)) {
    return RecordError.failure("Unavailable", { ...details, next: "Try again in a second: others were using it." })
  }
  if (Database.isFull(found)) {
    return RecordError.failure("Full", { ...details, next: "Give the database some room, then try again." })
  }
  if (isDamaged(found)) {
    return RecordError.failure("Corrupt", {
      ...details,
      what: "The database of the record is damaged.",
      where: "database"
    })
  }
  if (Database.isAway(found) || !/^([0-9A-Z]{5}|SQLITE_.*)$/.test(found)) {
    return RecordError.failure("Unavailable", {
      ...details,
      next: "Make sure that the database runs and can be reached, then try again."
    })
  }
  return RecordError.failure("Unavailable", {
    ...details,
    next: "Make sure that this process may read and write the tables of the record, and that no transaction was left open.",
    retry: "after-human"
  })
}

/** An append that is not there. */
const unwritten = (error: SqlError, about: About): RecordError.RecordError => {
  const found = Database.codeOf(error)
  if (!isBroken(found)) return of(error, about)
  return RecordError.failure("WriteFailed", {
    ...about,
    what: `The append to run ${Printable.quote(about.runId ?? "")} was not written.`,
    where: "write",
    found
  })
}

/** An append that may be there. */
const unended = (error: SqlError, about: About): RecordError.RecordError => {
  const found = Database.codeOf(error)
  return RecordError.failure(isBroken(found) ? "WriteFailed" : "Unavailable", {
    ...about,
    what: `Whether the append to run ${Printable.quote(about.runId ?? "")} was kept is not known.`,
    where: "commit",
    found,
    next: isBroken(found)
      ? "Build the layer again and read the run: the entries are there or they are not."
      : "Append the same at the same place again: a conflict says that someone's append is there; read whose.",
    outcome: "unknown",
    retry: isBroken(found) ? "after-human" : "safe-with-same-key"
  })
}

/** How an append failed. */
export const ofAppend = (error: SqlError | Database.Unended, about: About): RecordError.RecordError =>
  error._tag === "Unended" ? unended(error.error, about) : unwritten(error, about)

/** The database cannot be what a record is kept in. */
export const ofUnfit = ({ expected, found, path }: Database.Unfit): RecordError.RecordError =>
  RecordError.failure("InvalidInput", {
    what: `The ${path} cannot be used for a record.`,
    where: path,
    expected,
    found,
    next: "Use another."
  })
