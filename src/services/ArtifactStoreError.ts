/**
 * An `ArtifactStoreError` says why a store did not do what it was asked. It never holds a payload, a tenant or a principal.
 *
 * @internal
 */
import * as Schema from "effect/Schema"
import * as Artifact from "../kernel/Artifact.ts"
import * as Problem from "../kernel/Problem.ts"

const text = Schema.optionalWith(Schema.String, { exact: true })

export const Reason = Schema.Literal(
  "InvalidInput",
  "UnknownParent",
  "DigestMismatch",
  "OverBudget",
  "Unreadable",
  "Unavailable",
  "NotConfigured"
)
export type Reason = typeof Reason.Type

/** What is missing is no error: it is `none`. */
export class ArtifactStoreError extends Schema.TaggedError<ArtifactStoreError>()("ArtifactStoreError", {
  reason: Reason,
  ...Problem.fields,
  /** `InvalidInput`: which part of the input. */
  path: text,
  /** `DigestMismatch`, `Unreadable`: which artifact. `actual` is the digest of what was found; `expected` the one kept. */
  ref: Schema.optionalWith(Artifact.Ref, { exact: true }),
  actual: text,
  /** `UnknownParent`: each that is not live in the scope, quoted if it is no ref. */
  refs: Schema.optionalWith(Schema.Array(Schema.String), { exact: true })
}) {
  override get message(): string {
    return Problem.render(this)
  }
  get isRetryable(): boolean {
    return this.retry !== "never" && this.retry !== "after-human"
  }
}

const usual: { readonly [R in Reason]: Pick<Problem.Problem, "code" | "next" | "outcome" | "retry"> } = {
  InvalidInput: {
    code: "WF-ART-001",
    next: "Correct the input.",
    outcome: "not-applied",
    retry: "never"
  },
  UnknownParent: {
    code: "WF-ART-002",
    next: "Name parents that are live in this scope, or none.",
    outcome: "not-applied",
    retry: "never"
  },
  DigestMismatch: {
    code: "WF-ART-003",
    next: "Do not use the content; store it again from its source.",
    outcome: "not-applied",
    retry: "never"
  },
  OverBudget: {
    code: "WF-ART-004",
    next: "Store less, or raise the limits of the store.",
    outcome: "not-applied",
    retry: "never"
  },
  Unreadable: {
    code: "WF-ART-005",
    next: "Repair the store, or store the artifact again from its source.",
    outcome: "not-applied",
    retry: "never"
  },
  Unavailable: {
    code: "WF-ART-006",
    next: "Try again later.",
    outcome: "not-applied",
    retry: "safe-with-same-key"
  },
  NotConfigured: {
    code: "WF-ART-007",
    next: "Provide a layer of ArtifactStore.",
    outcome: "not-applied",
    retry: "never"
  }
}

/** What a failure says beyond its reason; the rest is usual for the reason. */
export type Details = Pick<Problem.Problem, "what"> &
  Partial<Omit<Problem.Problem, "code" | "what">> &
  Partial<Pick<ArtifactStoreError, "path" | "ref" | "actual" | "refs">>

/** An error with the code of its reason, and what is usual for it unless `details` say otherwise. */
export const failure = (reason: Reason, details: Details): ArtifactStoreError =>
  new ArtifactStoreError({ reason, ...usual[reason], ...details })
