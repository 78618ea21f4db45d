/** A `WhyPlay` is a run in which the model says what is written down, and its chains as lines. */
import type * as Event from "../../src/kernel/Event.ts"
import * as Message from "../../src/kernel/Message.ts"
import type * as Piece from "../../src/kernel/Piece.ts"
import * as Run from "../../src/kernel/Run.ts"
import type * as Why from "../../src/kernel/Why.ts"

export interface Reply {
  readonly say?: string
  readonly calls?: ReadonlyArray<readonly [tool: string, args: string, result: string, id?: string]>
}

export const tool = (name: string, description?: string) =>
  Run.declareTool({ name, ...(description === undefined ? {} : { description }), schema: { type: "object" } }, "pure")

export interface Setting {
  readonly input?: string
  readonly pieces?: ReadonlyArray<Piece.Piece>
  readonly tools?: ReadonlyArray<Event.ToolDeclared>
}

/** The record of a run in which the model says what is written here, and the tools return what is written here. */
export const play = (
  replies: ReadonlyArray<Reply>,
  { input = "Go.", pieces = [], tools = [tool("look")] }: Setting = {}
) => {
  const events: Array<Event.Event> = []
  let state = Run.initial
  const happen = (...happened: ReadonlyArray<Event.Event>) => {
    for (const event of happened) {
      events.push(event)
      state = Run.step(state, event)
    }
  }
  const spec: Run.Spec = {
    pieces: pieces.map((one) => Run.declarePiece(one)),
    tools,
    parameters: {},
    limits: {},
    elapsedMs: 0
  }
  happen({ _tag: "RunStarted", runId: "r", agent: "a", manifest: { limits: {} }, input })
  for (;;) {
    const decision = Run.decide(spec, state)
    happen(...decision.events)
    const { command } = decision
    if (command._tag === "Finish") return events
    const reply = replies[state.iteration - 1] ?? { say: "Done." }
    if (command._tag === "CallModel") {
      const { iteration } = command.wire
      const calls = (reply.calls ?? []).map(([toolName, args, , id = ""]) => ({ toolCallId: id, toolName, args }))
      const toolCalls = Message.identify(iteration, calls)
      happen({ _tag: "ModelReplied", iteration, content: reply.say ?? "", toolCalls })
    } else if (command._tag === "RunTools") {
      command.calls.forEach(({ call: { toolCallId, toolName } }, index) => {
        const served = reply.calls?.[index]?.[2] ?? ""
        const named = { iteration: command.iteration, toolCallId, toolName }
        happen({ _tag: "ToolCalled", ...named, args: {}, replay: "pure" })
        happen({ _tag: "ToolSettled", ...named, outcome: "ran-ok", served })
      })
    }
  }
}

/** A chain as indented lines, each node once. */
export const draw = (chain: Why.Chain): ReadonlyArray<string> => {
  const seen = new Set<string>()
  const line = (node: Why.Node): string => {
    switch (node.kind) {
      case "value":
        return `${node.value} in ${node.place} of pass ${node.pass}`
      case "carrier":
        return `${node.pieceId} on pass ${node.pass}: ${node.spans.map(({ by, text }) => [text, ...by].join(" ~ ")).join(" & ")}`
      case "call":
        return `${node.toolName} ${node.args}`
      case "root":
        return node.root
      case "map":
        return `${node.mapId} on pass ${node.pass}: ${node.what}`
      case "artifact":
        return node.what
      case "derivation":
        return `${node.op} ${node.formula} (${node.basis})`
    }
  }
  const walk = (id: string, depth: number): ReadonlyArray<string> => {
    const node = chain.nodes.find((one) => one.id === id)
    if (node === undefined) return [`no node ${id}`]
    const indent = "  ".repeat(depth)
    if (seen.has(id)) return [`${indent}${line(node)} (above)`]
    seen.add(id)
    return [
      indent + line(node),
      ...chain.edges.filter(({ from }) => from === id).flatMap(({ to }) => walk(to, depth + 1)),
      ...chain.gaps.filter(({ at }) => at === id).map(({ kind }) => `${indent}  gap: ${kind}`)
    ]
  }
  const reached = new Set(chain.edges.map(({ to }) => to))
  return [
    ...chain.nodes.filter(({ id }) => !reached.has(id)).flatMap(({ id }) => walk(id, 0)),
    ...chain.gaps.filter(({ at }) => at === undefined).map(({ kind }) => `gap: ${kind}`)
  ]
}

export const looked = (say: string, result: string, args = "{}"): ReadonlyArray<Reply> => [
  { calls: [["look", args, result]] },
  { say }
]
