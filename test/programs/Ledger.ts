/**
 * A `Ledger` is a run in which everything that findings, coverage, grounding and checks can file is filed.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Effect, Either, Schema } from "effect"
import * as Coverage from "../../src/kernel/Coverage.ts"
import type * as Event from "../../src/kernel/Event.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as LLM from "../../src/services/LLM.ts"
import type * as Record from "../../src/services/Record.ts"
import * as Shop from "./Shop.ts"

const Look = Tool.make("look", { parameters: { of: Schema.String }, success: Schema.String }).annotate(
  Tool.Readonly,
  true
)
const Find = Tool.make("find", { parameters: { of: Schema.String }, success: Coverage.Absence }).annotate(
  Tool.Readonly,
  true
)
const Count = Tool.make("count", {
  parameters: { of: Schema.String },
  success: Coverage.Covered(Schema.Struct({ pieces: Schema.Number }))
}).annotate(Tool.Readonly, true)
const toolkit = Toolkit.make(Look, Find, Count)

/** What becomes of every text that a model, a tool or a person writes. */
export type Texts = (plain: string) => string

const plainly: Texts = (plain) => plain

const handlers = (text: Texts) =>
  toolkit.toLayer({
    look: ({ of }) =>
      Effect.succeed(
        of === "order"
          ? text("Order A-1001 costs 1859 and is paid by card 7447-22; nothing else is known of it at this time.")
          : text("The zone Z-7710 covers the harbour, where 4410 parcels wait; none of them is of the person who asks.")
      ),
    find: () =>
      Effect.succeed(
        Either.getOrThrow(
          Coverage.absent({
            what: text("a lamp"),
            checked: [text("the shop")],
            notChecked: [text("the southern store")],
            cannotCover: [{ what: text("what was sold"), why: text("nobody writes it down") }],
            tryInstead: text("ask Ann")
          })
        )
      ),
    count: () =>
      Effect.succeed(
        Either.getOrThrow(
          Coverage.coverage({ pieces: 5150 }, { checked: [text("the shop")], notChecked: [text("the southern store")] })
        )
      )
  })

const says = (text: Texts, id: string, predicate: string, value: unknown) => ({
  subject: { kind: "order", id },
  predicate,
  value: typeof value === "string" ? text(value) : value
})

const script =
  (text: Texts): LLM.Chooser =>
  ({ iteration, messages }) => {
    switch (iteration) {
      case 1:
        return LLM.together(
          LLM.call("look", { of: "order", _findings: { proposition: text("the order is paid") } }, text("a")),
          LLM.call("look", { of: text("the zone") }, text("b"))
        )
      case 2: {
        const assertions = [says(text, "A-1001", "costs", 1859), says(text, "A-1001", "weighs", "4711 kg")]
        const previous = [
          { toolCallId: "r1", standing: "fact", assertions },
          { toolCallId: "r2", standing: "open" },
          { toolCallId: 7 }
        ]
        const _findings = { proposition: text("there is a lamp"), predicts: text("one in the shop"), previous }
        return LLM.call("find", { of: text("lamp"), _findings }, text("c"))
      }
      case 3: {
        const previous = [
          { toolCallId: "r3", standing: "ruled-out", line: text("no lamp in the shop") },
          { toolCallId: "r2", standing: "noise" }
        ]
        return LLM.call("count", { of: "Z-7710", _findings: { previous } }, text("d"))
      }
      case 4: {
        const previous = [
          { toolCallId: "r4", standing: "open", settles: text("a count of the southern store") },
          { toolCallId: "r9", standing: "fact", assertions: [says(text, "A-1001", "costs", 1860)] }
        ]
        return LLM.call("look", { of: "order", _findings: { previous } }, text("e"))
      }
      default: {
        const isAsked = messages.at(-1)?.message.content.includes("without a source") === true
        return LLM.say(text(isAsked ? "It costs 1859; 5150 pieces are left." : "It costs 1859, and 777123 are left."))
      }
    }
  }

/** The events of the run. */
export const play = (
  runId: string,
  text: Texts = plainly
): Effect.Effect<ReadonlyArray<Event.Event>, Agent.AgentError | Record.RecordError> => {
  const agent = Agent.make({ name: "clerk", instructions: "Look.", toolkit, findings: true, grounding: "guard" })
  return Agent.run(agent, text("What of my order, and is there a lamp?"), { runId }).pipe(
    Effect.zipRight(Shop.events(runId)),
    Effect.provide([Shop.services, handlers(text), LLM.layerScripted(script(text))])
  )
}
