/**
 * `RunCommand` runs the program of a file, shows what goes on, and says what came of it.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as path from "node:path"
import type * as Refusal from "../kernel/Refusal.ts"
import * as Onlooker from "../programs/Onlooker.ts"
import * as ScreenEnd from "../programs/ScreenEnd.ts"
import * as ScreenSummary from "../programs/ScreenSummary.ts"
import * as Record from "../services/Record.ts"
import type * as Complaint from "./Complaint.ts"
import * as EnvironmentModel from "./EnvironmentModel.ts"
import * as Program from "./Program.ts"
import * as ProgramFault from "./ProgramFault.ts"
import * as Reference from "./Reference.ts"
import type * as Session from "./Session.ts"
import * as ShowCommand from "./ShowCommand.ts"
import * as Watch from "./Watch.ts"

const next = "See what is recorded with: wherefore show @. --debug prints the cause."

/** The run as its record has it: what was shown while it went on is not believed here. */
const reread = (session: Session.Session, runId: string) =>
  Effect.option(Effect.flatMap(Reference.ofRun(session, runId), ({ record }) => record))

/** How many runs are summed up at the end. */
const most = 5

const report = (session: Session.Session, runId: string) =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const reading = Option.getOrUndefined(yield* reread(session, runId))
    if (reading === undefined) return
    const account = ScreenSummary.account(
      reading.entries.map(({ event }) => event),
      terminal.room
    )
    const whole = reading.bytesDropped === 0
    if (!json) {
      return terminal.out(
        ScreenSummary.final(account, { room: terminal.room, name: Reference.named(session, runId), whole })
      )
    }
    const { state } = account.ticker
    const { answered, ended } = state
    const values = account.verdicts.map(ShowCommand.verdictJson)
    const outcome = {
      status: ScreenEnd.statusOf(state),
      answer: answered?.content,
      reason: ended?.reason,
      ...ScreenEnd.toJson(state)
    }
    terminal.json({ runId, outcome, values, totals: account.totals, whole })
  })

const isBudget: ReadonlySet<unknown> = new Set<Refusal.Tag>(["BudgetExceeded", "CostUnknown", "UsageUnknown"])

/** The outcome of a run, as far as it says how the command ends. */
const isOutcome = Schema.is(
  Schema.Struct({
    runId: Schema.String,
    status: Schema.Literal("answered", "waiting", "stopped"),
    pending: Schema.Array(Schema.Struct({ kind: Schema.String })),
    reason: Schema.optional(Schema.Struct({ tag: Schema.String }))
  })
)

/** How the command ends for a program's value: if it is the outcome of a run, for what that came to. */
const exitOf = (value: unknown): number => {
  if (!isOutcome(value) || value.status === "answered") return 0
  const { pending, reason, status } = value
  if (status === "waiting") return pending.some(({ kind }) => kind === "unknown") ? 8 : 1
  return isBudget.has(reason?.tag) ? 6 : reason?.tag === "ModelFailed" ? 7 : 1
}

const finish = (
  session: Session.Session,
  written: ReadonlyArray<string>,
  exit: Exit.Exit<unknown, unknown>,
  missingModel: Complaint.Complaint
): Effect.Effect<number, Complaint.Complaint> =>
  Effect.gen(function* () {
    const { json, terminal } = session
    for (const [index, one] of written.slice(-most).entries()) {
      terminal.progress([[]])
      if (index > 0 && !json) terminal.out([[]])
      yield* report(session, one)
    }
    if (written.length > most) terminal.progress([[{ text: `${written.length - most} earlier runs: wherefore runs` }]])
    if (Exit.isSuccess(exit)) {
      if (written.length === 0) terminal.progress([[{ text: "The program ended and recorded no run." }]])
      return exitOf(exit.value)
    }
    const complaint = ProgramFault.complaintOf(exit.cause, { missingModel, next })
    if (complaint === undefined) return yield* Effect.interrupt
    return yield* Effect.fail(complaint)
  })

/** Runs a program over the archive, and says what came of it: of the runs that it wrote to, and of those that were named. */
export const perform = (
  session: Session.Session,
  program: Program.Program,
  named: ReadonlyArray<string> = []
): Effect.Effect<number, Complaint.Complaint> =>
  Effect.gen(function* () {
    const { archive } = session
    const kept = yield* Layer.build(archive.layer)
    const model = yield* EnvironmentModel.given
    const fileOf = (runId: string) =>
      archive.directory === undefined ? archive.shown : path.join(archive.directory, `${runId}.ndjson`)
    const watch = Watch.make(session, Context.get(kept, Record.Record), fileOf)
    const asked = Either.isRight(model) ? Effect.provide(program, model.right) : program
    const open = asked.pipe(
      Effect.provideService(Record.Record, watch.record),
      Effect.provide(kept),
      Effect.provideService(Onlooker.Onlooker, watch.see)
    )
    const missingModel = Either.isLeft(model) ? model.left : EnvironmentModel.missing

    return yield* Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.exit(restore(open)), (exit) => {
        watch.stop()
        const written = watch.runIds()
        return finish(session, [...named.filter((runId) => !written.includes(runId)), ...written], exit, missingModel)
      })
    )
  }).pipe(Effect.scoped)

export const run: Session.Command = (session) =>
  Effect.gen(function* () {
    const { archive, json, terminal } = session
    const { positionals, rest } = session.arguments
    const file = positionals[0] ?? ""
    const program = yield* Program.load(file, rest)
    if (json) terminal.json({ format: "wherefore.run/1", file, directory: archive.shown })
    return yield* perform(session, program)
  })
