/**
 * A `RecordSuite` is what every `Record` layer promises, as cases that any test framework can run: a case is an effect that
 * fails if the promise is not kept. All cases can share one layer; each has runs of its own.
 *
 * @internal
 */
import * as RecordAppendCases from "./RecordAppendCases.ts"
import type { Case } from "./RecordCase.ts"
import * as RecordReadCases from "./RecordReadCases.ts"

export { called, CaseFailed, ended, received, started } from "./RecordCase.ts"
export type { Case, Failure } from "./RecordCase.ts"

export const cases: ReadonlyArray<Case> = [...RecordAppendCases.cases, ...RecordReadCases.cases]
