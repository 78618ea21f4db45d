import * as Call from "../../src/kernel/Call.ts"
import type * as Event from "../../src/kernel/Event.ts"
import * as Message from "../../src/kernel/Message.ts"
import * as Piece from "../../src/kernel/Piece.ts"
import * as Run from "../../src/kernel/Run.ts"
import type * as State from "../../src/kernel/State.ts"
import type * as Wire from "../../src/kernel/Wire.ts"

export const tool = (name: string, replay: Event.ReplayClass = "pure", schema: unknown = { type: "object" }) =>
  Run.declareTool({ name, schema }, replay)

export const piece = (id: string, text: string) => Run.declarePiece(Piece.fact(id, text))

export const spec = (more: Partial<Run.Spec> = {}): Run.Spec => ({
  pieces: [],
  tools: [],
  parameters: {},
  limits: {},
  elapsedMs: 0,
  ...more
})

export const started = (input = "Go.", more: Partial<Event.RunStarted> = {}): Event.RunStarted => ({
  _tag: "RunStarted",
  runId: "r",
  agent: "a",
  manifest: { limits: {} },
  input,
  ...more
})

export interface Reply {
  readonly content?: string
  /** Ids may be empty or repeated, as models give them. */
  readonly calls?: ReadonlyArray<{ readonly toolCallId: string; readonly toolName: string; readonly args: string }>
  readonly more?: Partial<Event.ModelReplied>
}

export const replied = (iteration: number, { calls = [], content = "", more = {} }: Reply): Event.ModelReplied => ({
  _tag: "ModelReplied",
  iteration,
  content,
  toolCalls: Message.identify(iteration, calls),
  ...more
})

export const call = (toolCallId: string, toolName = "look", args = "{}") => ({ toolCallId, toolName, args })

export const called = (
  iteration: number,
  toolCallId: string,
  more: Partial<Event.ToolCalled> = {}
): Event.ToolCalled => ({
  _tag: "ToolCalled",
  iteration,
  toolCallId,
  toolName: "look",
  args: {},
  replay: "pure",
  ...more
})

export const settled = (
  iteration: number,
  toolCallId: string,
  more: Partial<Event.ToolSettled> = {}
): Event.ToolSettled => ({
  _tag: "ToolSettled",
  iteration,
  toolCallId,
  toolName: "look",
  outcome: "ran-ok",
  served: `result of ${toolCallId}`,
  ...more
})

export interface Played {
  readonly events: ReadonlyArray<Event.Event>
  readonly states: ReadonlyArray<State.State>
  /** What the model was sent, in order. */
  readonly sent: ReadonlyArray<Wire.Wire>
  readonly state: State.State
}

/**
 * A run in which the model says what it is given, and every call that may run comes to `outcome`. The agent may be
 * another one with each pass: a function gives the one of a state.
 */
export const play = (
  agent: Run.Spec | ((state: State.State) => Run.Spec),
  reply: (wire: Wire.Wire) => Reply,
  outcome: (call: Message.ToolCall) => Partial<Event.ToolSettled> = () => ({})
): Played => {
  const events: Array<Event.Event> = []
  const states: Array<State.State> = []
  const sent: Array<Wire.Wire> = []
  let state = Run.initial
  const happen = (...happened: ReadonlyArray<Event.Event>) => {
    for (const event of happened) {
      events.push(event)
      state = Run.step(state, event)
      states.push(state)
    }
  }
  happen(started())
  for (let steps = 0; steps < 5_000; steps++) {
    const { command, events: decided } = Run.decide(typeof agent === "function" ? agent(state) : agent, state)
    happen(...decided)
    switch (command._tag) {
      case "Finish":
        return { events, states, sent, state }
      case "CallModel":
        sent.push(command.wire)
        happen(replied(command.wire.iteration, reply(command.wire)))
        break
      case "RunTools":
        for (const planned of command.calls) {
          const { toolCallId, toolName } = planned.call
          const verdict = Call.verdictOf(state, planned)
          if (planned._tag === "Settle") happen(...verdict, Call.settlement(command.iteration, planned))
          else {
            const { args, own, owner, replay } = planned
            const whose = owner === undefined ? {} : { owner }
            happen(called(command.iteration, toolCallId, { toolName, args, ...whose, replay }))
            const came = own === undefined ? outcome(planned.call) : { served: own.served }
            happen(...verdict, settled(command.iteration, toolCallId, { toolName, ...came }))
          }
        }
    }
  }
  throw new Error("The run does not end.")
}
