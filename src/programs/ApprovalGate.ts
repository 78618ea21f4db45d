/**
 * An `ApprovalGate` is where a call waits for a person. What was approved is compared again with what is about to run: a
 * call whose arguments or whose tool are others by then is asked for anew, and not run.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Answering from "../kernel/Answering.ts"
import type * as Artifact from "../kernel/Artifact.ts"
import * as ApprovalRefusal from "../kernel/ApprovalRefusal.ts"
import * as ApprovalRule from "../kernel/ApprovalRule.ts"
import * as ApprovalTicket from "../kernel/ApprovalTicket.ts"
import type * as Call from "../kernel/Call.ts"
import type * as Event from "../kernel/Event.ts"
import * as Json from "../kernel/Json.ts"
import type * as Refusal from "../kernel/Refusal.ts"
import type * as State from "../kernel/State.ts"
import type * as WaitEvent from "../kernel/WaitEvent.ts"
import * as Waiting from "../kernel/Waiting.ts"

export interface Gate {
  readonly rules: ReadonlyArray<ApprovalRule.ApprovalRule>
  /** The run as it stands. */
  readonly state: State.State
}

/** A tool as far as its approval goes. */
export interface Gated {
  readonly declared: Event.ToolDeclared
  readonly approval: ApprovalRule.Verdict
  readonly encodeArgs: (decoded: unknown) => Effect.Effect<unknown, ReadonlyArray<string>>
}

export type Verdict =
  | { readonly _tag: "Pass" }
  | { readonly _tag: "Denied"; readonly refusal: Refusal.Refusal }
  | { readonly _tag: "Ask"; readonly asked: WaitEvent.ApprovalAsked }

const pass: Verdict = { _tag: "Pass" }

/** The arguments written out, and their canonical JSON. */
const written = (tool: Gated, decoded: unknown) =>
  Effect.flatMap(tool.encodeArgs(decoded), (args) =>
    Either.match(Json.canonical(args), {
      onLeft: ({ what }) => Effect.fail([what]),
      onRight: (canonical) => Effect.succeed({ args, argsDigest: ApprovalTicket.argsDigest(canonical) })
    })
  )

/** What becomes of a call whose arguments its schema accepts. */
export const judge = (
  { rules, state }: Gate,
  { runId, scope }: { readonly runId: string; readonly scope: Artifact.Scope },
  { call, started }: Call.Planned & { readonly _tag: "Run" },
  tool: Gated,
  decoded: unknown
): Effect.Effect<Verdict> => {
  const { toolCallId, toolName } = call
  const before = Waiting.askOf(state, toolCallId)
  const isFree = before === undefined && (started || (tool.approval === "allow" && rules.length === 0))
  // The answer is no act: rules are about tools of the application.
  if (isFree || Answering.isTool(state.started, toolName)) return Effect.succeed(pass)
  return Effect.map(Effect.either(written(tool, decoded)), (args): Verdict => {
    if (Either.isLeft(args)) {
      return { _tag: "Denied", refusal: ApprovalRefusal.unwritable(toolName, args.left) }
    }
    const judged = ApprovalRule.judge(rules, { toolName, args: args.right.args, scope }, tool.approval)
    // It passed this gate before its process was lost, whatever the rules say today: what it was approved as has to be so.
    if (!started && judged.verdict === "allow") return pass
    if (!started && judged.verdict === "deny") {
      return { _tag: "Denied", refusal: ApprovalRefusal.policy(toolName, judged.rule) }
    }
    const bound = {
      iteration: state.iteration,
      toolCallId,
      argsDigest: args.right.argsDigest,
      toolDigest: tool.declared.hash,
      seen: state.marks.at(-1)?.recordedHash ?? ""
    }
    const ticket = ApprovalTicket.of({ ...bound, runId })
    if (before?.asked.ticket === ticket && before.decided?.verdict === "approve") return pass
    return {
      _tag: "Ask",
      asked: {
        _tag: "ApprovalAsked",
        ...bound,
        toolName,
        ticket,
        args: args.right.args,
        ...(judged.rule === undefined ? {} : { rule: judged.rule }),
        ...(before === undefined ? {} : { replaces: before.asked.ticket })
      }
    }
  })
}
