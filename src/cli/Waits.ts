/**
 * `Waits` are the calls of a run of the directory that wait for a person, and who that person is.
 */
import * as Effect from "effect/Effect"
import { userInfo } from "node:os"
import type * as Outcome from "../kernel/Outcome.ts"
import * as Run from "../kernel/Run.ts"
import type * as State from "../kernel/State.ts"
import * as Waiting from "../kernel/Waiting.ts"
import * as Agent from "../programs/Agent.ts"
import * as ScreenLine from "../programs/ScreenLine.ts"
import * as Record from "../services/Record.ts"
import * as Complaint from "./Complaint.ts"
import * as Reference from "./Reference.ts"
import type * as Session from "./Session.ts"

export interface Waits {
  readonly runId: string
  /** How the run is written in a command. */
  readonly name: string
  readonly state: State.State
  readonly pending: ReadonlyArray<Outcome.Pending>
}

/** What a run waits for, whoever keeps its record. */
export const of = ({ name, reading }: Reference.Found): Waits => {
  const state = Run.fold(reading.entries.map(({ event }) => event))
  return { runId: reading.runId, name, state, pending: state.ended === undefined ? Waiting.pending(state) : [] }
}

/** The run that a word names, if decisions can be put on its record. */
export const here = (session: Session.Session, word: string): Effect.Effect<Waits, Complaint.Complaint> =>
  Effect.flatMap(Reference.read(session, word), (found) => {
    const { runId } = found.reading
    if (found.label === runId) return Effect.succeed(of(found))
    const directory = Reference.quote(session.archive.shown)
    return Effect.fail(
      Complaint.usage(
        `A decision is put on the record of a run in ${directory}, and ${Reference.quote(found.label)} names none of it.`,
        "Name the run by its id, and its directory with --dir."
      )
    )
  })

/** Who decides: as they say, or as the system knows them. */
export const by = ({ arguments: { options } }: Session.Session): Effect.Effect<string, Complaint.Complaint> => {
  const named = options.get("by")
  if (named !== undefined) return Effect.succeed(named)
  return Effect.try({
    try: () => userInfo().username,
    catch: (cause) => Complaint.usage("The system does not say who you are.", "Say who decides: --by NAME.", { cause })
  })
}

const said = ({ toolCallId, toolName }: Outcome.Pending): string => `${toolName} (${toolCallId})`

/** What is left to decide, or how the run goes on. */
export const onward = (
  { terminal }: Session.Session,
  { name }: Waits,
  pending: ReadonlyArray<Outcome.Pending>
): void => {
  const shown = pending.slice(0, 3).map(said).join(", ")
  const more = pending.length > 3 ? ` and ${pending.length - 3} more` : ""
  terminal.progress(
    pending.length === 0
      ? [[ScreenLine.span(`next  wherefore resume ${name} FILE.ts  (the program of the run)`, "faint")]]
      : [[ScreenLine.span(`next  wherefore approvals ${name}  (it waits for ${shown}${more})`, "faint")]]
  )
}

const exits: { readonly [R in Agent.DecisionRefused["reason"]]: Complaint.Exit } = {
  "no-run": 3,
  unknown: 5,
  stale: 5,
  doubled: 5,
  contradicted: 5,
  late: 5,
  ambiguous: 5,
  invalid: 2
}

const exitOf = (error: Agent.DecisionRefused | Record.RecordError | Record.RecordConflict): Complaint.Exit => {
  switch (error._tag) {
    case "DecisionRefused":
      return exits[error.reason]
    case "RecordError":
      return Complaint.exitOfRecord(error)
    case "RecordConflict":
      return 3
  }
}

/** Puts a decision on the record of a run in the archive. */
export const record = <A>(
  session: Session.Session,
  decided: Effect.Effect<A, Agent.DecisionRefused | Record.RecordError | Record.RecordConflict, Record.Record>
): Effect.Effect<A, Complaint.Complaint> =>
  decided.pipe(
    Effect.mapError((error) => Complaint.ofProblem(exitOf(error), error, error)),
    Effect.provide(session.archive.record)
  )
