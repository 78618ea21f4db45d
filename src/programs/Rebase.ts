/**
 * A `Rebase` is how a run that is being driven takes in what persons decide meanwhile: decisions are added to its record by
 * others, and change nothing of what it has done and not recorded yet.
 *
 * @internal
 */
import * as Chunk from "effect/Chunk"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as Event from "../kernel/Event.ts"
import * as Run from "../kernel/Run.ts"
import type * as State from "../kernel/State.ts"
import * as Record from "../services/Record.ts"
import * as FencedOut from "./FencedOut.ts"
import * as LoadedRun from "./LoadedRun.ts"

export interface Rebased {
  readonly state: State.State
  readonly decided: ReadonlyArray<Event.Entry>
}

/** What persons may add to the record of a run while it is driven. */
const isDecision = ({ event }: Event.Entry): boolean => event._tag === "ApprovalDecided" || event._tag === "CancelAsked"

/**
 * The run with all that its record holds, and then what is `pending`; nothing if others wrote more than decisions from `from`
 * on. Fails if they took the run over.
 */
export const onto = (
  record: Context.Tag.Service<Record.Record>,
  runId: string,
  from: number,
  pending: ReadonlyArray<Event.Event>
): Effect.Effect<Option.Option<Rebased>, Record.RecordError | FencedOut.FencedOut> =>
  Effect.gen(function* () {
    const { state } = yield* Effect.provideService(LoadedRun.load(runId), Record.Record, record)
    const decided = Chunk.toReadonlyArray(yield* Stream.runCollect(record.read(runId, { from, to: state.seq })))
    for (const { event } of decided.toReversed()) {
      if (event._tag === "RunClaimed") return yield* FencedOut.by(runId, event)
    }
    const isDecided = decided.length > 0 && decided.every(isDecision)
    return isDecided ? Option.some({ state: pending.reduce(Run.step, state), decided }) : Option.none()
  })
