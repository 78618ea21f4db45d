/**
 * `RunCommand` runs the program of a file, shows what goes on, and says what came of it.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { readFileSync } from "node:fs"
import * as path from "node:path"
import * as Onlooker from "../programs/Onlooker.ts"
import * as ScreenEnd from "../programs/ScreenEnd.ts"
import * as ScreenSummary from "../programs/ScreenSummary.ts"
import * as ArtifactStore from "../services/ArtifactStore.ts"
import * as Record from "../services/Record.ts"
import * as Complaint from "./Complaint.ts"
import * as EnvironmentModel from "./EnvironmentModel.ts"
import * as Program from "./Program.ts"
import * as ProgramFault from "./ProgramFault.ts"
import * as Reference from "./Reference.ts"
import type * as Session from "./Session.ts"
import * as ShowCommand from "./ShowCommand.ts"
import * as Watch from "./Watch.ts"

const next = "See what is recorded with: wherefore show @. --debug prints the cause."

interface Written {
  readonly runId: string
  readonly file: string
}

/** The run as its file has it: what was shown while it went on is not believed here. */
const reread = ({ file }: Written) =>
  Effect.option(
    Effect.flatMap(
      Effect.try(() => readFileSync(file)),
      (bytes) => Record.fromText(bytes)
    )
  )

/** How many runs are summed up at the end. */
const most = 5

const report = (session: Session.Session, written: Written) =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const reading = Option.getOrUndefined(yield* reread(written))
    if (reading === undefined) return
    const account = ScreenSummary.account(
      reading.entries.map(({ event }) => event),
      terminal.room
    )
    const whole = reading.bytesDropped === 0
    if (!json) {
      return terminal.out(
        ScreenSummary.final(account, { room: terminal.room, name: Reference.named(session, written.runId), whole })
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
    terminal.json({ runId: written.runId, outcome, values, totals: account.totals, whole })
  })

/** Whether a program's value is the outcome of a run without an answer. */
const isUnanswered = (value: unknown): boolean =>
  Predicate.hasProperty(value, "status") && Predicate.hasProperty(value, "runId") && value.status !== "answered"

const finish = (
  session: Session.Session,
  written: ReadonlyArray<Written>,
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
      return isUnanswered(exit.value) ? 1 : 0
    }
    const complaint = ProgramFault.complaintOf(exit.cause, { missingModel, next })
    if (complaint === undefined) return yield* Effect.interrupt
    return yield* Effect.fail(complaint)
  })

export const run: Session.Command = (session) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { json, terminal } = session
      const { positionals, rest } = session.arguments
      const file = positionals[0] ?? ""
      const program = yield* Program.load(file, rest)
      const directory = Reference.directoryOf(session)
      const kept = yield* Effect.mapError(Layer.build(Record.layerFile({ directory })), (error) =>
        Complaint.ofProblem(3, error, error)
      )
      const files = ArtifactStore.layerFileSystem({ directory: Reference.artifactsOf(session) })
      const artifacts = yield* Effect.mapError(Layer.build(Layer.provide(files, NodeFileSystem.layer)), (error) =>
        Complaint.ofProblem(3, error, error)
      )
      const model = yield* EnvironmentModel.given

      if (json) terminal.json({ format: "wherefore.run/1", file, directory })
      const fileOf = (runId: string) => path.join(directory, `${runId}.ndjson`)
      const watch = Watch.make(session, Context.get(kept, Record.Record), fileOf)
      const asked = Either.isRight(model) ? Effect.provide(program, model.right) : program
      const open = asked.pipe(
        Effect.provide(artifacts),
        Effect.provideService(Record.Record, watch.record),
        Effect.provideService(Onlooker.Onlooker, watch.see)
      )
      const missingModel = Either.isLeft(model) ? model.left : EnvironmentModel.missing

      return yield* Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(Effect.exit(restore(open)), (exit) => {
          watch.stop()
          const written = watch.runIds().map((runId) => ({ runId, file: fileOf(runId) }))
          return finish(session, written, exit, missingModel)
        })
      )
    })
  )
