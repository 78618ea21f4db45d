/**
 * `People` say what a run waits for: most of them the right thing once, some of them something else before, after, or at the
 * same time.
 */
import { Effect } from "effect"
import { Agent, type Decision, type Event, type Outcome, Record } from "../../src/index.ts"
import * as Storage from "./Storage.ts"
import type * as World from "./World.ts"

/** What somebody was shown of a call that waits. */
interface Shown {
  readonly ticket: string
  readonly argsDigest: string
}

export interface People {
  /** Says what can be said. Whether something is left that nobody will ever say. */
  readonly attend: (runId: string, pending: ReadonlyArray<Outcome.Pending>) => Effect.Effect<boolean>
  /** Hears of what is written, and may decide at once. */
  readonly overhear: (runId: string, events: ReadonlyArray<Event.Event>) => void
  /** Says it again, when it is too late. */
  readonly afterTheEnd: (runId: string) => Effect.Effect<void>
}

export const make = (world: World.World, otherRuns: ReadonlyArray<string>): People => {
  const { faults, machine, tell } = world
  const dice = world.dice.of("people")
  const never = new Set<string>()
  const seen = new Map<string, Shown>()
  let count = 0

  /** Somebody does it, from a process of their own. */
  const somebody = <A>(name: string, does: Effect.Effect<A, never, Record.Record>): Effect.Effect<A> =>
    Effect.async((resume) => {
      const process = machine.process(name)
      const record = Storage.record(world, process, false)
      machine.fork(process, Effect.provideService(does, Record.Record, record), (exit) => resume(exit))
    })

  const decide = (runId: string, given: Omit<Decision.Approval, "by">, right: boolean): Effect.Effect<string> => {
    const by = `person-${count++}`
    const { ticket, verdict } = given
    return somebody(
      by,
      Agent.decide(runId, { ...given, by }).pipe(
        Effect.match({
          onSuccess: () => "taken",
          onFailure: (error) => (error instanceof Agent.DecisionRefused ? error.reason : error._tag)
        }),
        Effect.catchAllDefect((defect) => Effect.succeed(`defect ${String(defect)}`)),
        Effect.tap((came) => Effect.sync(() => tell({ what: "decided", runId, by, ticket, verdict, right, came })))
      )
    )
  }

  const resolve = (
    runId: string,
    given: Omit<Decision.Resolution, "by" | "because">,
    right: boolean
  ): Effect.Effect<string> => {
    const by = `person-${count++}`
    const { toolCallId, verdict } = given
    return somebody(
      by,
      Agent.resolve(runId, { ...given, by, because: "I have asked." }).pipe(
        Effect.match({
          onSuccess: () => "taken",
          onFailure: (error) => (error instanceof Agent.DecisionRefused ? error.reason : error._tag)
        }),
        Effect.catchAllDefect((defect) => Effect.succeed(`defect ${String(defect)}`)),
        Effect.tap((came) => Effect.sync(() => tell({ what: "resolved", runId, by, toolCallId, verdict, right, came })))
      )
    )
  }

  /** What a machine failed at is tried again. */
  const surely = (say: () => Effect.Effect<string>): Effect.Effect<void> =>
    Effect.gen(function* () {
      for (let tries = 0; tries < 12; tries++) {
        const came = yield* say()
        if (!came.startsWith("Record")) return
        yield* Effect.sleep(200)
      }
    })

  const approve = (runId: string, { argsDigest, ticket }: Shown): Effect.Effect<void> =>
    Effect.gen(function* () {
      const { hit } = faults
      const verdict = hit("people.deny") ? "deny" : "approve"
      const opposite = verdict === "deny" ? "approve" : "deny"
      if (hit("people.stale")) yield* decide(runId, { ticket, argsDigest: `${argsDigest}x`, verdict: "approve" }, false)
      if (hit("people.unknown-ticket")) {
        yield* decide(runId, { ticket: `${ticket}x`, argsDigest, verdict: "approve" }, false)
      }
      if (hit("people.wrong-call")) {
        yield* decide(runId, { ticket, argsDigest, verdict: "approve", toolCallId: "another" }, false)
      }
      for (const other of otherRuns) {
        if (other !== runId && hit("people.wrong-run")) {
          yield* decide(other, { ticket, argsDigest, verdict: "approve" }, false)
        }
      }
      const say = () => decide(runId, { ticket, argsDigest, verdict }, true)
      if (hit("people.two-at-once")) {
        yield* Effect.all([say(), decide(runId, { ticket, argsDigest, verdict: opposite }, true)], { concurrency: 2 })
      }
      yield* surely(say)
      if (hit("people.twice")) yield* decide(runId, { ticket, argsDigest, verdict }, false)
      if (hit("people.contradict")) yield* decide(runId, { ticket, argsDigest, verdict: opposite }, false)
    })

  const findOut = (runId: string, { iteration: pass, toolCallId }: Outcome.PendingUnknown): Effect.Effect<void> =>
    Effect.gen(function* () {
      const { hit } = faults
      const verdict = dice.pick(["applied", "not-applied"] as const)
      if (hit("people.wrong-call")) yield* resolve(runId, { toolCallId: "another", verdict }, false)
      yield* surely(() => resolve(runId, { toolCallId, pass, verdict }, true))
      if (hit("people.twice")) yield* resolve(runId, { toolCallId, pass, verdict }, false)
      if (hit("people.contradict")) {
        yield* resolve(runId, { toolCallId, pass, verdict: verdict === "applied" ? "not-applied" : "applied" }, false)
      }
    })

  return {
    attend: (runId, pending) =>
      Effect.gen(function* () {
        for (const one of pending) {
          const id = one.kind === "approval" ? one.ticket : `${one.iteration} ${one.toolCallId}`
          if (never.has(id)) continue
          if (faults.hit("people.never")) {
            never.add(id)
            continue
          }
          if (one.kind === "approval") {
            seen.set(runId, one)
            yield* approve(runId, one)
          } else yield* findOut(runId, one)
        }
        return pending.some((one) =>
          never.has(one.kind === "approval" ? one.ticket : `${one.iteration} ${one.toolCallId}`)
        )
      }),
    overhear: (runId, events) => {
      for (const event of events) {
        if (event._tag !== "ApprovalAsked") continue
        const { argsDigest, ticket } = event
        seen.set(runId, { argsDigest, ticket })
        if (never.has(ticket) || !faults.hit("people.meanwhile")) continue
        const verdict = faults.hit("people.deny") ? "deny" : "approve"
        machine.after(dice.int(0, 2_000), () => {
          const process = machine.process(`overhearing-${count}`)
          machine.fork(process, decide(runId, { ticket, argsDigest, verdict }, true), () => {})
        })
      }
    },
    afterTheEnd: (runId) => {
      const shown = seen.get(runId)
      if (shown === undefined || !faults.hit("people.after-the-end")) return Effect.void
      const { argsDigest, ticket } = shown
      return Effect.asVoid(decide(runId, { ticket, argsDigest, verdict: "approve" }, false))
    }
  }
}
