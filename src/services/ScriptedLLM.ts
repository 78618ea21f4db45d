/**
 * A `ScriptedLLM` is a model whose replies are written down beforehand: the double for tests, examples and benchmarks.
 *
 * @internal
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type * as Event from "../kernel/Event.ts"
import * as Problem from "../kernel/Problem.ts"
import type * as Usage from "../kernel/Usage.ts"
import type * as Wire from "../kernel/Wire.ts"
import * as Instant from "./Instant.ts"
import type * as LLM from "./LLM.ts"
import { failure, LLMError, type Reason } from "./LLMError.ts"

/** A call to make. `args` is written as JSON; `rawArgs` is sent as it is, so that it need not be JSON at all. */
export type Call = { readonly toolName: string; readonly toolCallId?: string } & (
  | { readonly args?: unknown; readonly rawArgs?: never }
  | { readonly rawArgs: string; readonly args?: never }
)

/** A failure after `after` deltas of text; at once if that is absent. */
export type Fault =
  | LLMError
  | { readonly reason: Reason; readonly after?: number; readonly what?: string; readonly retry?: Problem.Retry }

/** One reply. `deltas` is its text in the pieces in which it is streamed; with it, `text` is not read. */
export interface Line {
  readonly text?: string
  readonly deltas?: ReadonlyArray<string>
  readonly reasoning?: string
  readonly toolCalls?: ReadonlyArray<Call>
  readonly stopReason?: Event.StopReason
  readonly usage?: Usage.Usage
  readonly model?: string
  /** Slept before the first part. */
  readonly delay?: Duration.DurationInput
  readonly fault?: Fault
}

/** A reply, or a function of what is asked. `index` counts the calls of this layer from 0. */
export type Step = string | Line | ((wire: Wire.Wire, index: number) => string | Line)

/** A script whose steps are chosen by what is asked. `size` says how many it has, if that is known. */
export interface Chooser {
  (wire: Wire.Wire, index: number): Step | undefined
  readonly size?: number
}

export type Steps = ReadonlyArray<Step> | Chooser

export interface Options {
  /** How many of the last wires `calls` returns; 256 if absent. */
  readonly remember?: number
}

