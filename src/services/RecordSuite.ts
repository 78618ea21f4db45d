/**
 * A `RecordSuite` is what every `Record` layer promises, as cases that any test framework can run: a case is an effect that
 * fails if the promise is not kept. Each case builds the layer for itself.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Record from "./Record.ts"
import * as RecordAppendCases from "./RecordAppendCases.ts"
import type { Failure } from "./RecordCase.ts"
import * as RecordReadCases from "./RecordReadCases.ts"

export { called, CaseFailed, ended, received, started } from "./RecordCase.ts"
export type { Failure } from "./RecordCase.ts"

/** The layer that is to keep the promises. */
export interface Harness<E = never> {
  readonly layer: Layer.Layer<Record.Record, E>
}

export interface Case<E> {
  readonly name: string
  readonly effect: Effect.Effect<void, Failure | E>
}

export const cases = <E>({ layer }: Harness<E>): ReadonlyArray<Case<E>> =>
  [...RecordAppendCases.cases, ...RecordReadCases.cases].map(({ effect, name }) => ({
    name,
    effect: Effect.provide(effect, layer)
  }))
