/**
 * A `Runner` is a process that drives durable runs together with others over one database, until it is told to end.
 */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as SqlClient from "@effect/sql/SqlClient"
import type * as WorkflowEngine from "@effect/workflow/WorkflowEngine"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Durable from "../programs/Durable.ts"
import * as ArtifactStore from "../services/ArtifactStore.ts"
import * as LLM from "../services/LLM.ts"
import * as Record from "../services/Record.ts"
import * as SqlArtifactStore from "../services/SqlArtifactStore.ts"
import * as SqlRecord from "../services/SqlRecord.ts"
import * as Complaint from "./Complaint.ts"
import * as DatabaseUrl from "./DatabaseUrl.ts"
import * as EnvironmentModel from "./EnvironmentModel.ts"
import * as Program from "./Program.ts"
import * as ProgramFault from "./ProgramFault.ts"
import type { Setting } from "./ServeCommand.ts"
import * as Session from "./Session.ts"

type Hosted = Layer.Layer<
  Durable.Durable,
  unknown,
  ArtifactStore.ArtifactStore | LLM.LLM | Record.Record | SqlClient.SqlClient | WorkflowEngine.WorkflowEngine
>

// What a layer gives and needs is in its type alone, which is gone here; what it does not give is said when it is built.
const isHosted = (value: unknown): value is Hosted => Layer.isLayer(value)

const hosting: Program.Wanted<Hosted> = {
  is: isHosted,
  use: "serve",
  kind: "a Layer",
  example: "Write: export default Durable.layer({ agents: [agent] })"
}

const build = <A, E, R>(layer: Layer.Layer<A, E, R>, said: (error: E) => Complaint.Complaint) =>
  Effect.mapError(Layer.build(layer), said)

/** The runner is there as long as its scope, and gives the names of the agents that it hosts. */
const started = (setting: Setting, hosted: Hosted) =>
  Effect.gen(function* () {
    const { address, database, handover, lease, listen } = setting
    const unusable = DatabaseUrl.unreached(database.shown)
    const client = yield* build(
      PgClient.layer({ url: Redacted.make(database.url), applicationName: "wherefore", maxConnections: 16 }),
      unusable
    )
    const stores = yield* build(
      Layer.provideMerge(Layer.merge(SqlRecord.layer(), SqlArtifactStore.layer()), Layer.succeedContext(client)),
      (error) => Complaint.ofProblem(3, error, error)
    )
    const engine = yield* build(
      Durable.layerCluster({
        address,
        ...(listen === undefined ? {} : { listen }),
        ...(lease === undefined ? {} : { lease: Duration.seconds(lease) }),
        ...(handover === undefined ? {} : { handover: Duration.seconds(handover) })
      }).pipe(Layer.provide(Layer.succeedContext(client))),
      (cause) => {
        const { host, port } = listen ?? address
        return Complaint.unreadable(
          `It cannot listen at ${host}:${port}${DatabaseUrl.codeOf(cause)}.`,
          "Name another place: --listen HOST:PORT, or --runner-address HOST:PORT.",
          { cause }
        )
      }
    ).pipe(Effect.catchAllDefect((defect) => Effect.fail(unusable(defect))))

    const model = yield* EnvironmentModel.given
    const services = Layer.succeedContext(Context.merge(stores, engine))
    const open = Either.isRight(model) ? Layer.merge(services, Layer.succeedContext(model.right)) : services
    // proof: without a model, what needs one says so when it is built, as `ProgramFault` tells.
    const whole = Layer.provide(hosted, open) as Layer.Layer<Durable.Durable, unknown>
    const built = yield* Effect.exit(
      Effect.flatMap(Layer.build(whole), (context) => Effect.provide(Durable.Durable, context))
    )
    if (Exit.isSuccess(built)) return built.value.agents
    const complaint = ProgramFault.complaintOf(built.cause, {
      missingModel: Either.isLeft(model) ? model.left : EnvironmentModel.missing,
      next: "Correct it and start it again. --debug prints the cause."
    })
    return yield* complaint === undefined ? Effect.interrupt : Effect.fail(complaint)
  })

/** Serves until it is interrupted. */
export const serve = (session: Session.Session, setting: Setting): Effect.Effect<number, Complaint.Complaint> => {
  const hide = DatabaseUrl.hide(setting.database.secrets)
  const terminal = DatabaseUrl.hiding(hide, session.terminal)
  const { address, database } = setting
  return Effect.gen(function* () {
    const hosted = yield* Program.loadAs(hosting, setting.agents, session.arguments.rest)
    const agents = yield* started(setting, hosted)
    const runner = `${address.host}:${address.port}`
    if (session.json) {
      terminal.json({ format: "wherefore.serve/1", runner, agents, database: database.shown })
    } else {
      terminal.out([[{ text: `Ready at ${runner}, over ${database.shown}: ${agents.join(", ")}.` }]])
    }
    return yield* Effect.onInterrupt(Effect.never, () =>
      Effect.sync(() => terminal.progress([[{ text: "Leaves its runs to others, and ends." }]]))
    )
  }).pipe(
    Effect.scoped,
    Effect.mapError((complaint) => DatabaseUrl.hidden(hide, complaint)),
    Effect.provide(Session.logger(terminal))
  )
}
