/**
 * A `Bank` is an agent whose payments need a person, and what its handlers did.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Effect, Schema } from "effect"
import * as Agent from "../../src/programs/Agent.ts"
import * as Approval from "../../src/programs/Approval.ts"
import type * as AgentOptions from "../../src/programs/AgentOptions.ts"
import * as LLM from "../../src/services/LLM.ts"

const Look = Tool.make("look", { parameters: { of: Schema.String }, success: Schema.String }).annotate(
  Tool.Readonly,
  true
)
const Pay = Tool.make("pay", {
  parameters: { to: Schema.String, amount: Schema.NumberFromString },
  success: Schema.String
}).annotate(Approval.Approval, "ask")
const Mail = Tool.make("mail", { parameters: { to: Schema.String }, success: Schema.String })

export const toolkit = Toolkit.make(Look, Pay, Mail)

type Options = Partial<AgentOptions.Options<typeof toolkit.tools>>

export const agent = (options: Options = {}) =>
  Agent.make({ name: "bank", instructions: "Pay what is due.", toolkit, ...options })

/** What ran, in order. */
export type Ran = Array<string>

export const handlers = (ran: Ran) => {
  const did = (what: string) =>
    Effect.as(
      Effect.sync(() => ran.push(what)),
      what
    )
  return toolkit.toLayer({
    look: ({ of }) => did(`look ${of}`),
    pay: ({ amount, to }) => did(`pay ${amount} to ${to}`),
    mail: ({ to }) => did(`mail ${to}`)
  })
}

export const pay = (id: string, to = id, amount = "5") => LLM.call("pay", { to, amount }, id)
export const look = (id: string) => LLM.call("look", { of: id }, id)
export const mail = (id: string) => LLM.call("mail", { to: id }, id)

/** A model that makes some calls, and then says what they came to. */
export const model =
  (...calls: ReadonlyArray<LLM.Line>): LLM.Chooser =>
  ({ iteration, messages }) => {
    if (iteration === 1) return LLM.together(...calls)
    const results = messages.flatMap(({ message }) =>
      message.role === "tool" ? [`${message.toolCallId} ${message.outcome}`] : []
    )
    return LLM.say(results.join(", "))
  }
