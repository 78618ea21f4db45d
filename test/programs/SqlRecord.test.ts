import { afterAll, assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer } from "effect"
import * as Why from "../../src/kernel/Why.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Database from "../services/RecordDatabase.ts"
import * as Fixture from "../services/RecordFixture.ts"
import * as Mortal from "./Mortal.ts"
import * as Shop from "./Shop.ts"

afterAll(() => Database.closePool())

type Service = Record.Record["Type"]

const others = () => Layer.mergeAll(LLM.layerScripted(Shop.model), ArtifactStore.layerMemory(), Shop.handlers([]))

const run = Agent.run(Shop.agent, "Sell.", { runId: "r" })

/** The entries of a run whose process dies at an append, and that another goes on with; whether it died. */
const outlived = (dying: Service, later: Service, death: Mortal.Options) =>
  Effect.gen(function* () {
    const mortal = Layer.provide(Mortal.layer(death), Layer.succeed(Record.Record, dying))
    const exit = yield* Effect.exit(Effect.provide(run, Layer.merge(mortal, others())))
    const on = Effect.flatMap(Effect.either(Shop.events("r")), ({ _tag }) =>
      _tag === "Left" ? run : Agent.resume(Shop.agent, "r")
    )
    if (Exit.isFailure(exit)) {
      yield* Effect.provide(on, Layer.merge(Layer.succeed(Record.Record, later), others()))
    }
    return { died: Exit.isFailure(exit), entries: yield* Fixture.collect(later.read("r")) }
  })

for (const database of Database.databases) {
  describe.skipIf(database.missing !== undefined)(`SqlRecord over ${database.name}${database.missing ?? ""}`, () => {
    it.scoped("has the run of an agent as memory has it, whichever of its appends the process died at", () =>
      Effect.gen(function* () {
        for (const kept of ["nothing", "all"] as const) {
          for (let at = 1; ; at++) {
            const memory = Context.get(yield* Layer.build(Record.layerMemory), Record.Record)
            const wanted = yield* outlived(memory, memory, { at, kept })
            const opened = yield* database.open
            const dying = yield* Database.record(opened, opened.client)
            const later = yield* Database.record(opened, opened.client)
            const found = yield* outlived(dying, later, { at, kept })
            assert.deepStrictEqual(found, wanted, `${at} ${kept}`)
            assert.strictEqual((yield* Record.verify(found.entries)).entries, found.entries.length)
            assert.isEmpty(Why.answer(found.entries.map(({ event }) => event)).gaps)
            if (found.died) continue
            assert.isAbove(at, 5)
            break
          }
        }
      })
    )
  })
}