/** The script was not read to its end. */
export class ScriptIncomplete extends Schema.TaggedError<ScriptIncomplete>()("ScriptIncomplete", {
  steps: Schema.NonNegativeInt,
  used: Schema.NonNegativeInt,
  ...Problem.fields
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

/** What became of a script. */
export class Script extends Context.Tag("wherefore/services/Script")<
  Script,
  {
    /** Fails if steps are left. By pass, what counts is the last pass that was asked for. */
    readonly assertComplete: Effect.Effect<void, ScriptIncomplete>
    /** The wires that were sent, the oldest first. */
    readonly calls: Effect.Effect<ReadonlyArray<Wire.Wire>>
  }
>() {}

/** A reply of text. */
export const say = (text: string, more: Omit<Line, "text"> = {}): Line => ({ text, ...more })

/** A reply that calls one tool. */
export const call = (toolName: string, args: unknown = {}, toolCallId?: string): Line => ({
  toolCalls: [{ toolName, args, ...(toolCallId === undefined ? {} : { toolCallId }) }]
})

/** A reply that fails, after `after` deltas of its text if it has some. */
export const fail = (
  reason: Reason,
  more: Omit<Exclude<Fault, LLMError>, "reason"> & Pick<Line, "deltas"> = {}
): Line => {
  const { deltas, ...fault } = more
  return { ...(deltas === undefined ? {} : { deltas }), fault: { reason, ...fault } }
}

/** Several replies as one: their texts joined, their calls in parallel; for the rest the last one speaks. */
export const together = (...lines: ReadonlyArray<string | Line>): Line =>
  lines.map(toLine).reduce(
    (whole, line) => ({
      ...whole,
      ...line,
      deltas: [...textOf(whole), ...textOf(line)],
      toolCalls: [...(whole.toolCalls ?? []), ...(line.toolCalls ?? [])]
    }),
    {}
  )

/** Reads the step of the wire's own pass, wherever and whenever that pass is run. */
export const byPass = (steps: ReadonlyArray<Step>): Chooser =>
  Object.assign((wire: Wire.Wire) => steps[wire.iteration - 1], { size: steps.length })

const toLine = (value: string | Line): Line => (typeof value === "string" ? { text: value } : value)

const textOf = ({ deltas, text }: Line): ReadonlyArray<string> => deltas ?? (text === undefined ? [] : [text])

// Named as `Message.identify` would name them: by the pass, so that a resumed run never uses one twice.
const toPart = ({ args, rawArgs, toolCallId, toolName }: Call, iteration: number, index: number): LLM.Part => ({
  _tag: "ToolCall",
  toolCallId: toolCallId ?? `call-${iteration}-${index}`,
  toolName,
  args: rawArgs ?? JSON.stringify(args ?? {})
})

const faultOf = (fault: Fault): LLMError =>
  fault instanceof LLMError
    ? fault
    : failure(fault.reason, {
        what: fault.what ?? "The script says that this call fails.",
        ...(fault.retry === undefined ? {} : { retry: fault.retry })
      })

/** The parts of a reply; with a fault, those that come before it. */
const play = (line: Line, iteration: number): Instant.Given => {
  const { fault, model, reasoning, stopReason, toolCalls = [], usage = {} } = line
  const after = fault === undefined ? Infinity : fault instanceof LLMError ? undefined : fault.after
  const parts: Array<LLM.Part> = []
  if (fault !== undefined && after === undefined) return { parts, error: faultOf(fault) }
  if (reasoning !== undefined) parts.push({ _tag: "Reasoning", delta: reasoning })
  for (const delta of textOf(line).slice(0, after)) parts.push({ _tag: "Text", delta })
  if (fault !== undefined) return { parts, error: faultOf(fault) }
  for (const [index, call] of toolCalls.entries()) parts.push(toPart(call, iteration, index))
  parts.push({
    _tag: "Finish",
    stopReason: stopReason ?? (toolCalls.length > 0 ? "tool-calls" : "stop"),
    usage,
    ...(model === undefined ? {} : { model })
  })
  return { parts }
}

/** A model that answers from a script, and what can be asked about the script afterwards. */
export interface Scripted {
  readonly llm: typeof LLM.LLM.Service
  readonly script: typeof Script.Service
}

export const make = (steps: Steps, { remember = 256 }: Options = {}): Effect.Effect<Scripted> =>
  Effect.sync(() => {
    const choose: Chooser =
      typeof steps === "function"
        ? steps
        : Object.assign((_: Wire.Wire, at: number) => steps[at], { size: steps.length })
    const wires: Array<Wire.Wire> = []
    let index = 0
    let used = 0

    const unscripted = (at: number, wire: Wire.Wire) =>
      failure("Unscripted", {
        what: `The script has no step for call ${at + 1}.`,
        where: `pass ${wire.iteration}`,
        ...(choose.size === undefined ? {} : { expected: `at most ${choose.size} steps` })
      })

    const next = (wire: Wire.Wire): Line | LLMError => {
      const at = index++
      used = Math.max(used, typeof steps === "function" ? wire.iteration : index)
      wires.push(wire)
      if (wires.length > remember) wires.shift()
      const step = choose(wire, at)
      if (step === undefined) return unscripted(at, wire)
      return toLine(typeof step === "function" ? step(wire, at) : step)
    }

    const read = (wire: Wire.Wire) => (): Instant.Given => {
      const line = next(wire)
      if (line instanceof LLMError) return { parts: [], error: line }
      return { ...play(line, wire.iteration), ...(line.delay === undefined ? {} : { delay: line.delay }) }
    }

    const llm = {
      model: { provider: "scripted", id: "script" },
      stream: (wire: Wire.Wire): Stream.Stream<LLM.Part, LLMError> => Instant.make(read(wire))
    }

    const assertComplete = Effect.suspend(() => {
      const { size } = choose
      if (size === undefined || used >= size) return Effect.void
      return new ScriptIncomplete({
        steps: size,
        used,
        code: "WF-LLM-010",
        what: `The script has ${size} steps and the program used ${used} of them.`,
        next: "Remove the steps that are left over, or find out why the program stopped asking.",
        outcome: "not-applied",
        retry: "never"
      })
    })

    return { llm, script: { assertComplete, calls: Effect.sync(() => wires.slice()) } }
  })
