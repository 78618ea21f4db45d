import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type * as Event from "../../src/kernel/Event.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Record from "../../src/services/Record.ts"
import * as Shop from "./Shop.ts"

/** A run "r" that has ended comes to the same, in its record and for its caller, from its first `length` events. */
export const resumes = <R, A>(
  agent: Agent.Agent<R, A>,
  { ended, events }: { readonly ended: unknown; readonly events: ReadonlyArray<Event.Event> },
  length: number
) =>
  Effect.gen(function* () {
    yield* (yield* Record.Record).append("r", 0, events.slice(0, length))
    assert.deepStrictEqual<unknown>(yield* Effect.either(Agent.resume(agent, "r")), ended)
    assert.deepStrictEqual(yield* Shop.events("r"), events, `after ${length}: ${events[length - 1]?._tag}`)
  })
