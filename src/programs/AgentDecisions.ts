/**
 * `AgentDecisions` put on the record of a run what persons say of its calls. They need the record alone: no process of the
 * run, and no agent.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Decision from "../kernel/Decision.ts"
import type * as Event from "../kernel/Event.ts"
import type * as Outcome from "../kernel/Outcome.ts"
import * as Run from "../kernel/Run.ts"
import type * as State from "../kernel/State.ts"
import * as Waiting from "../kernel/Waiting.ts"
import * as Record from "../services/Record.ts"
import * as LoadedRun from "./LoadedRun.ts"

/** What a run still waits for. With nothing pending, it goes on when it is resumed. */
export interface Decided {
  readonly runId: string
  readonly pending: ReadonlyArray<Outcome.Pending>
}

type Failure = Decision.DecisionRefused | Record.RecordError | Record.RecordConflict

/** How often a decision is judged anew because something else was recorded meanwhile. */
const mostTries = 16

const record = (
  runId: string,
  judge: (state: State.State) => Either.Either<Event.Event, Decision.DecisionRefused>
): Effect.Effect<Decided, Failure, Record.Record> =>
  Effect.gen(function* () {
    const { append } = yield* Record.Record
    // A run that is not there is judged as one of which nothing is known.
    const { state } = yield* Effect.catchIf(
      LoadedRun.load(runId),
      ({ reason }) => reason === "RunNotFound",
      () => Effect.succeed({ state: Run.initial })
    )
    const event = yield* judge(state)
    yield* append(runId, state.seq, [event])
    return { runId, pending: Waiting.pending(Run.step(state, event)) }
  }).pipe(Effect.retry({ times: mostTries, while: (error) => error._tag === "RecordConflict" }))

/**
 * Says yes or no to a call that waits for approval, by its ticket and the digest of its arguments. It runs, or is settled
 * `denied`, when the run is resumed. Fails with `DecisionRefused` if that is not what the run waits for now.
 */
export const decide = (runId: string, given: Decision.Approval): Effect.Effect<Decided, Failure, Record.Record> =>
  record(runId, (state) => Decision.approval(runId, state, given))

/**
 * Says what became of a call whose outcome nobody knew. The model is told when the run is resumed. Fails with
 * `DecisionRefused` if the run has no such call, or several.
 */
export const resolve = (runId: string, given: Decision.Resolution): Effect.Effect<Decided, Failure, Record.Record> =>
  record(runId, (state) => Decision.resolution(runId, state, given))
