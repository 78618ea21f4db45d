import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import * as WorkflowEngine from "@effect/workflow/WorkflowEngine"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema, Stream } from "effect"
import * as Agent from "../../src/programs/Agent.ts"
import * as Approval from "../../src/programs/Approval.ts"
import * as Durable from "../../src/programs/Durable.ts"
import * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as ModelServer from "../services/ModelServer.ts"

const eventsOf = (runId: string) =>
  Effect.flatMap(Record.Record, ({ read }) =>
    Effect.map(Stream.runCollect(read(runId)), (entries) => Array.from(entries, ({ event }) => event))
  )

const Pay = Tool.make("pay", { parameters: {}, success: Schema.String }).annotate(Approval.Approval, "ask")
const paying = Toolkit.make(Pay)
const clerk = Agent.make({ name: "clerk", instructions: "You are the clerk.", toolkit: paying })
const ask = Agent.toTool(clerk, {
  name: "ask_clerk",
  description: "Asks the clerk.",
  parameters: {},
  input: () => "Pay."
})
const toolkit = Toolkit.make(ask.tool)
const agent = Agent.make({ name: "bank", instructions: "You are the bank.", toolkit })
const handlers = ask.layer.pipe(Layer.provide(paying.toLayer({ pay: () => Effect.succeed("paid") })))

const memory = Layer.merge(ArtifactStore.layerMemory(), Record.layerMemory)

const hosted = (model: Layer.Layer<LLM.LLM, LLM.LLMError>, engine = Durable.layerMemory) =>
  Durable.layer({ agents: [agent], name: "here" }).pipe(
    Layer.provide(handlers),
    Layer.provide(model),
    Layer.provide(engine),
    Layer.provideMerge(memory)
  )

/** Waits until it is so. */
const until = <E, R>(isSo: Effect.Effect<boolean, E, R>) =>
  Effect.repeat(Effect.delay(isSo, "20 millis"), { until: (so) => so })

/** A server that answers some requests with a call of the clerk, and then never; it knows when it was hung up on. */
const silent = (calls: number) =>
  Effect.gen(function* () {
    const hungUp: Array<number> = []
    const call = {
      choices: [
        {
          index: 0,
          finish_reason: "tool_calls",
          delta: {
            tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "ask_clerk", arguments: "{}" } }]
          }
        }
      ]
    }
    const server = yield* ModelServer.serve(({ response }) => {
      const at = server.exchanges.length
      response.writeHead(200, { "content-type": "text/event-stream" })
      if (at <= calls) {
        response.end(`data: ${JSON.stringify(call)}\n\ndata: [DONE]\n\n`)
        return
      }
      response.once("close", () => hungUp.push(at))
      response.write(": hold on\n\n")
    })
    return { server, hungUp, model: LLM.layerOpenAiCompatible({ url: server.url, model: "m" }) }
  })

describe("Durable.cancel", () => {
  it.scopedLive("cuts the request of the model that is under way, and ends the run", () =>
    Effect.gen(function* () {
      const { hungUp, model, server } = yield* silent(0)
      yield* Effect.gen(function* () {
        yield* Durable.start("bank", "Pay.", { runId: "one" })
        yield* until(Effect.sync(() => server.exchanges.length === 1))
        assert.deepStrictEqual(hungUp, [])
        yield* Durable.cancel("one", "ann")
        const outcome = yield* Durable.await("one")
        assert.strictEqual(outcome.reason?.tag, "Interrupted")
        yield* until(Effect.sync(() => hungUp.length === 1))
        assert.lengthOf(server.exchanges, 1, "nothing is asked again")
        const tags = (yield* eventsOf("one")).map(({ _tag }) => _tag)
        assert.include(tags, "CancelAsked")
        assert.strictEqual(tags.at(-1), "RunEnded")
      }).pipe(Effect.provide(hosted(model)))
    }).pipe(Effect.timeout("20 seconds"))
  )

  it.scopedLive("ends the runs that the run has started", () =>
    Effect.gen(function* () {
      const { hungUp, model, server } = yield* silent(1)
      yield* Effect.gen(function* () {
        yield* Durable.start("bank", "Pay.", { runId: "one" })
        yield* until(Effect.sync(() => server.exchanges.length === 2))
        yield* Durable.cancel("one", "ann")
        assert.strictEqual((yield* Durable.await("one")).reason?.tag, "Interrupted")
        yield* until(Effect.sync(() => hungUp.includes(2)))
        const started = (yield* eventsOf("one")).find((event) => event._tag === "ChildStarted")
        assert.isDefined(started)
        const child = yield* eventsOf(started?.runId ?? "")
        const last = child.at(-1)
        assert(last?._tag === "RunEnded")
        assert.strictEqual(last.reason?.tag, "Interrupted")
        assert.isDefined(child.find(({ _tag }) => _tag === "CancelAsked"))
      }).pipe(Effect.provide(hosted(model)))
    }).pipe(Effect.timeout("20 seconds"))
  )

  it.scopedLive("asks for the end of a started run that waits for a person", () =>
    Effect.gen(function* () {
      const model = LLM.layerScripted(({ iteration, system }) =>
        system[0]?.text === "You are the clerk."
          ? LLM.call("pay", {}, "p")
          : iteration === 1
            ? LLM.call("ask_clerk", {}, "c")
            : { ...LLM.say("late"), delay: "1 minute" }
      )
      yield* Effect.gen(function* () {
        yield* Durable.start("bank", "Pay.", { runId: "one" })
        const started = Effect.map(
          Effect.orElseSucceed(eventsOf("one"), () => []),
          (events) => events.flatMap((event) => (event._tag === "ChildSettled" ? [event.runId] : []))
        )
        yield* until(Effect.map(started, (ids) => ids.length === 1))
        const [child = ""] = yield* started
        yield* Durable.cancel("one", "ann")
        assert.strictEqual((yield* Durable.await("one")).reason?.tag, "Interrupted")
        const tags = (yield* eventsOf(child)).map(({ _tag }) => _tag)
        assert.strictEqual(tags.at(-1), "CancelAsked")
        yield* Durable.cancel("one", "ann")
        assert.deepStrictEqual(
          (yield* eventsOf(child)).map(({ _tag }) => _tag),
          tags
        )
      }).pipe(Effect.provide(hosted(model)))
    }).pipe(Effect.timeout("20 seconds"))
  )

  // Two activities of one name would be one to the engine, and the second would be given what the first came to.
  it.scopedLive("has no need of activities: no step of a run has a name that another could have", () => {
    const names: Array<string> = []
    const engine = Layer.effect(
      WorkflowEngine.WorkflowEngine,
      Effect.map(WorkflowEngine.WorkflowEngine, (inner) =>
        WorkflowEngine.WorkflowEngine.of({
          ...inner,
          activityExecute: (activity, attempt) => {
            names.push(activity.name)
            return inner.activityExecute(activity, attempt)
          }
        })
      )
    ).pipe(Layer.provide(Durable.layerMemory))
    const model = LLM.layerScripted(({ iteration, system }) =>
      system[0]?.text === "You are the clerk." || iteration > 2 ? LLM.say("Done.") : LLM.call("ask_clerk", {}, "same")
    )
    return Effect.gen(function* () {
      yield* Durable.start("bank", "Pay.", { runId: "one" })
      assert.strictEqual((yield* Durable.await("one")).status, "answered")
      assert.lengthOf(
        (yield* eventsOf("one")).filter(({ _tag }) => _tag === "ChildSettled"),
        2
      )
      assert.deepStrictEqual(names, [])
    }).pipe(Effect.provide(hosted(model, engine)))
  })
})
