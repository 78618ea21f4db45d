import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import * as Agent from "../../src/programs/Agent.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as LLMSuite from "../../src/services/LLMSuite.ts"
import * as Shop from "../programs/Shop.ts"
import * as Dialects from "./Dialects.ts"
import { type Package, packages, slowly, stream } from "./EffectPackages.ts"
import { type Handler, isClean, serve } from "./ModelServer.ts"
import * as Zones from "./Zones.ts"

const agent = Agent.make({ name: "zones", instructions: "Be brief.", toolkit: Zones.toolkit, budget: { passes: 3 } })

const usage = { input: 3, cacheRead: 1, cacheWrite: 1, output: 2, reasoning: 1 }
const yes: Dialects.Said = { deltas: ["Yes."], stop: "stop", usage }

const layerOf = ({ model }: Package, url: string, options?: LLM.LanguageModelOptions) =>
  LLM.layerLanguageModel(options).pipe(Layer.provide(model(url)))

/** How the calls of a run were settled, and what the model was told of each. */
const settled = (one: Package, ...handlers: ReadonlyArray<Handler>) =>
  Effect.gen(function* () {
    const { url } = yield* serve(...handlers)
    const { answer } = yield* Effect.provide(Agent.run(agent, "Which?", { runId: "r" }), layerOf(one, url))
    assert.strictEqual(answer, "Yes.")
    const events = yield* Shop.events("r")
    return events.flatMap((event) =>
      event._tag === "ToolSettled" ? [[event.toolName, event.outcome, event.error?.tag, event.served] as const] : []
    )
  }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Zones.services)))

for (const one of packages) {
  describe(`A mistake of the model's over ${one.name}`, () => {
    const made = (name: string, ...deltas: ReadonlyArray<string>) =>
      one.events({ deltas: ["I look."], calls: [{ id: "c1", name, deltas }], stop: "tool-calls", usage })
    const isAnthropic = one.name.endsWith("anthropic")

    it.live("is told to it with what is wrong", () =>
      Effect.gen(function* () {
        for (const [args, outcome, tag, says] of [
          ['{"n": oops}', "refused", "ArgumentsMalformed", "column 7"],
          ['{"n": 1} and more', "refused", "ArgumentsMalformed", "the end of the text"],
          ['{"__proto__":{"n":1}}', "refused", "ArgumentsMalformed", "__proto__"],
          ['{"n": 1, "constructor": {}}', "refused", "ArgumentsMalformed", "constructor"],
          [`{"n": ${"[".repeat(20_000)}`, "refused", "ArgumentsMalformed", "64"],
          ["[1]", "refused", "ArgumentsMalformed", "object"],
          // More of it could make it whole: nobody can tell it from a reply that was cut.
          ['{"n": ', "truncated", "ReplyTruncated", "Make the call again"]
        ] as const) {
          for (const send of [stream, slowly]) {
            const [call] = yield* settled(one, send(made("zone", args)), stream(one.events(yes)))
            assert.deepStrictEqual(call?.slice(0, 3), ["zone", outcome, tag], args.slice(0, 40))
            assert.include(call?.[3] ?? "", says)
          }
        }
      })
    )

    it.live("is a tool without a name, or without arguments that it needs", () =>
      Effect.gen(function* () {
        for (const send of [stream, slowly]) {
          const [unnamed] = yield* settled(one, send(made("", '{"n":1}')), stream(one.events(yes)))
          assert.deepStrictEqual(unnamed?.slice(0, 3), ["", "refused", "UnknownTool"])
          const [bare] = yield* settled(one, send(made("zone")), stream(one.events(yes)))
          assert.deepStrictEqual(bare?.slice(0, 3), ["zone", "refused", "ToolArgsInvalid"])
        }
      })
    )

    it.live("is none where the package fails for another reason", () =>
      Effect.gen(function* () {
        if (!isAnthropic) return
        const [first, ...rest] = made("zone", '{"n":1}')
        const { url } = yield* serve(stream([first ?? {}, { type: "content_block_start", index: "no" }, ...rest]))
        const error = yield* Effect.flip(Effect.provide(LLM.reply(LLMSuite.wire), layerOf(one, url)))
        assert.strictEqual(error.reason, "Protocol")
      }).pipe(Effect.scoped)
    )
  })

  describe(`An answer with status 200 over ${one.name}`, () => {
    const secrets = [Redacted.make(Dialects.canary)]
    const refused = (type: string, text: string) =>
      Effect.gen(function* () {
        const { url } = yield* serve(({ response }) => {
          response.writeHead(200, { "content-type": type, "retry-after": "7" }).end(text)
        })
        const exit = yield* Effect.exit(Effect.provide(LLM.reply(LLMSuite.wire), layerOf(one, url, { secrets })))
        isClean(exit, Dialects.canary)
        return yield* Effect.flip(exit)
      }).pipe(Effect.scoped)

    it.live("is a failure with its reason and its body where it is an error", () =>
      Effect.gen(function* () {
        for (const [type, reason] of [
          ["rate_limit_error", "Limited"],
          ["server_error", "Unavailable"],
          ["authentication_error", "Auth"],
          ["invalid_request_error", "Rejected"]
        ] as const) {
          const text = JSON.stringify(one.dialect.fail(type, `No: ${Dialects.canary}`))
          const error = yield* refused("application/json", text)
          assert.strictEqual(error.reason, reason)
          if (reason !== "Limited") continue
          assert.deepStrictEqual(error.retry, { afterMs: 7_000 })
          assert.strictEqual(error.body && Redacted.value(error.body), text.replace(Dialects.canary, "[masked]"))
        }
      })
    )

    it.live("is kept where it is a page", () =>
      Effect.gen(function* () {
        const page = `<html>Sign in, ${Dialects.canary}</html>`
        const error = yield* refused("text/html; charset=utf-8", page)
        assert.strictEqual(error.reason, "Protocol")
        assert.strictEqual(error.body && Redacted.value(error.body), page.replace(Dialects.canary, "[masked]"))
      })
    )
  })
}
