/**
 * A `ServedResult` is what a tool returned as the model is served it: as text, withheld if it is over the ceiling, and placed
 * if it is long. What it declares and what routes read in it is taken before that.
 *
 * @internal
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as ArtifactEvent from "../kernel/ArtifactEvent.ts"
import * as Call from "../kernel/Call.ts"
import type * as CallOutcome from "../kernel/CallOutcome.ts"
import type * as ClaimCheck from "../kernel/ClaimCheck.ts"
import type * as ClaimEvent from "../kernel/ClaimEvent.ts"
import * as Coverage from "../kernel/Coverage.ts"
import * as CoverageEvent from "../kernel/CoverageEvent.ts"
import type * as Event from "../kernel/Event.ts"
import * as Placement from "../kernel/Placement.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Refusal from "../kernel/Refusal.ts"
import * as Semantics from "../kernel/Semantics.ts"
import type * as ArtifactLoan from "./ArtifactLoan.ts"

/** How results are served. */
export interface Serving {
  /** A longer result is withheld. */
  readonly maxResultChars: number
  readonly placement?: Placement.Placement
  /** What the agent claims: what results settle of it is recorded. */
  readonly claims?: ReadonlyArray<ClaimCheck.DeclaredClaim>
  /** The values that decisions will read in a result: a text as it is, or else JSON. */
  readonly fieldsOf: (toolName: string, result: string, isText: boolean) => ReadonlyArray<CallOutcome.Field> | undefined
}

/** The settlement of a call, and what its result declared of where the tool looked. */
export interface Came {
  readonly declared: ReadonlyArray<CoverageEvent.CoverageEvent | ClaimEvent.SemanticsDeclared>
  readonly event: Event.ToolSettled
}

/** The text of a result: strings as they are, everything else as JSON. */
export const textOf = (value: unknown): Either.Either<string, ReadonlyArray<string>> =>
  typeof value === "string"
    ? Either.right(Printable.wellFormed(value))
    : Either.map(
        Either.try({ try: () => JSON.stringify(value), catch: () => ["the result must be JSON; it is not"] }),
        (text) => Printable.wellFormed(text ?? "null")
      )

export const returned = (
  { iteration, toolCallId, toolName }: ArtifactEvent.Call,
  served: string,
  more: Partial<Event.ToolSettled> = {}
): Event.ToolSettled => ({ _tag: "ToolSettled", iteration, toolCallId, toolName, outcome: "ran-ok", served, ...more })

/** What the model is served for a text: itself, if it need not be placed or cannot be. */
const place = (
  placement: Placement.Placement | undefined,
  { bound, tell }: ArtifactLoan.Loan,
  call: ArtifactEvent.Call,
  limit: Duration.Duration,
  text: string,
  isText: boolean
): Effect.Effect<Pick<Event.ToolSettled, "served" | "placed">> => {
  if (placement === undefined || !Placement.isOver(placement, text)) return Effect.succeed({ served: text })
  const put = bound.put(Placement.input(call.toolName, text, isText))
  return Effect.map(Effect.either(Effect.timeoutOption(Effect.disconnect(put), limit)), (came) => {
    if (Either.isRight(came) && Option.isSome(came.right)) {
      const placed = Placement.placed(came.right.value.meta, text.length, placement)
      return { served: JSON.stringify(placed), placed }
    }
    if (Either.isRight(came)) {
      tell({ _tag: "ArtifactRefused", ...call, op: "put", reason: "unavailable", detail: "The store did not answer." })
    }
    return { served: text }
  })
}

/** What a result settles of what is claimed: nothing, or one event. */
const semantics = (
  claims: ReadonlyArray<ClaimCheck.DeclaredClaim>,
  { iteration, toolCallId, toolName }: ArtifactEvent.Call,
  result: unknown
): ReadonlyArray<ClaimEvent.SemanticsDeclared> => {
  const rows = Semantics.claimed(claims.length === 0 ? [] : Semantics.read(result), claims)
  return rows.length === 0 ? [] : [{ _tag: "SemanticsDeclared", iteration, toolCallId, toolName, rows }]
}

/** What a call came to that returned `value`. */
export const of = (
  { claims = [], fieldsOf, maxResultChars, placement }: Serving,
  tool: {
    readonly encodeSuccess: (value: unknown) => Effect.Effect<unknown, ReadonlyArray<string>>
    readonly timeout: Duration.Duration
  },
  call: ArtifactEvent.Call,
  loan: ArtifactLoan.Loan,
  value: unknown
): Effect.Effect<Came> =>
  Effect.gen(function* () {
    const { iteration, toolCallId, toolName } = call
    const failed = (refusal: Refusal.Refusal) =>
      Call.settlement(iteration, {
        _tag: "Settle",
        call: { toolCallId, toolName, args: "" },
        outcome: "ran-error",
        refusal
      })
    const encoded = yield* Effect.either(
      Effect.flatMap(tool.encodeSuccess(value), (result) => Effect.map(textOf(result), (text) => ({ result, text })))
    )
    if (Either.isLeft(encoded)) {
      return { declared: [], event: failed(Refusal.toolOutputInvalid(toolName, encoded.left)) }
    }
    const { result, text } = encoded.right
    const read = Coverage.read(result)
    // What a tool looked at is kept, even if its result is too large to be served.
    const declared = [
      ...read.declared.map((one) => CoverageEvent.of({ iteration, toolCallId, toolName }, one)),
      ...semantics(claims, call, read.grounds.at(-1))
    ]
    if (text.length > maxResultChars) {
      return { declared, event: failed(Refusal.toolOutputTooLarge(toolName, maxResultChars, text.length)) }
    }
    const isText = typeof result === "string"
    // Whether it is placed or not, decisions read the same.
    const fields = fieldsOf(toolName, text, isText)
    const { placed, served } = yield* place(placement, loan, call, tool.timeout, text, isText)
    const event = returned(call, served, {
      ...(read.outcome === undefined ? {} : { outcome: read.outcome }),
      ...(placed === undefined ? {} : { placed }),
      ...(fields === undefined ? {} : { fields })
    })
    return { declared, event }
  })
