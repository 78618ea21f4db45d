/**
 * A `Decision` is what a person says of a call that waits for it: yes or no to its ticket, or what became of it. It is
 * judged by the record of the run. What is stale, forged, doubled, late or ambiguous is refused, and changes nothing.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Notice from "./Notice.ts"
import * as Printable from "./Printable.ts"
import * as Problem from "./Problem.ts"
import * as State from "./State.ts"
import type * as WaitEvent from "./WaitEvent.ts"
import * as Waiting from "./Waiting.ts"

/** Why a decision was not taken. Nothing was recorded, and nothing runs because of it. */
export class DecisionRefused extends Schema.TaggedError<DecisionRefused>()("DecisionRefused", {
  /**
   * `no-run`: there is none of that id. `unknown`: the run has asked nothing of the kind. `stale`: it is about something
   * else than the run asks for now. `doubled`, `contradicted`: somebody has said the same already, or the opposite.
   * `late`: the call is settled, or the run has ended. `ambiguous`: several calls have the id. `invalid`: it says too little.
   */
  reason: Schema.Literal("no-run", "unknown", "stale", "doubled", "contradicted", "late", "ambiguous", "invalid"),
  runId: Schema.String,
  ...Problem.fields
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

/** `ticket` and `argsDigest` are those of the pending approval that was shown. With `toolCallId`, it has to be that call's. */
export interface Approval {
  readonly ticket: string
  readonly argsDigest: string
  readonly verdict: WaitEvent.Verdict
  /** Who decides. */
  readonly by: string
  readonly note?: string
  readonly toolCallId?: string
}

/** `pass` says which call is meant, if several passes have calls of that id. */
export interface Resolution {
  readonly toolCallId: string
  readonly pass?: number
  readonly verdict: WaitEvent.Found
  readonly by: string
  /** How they know. */
  readonly because: string
}

type Judged<A> = Either.Either<A, DecisionRefused>

const codes: { readonly [R in DecisionRefused["reason"]]: string } = {
  "no-run": "WF-APR-010",
  unknown: "WF-APR-011",
  stale: "WF-APR-012",
  doubled: "WF-APR-013",
  contradicted: "WF-APR-014",
  late: "WF-APR-015",
  ambiguous: "WF-APR-016",
  invalid: "WF-APR-017"
}

const refuse = (
  runId: string,
  reason: DecisionRefused["reason"],
  what: string,
  next: string,
  more: { readonly expected?: string; readonly found?: string; readonly where?: string } = {}
): Either.Either<never, DecisionRefused> =>
  Either.left(
    new DecisionRefused({
      reason,
      runId,
      code: codes[reason],
      what,
      where: `run ${Printable.quote(runId)}`,
      ...more,
      next,
      outcome: "not-applied",
      retry: reason === "stale" || reason === "ambiguous" ? "after-human" : "never"
    })
  )

const look = "Look at what the run waits for now, and decide on that."

const maxText = 4_000

const textProblem = (name: string, text: string): string | undefined => {
  if (text.trim() === "") return `${name} is empty.`
  if (text.length > maxText) return `${name} has ${text.length} characters; the limit is ${maxText}.`
  return Printable.wellFormed(text) === text ? undefined : `${name} holds half a surrogate pair.`
}

/** What every decision needs: a run that goes on, and words that can be kept. */
const admit = (
  runId: string,
  state: State.State,
  texts: ReadonlyArray<readonly [string, string]>
): Judged<undefined> => {
  if (state.started === undefined) {
    return refuse(runId, "no-run", `There is no run ${Printable.quote(runId)}.`, "Name a run that is on the record.")
  }
  for (const [name, text] of texts) {
    const problem = textProblem(name, text)
    if (problem !== undefined) return refuse(runId, "invalid", problem, "Say who decides, and why, in a few words.")
  }
  return Either.right(undefined)
}

const named = (toolName: string, toolCallId: string, iteration: number): string =>
  `the call ${Printable.quote(toolCallId)} of ${Printable.quote(toolName)} in pass ${iteration}`

const askedBy = (state: State.State, ticket: string): Waiting.Ask | undefined =>
  (state.waiting ?? Waiting.none).asks.findLast(({ asked }) => asked.ticket === ticket)

const decided = (
  runId: string,
  { asked, decided }: Waiting.Ask,
  verdict: WaitEvent.Verdict
): Either.Either<never, DecisionRefused> => {
  const { iteration, toolCallId, toolName } = asked
  const was = decided?.verdict === "approve" ? "approved" : "denied"
  const what = `${Printable.quote(decided?.by ?? "")} has ${was} ${named(toolName, toolCallId, iteration)} already.`
  return decided?.verdict === verdict
    ? refuse(runId, "doubled", what, "Nothing more is needed.")
    : refuse(runId, "contradicted", what, "The first decision stands. Talk to whoever made it.")
}

/** The event that a decision on a ticket is, or why it is none. */
export const approval = (runId: string, state: State.State, given: Approval): Judged<WaitEvent.ApprovalDecided> => {
  const { argsDigest, by, note, ticket, verdict } = given
  const texts: ReadonlyArray<readonly [string, string]> = [
    ["by", by],
    ...(note === undefined ? [] : [["note", note] as const])
  ]
  const admitted = admit(runId, state, texts)
  if (Either.isLeft(admitted)) return Either.left(admitted.left)
  const found = askedBy(state, ticket)
  if (found === undefined) {
    return refuse(runId, "unknown", `The run has asked for no approval of the ticket ${Printable.quote(ticket)}.`, look)
  }
  const { asked } = found
  const { iteration, seen, toolCallId, toolName } = asked
  const call = named(toolName, toolCallId, iteration)
  if (given.toolCallId !== undefined && given.toolCallId !== toolCallId) {
    const what = `The ticket is that of ${call}, not of ${Printable.quote(given.toolCallId)}.`
    return refuse(runId, "stale", what, look)
  }
  if (argsDigest !== asked.argsDigest) {
    return refuse(runId, "stale", `The decision is about other arguments than those of ${call}.`, look, {
      expected: `the digest ${asked.argsDigest}`,
      found: Printable.quote(argsDigest)
    })
  }
  const isOpen = State.unsettled(state).some((one) => one.toolCallId === toolCallId)
  if (isOpen && iteration === state.iteration && Waiting.askOf(state, toolCallId) !== found) {
    return refuse(runId, "stale", `The approval of ${call} was asked for again, for something else.`, look)
  }
  if (found.decided !== undefined) return decided(runId, found, verdict)
  if (state.ended !== undefined || iteration !== state.iteration || !isOpen) {
    return refuse(runId, "late", `${call[0]?.toUpperCase()}${call.slice(1)} waits no more.`, "Nothing was run for it.")
  }
  return Either.right({
    _tag: "ApprovalDecided",
    iteration,
    toolCallId,
    toolName,
    ticket,
    verdict,
    argsDigest,
    seen,
    by,
    ...(note === undefined ? {} : { note })
  })
}

const verdictText = (verdict: WaitEvent.Found): string =>
  verdict === "applied" ? "it took effect" : "it did not take effect"

/** What the model reads of a call that a person has found out about. */
const told = ({ because, iteration, toolCallId, toolName, verdict }: Omit<WaitEvent.CallResolved, "told">): string =>
  Notice.of("what a person found out", [
    `The outcome of ${named(toolName, toolCallId, iteration)} was unknown. A person has looked: ${verdictText(verdict)}.`,
    `They know because: ${Printable.quote(because, 1_000)}`,
    verdict === "applied"
      ? "It need not be called again for the same end."
      : "It may be called again, if it is still needed."
  ])

/** The event that a finding on a lost call is, or why it is none. */
export const resolution = (runId: string, state: State.State, given: Resolution): Judged<WaitEvent.CallResolved> => {
  const { because, by, pass, toolCallId, verdict } = given
  const admitted = admit(runId, state, [
    ["by", by],
    ["because", because]
  ])
  if (Either.isLeft(admitted)) return Either.left(admitted.left)
  const isMeant = (one: { readonly iteration: number; readonly toolCallId: string }): boolean =>
    one.toolCallId === toolCallId && (pass === undefined || one.iteration === pass)
  const open = state.lost.filter(isMeant)
  const [found, other] = open
  const before = (state.waiting ?? Waiting.none).resolved.findLast(isMeant)
  const where = pass === undefined ? "" : ` in pass ${pass}`
  if (found === undefined) {
    if (before !== undefined) {
      const what = `${Printable.quote(before.by)} has found of ${named(before.toolName, toolCallId, before.iteration)} that ${verdictText(before.verdict)}.`
      return before.verdict === verdict
        ? refuse(runId, "doubled", what, "Nothing more is needed.")
        : refuse(runId, "contradicted", what, "The first finding stands. Talk to whoever made it.")
    }
    const what = `The run has no call ${Printable.quote(toolCallId)}${where} whose outcome is unknown.`
    return refuse(runId, "unknown", what, "Look at what the run waits for now.")
  }
  if (other !== undefined) {
    const passes = open.map(({ iteration }) => iteration).join(", ")
    const what = `The outcomes of ${open.length} calls ${Printable.quote(toolCallId)} are unknown: those of passes ${passes}.`
    return refuse(runId, "ambiguous", what, "Say the pass, too.")
  }
  if (state.ended !== undefined) {
    return refuse(
      runId,
      "late",
      "The run has ended; its record takes nothing more.",
      "Follow the run up and say it there."
    )
  }
  const { iteration, toolName } = found
  const event = { _tag: "CallResolved", iteration, toolCallId, toolName, verdict, by, because } as const
  return Either.right({ ...event, told: told(event) })
}
