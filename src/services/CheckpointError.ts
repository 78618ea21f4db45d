/**
 * A `CheckpointError` says why a key cannot be used, or why a file of checkpoints proves nothing. It never holds a key.
 *
 * @internal
 */
import * as Schema from "effect/Schema"
import * as Problem from "../kernel/Problem.ts"

/**
 * `InvalidKey`: a text that is no key. `SigningFailed`: the signer gave no signature, or not one of its key. `Malformed`: bytes that are no
 * checkpoints as they are written. `Untrusted`: a note that the trusted key has not signed. `Forged`: one that says so and
 * is not. `Incomplete`: a list of checkpoints of which some are missing, or were added.
 */
export const Reason = Schema.Literal("InvalidKey", "SigningFailed", "Malformed", "Untrusted", "Forged", "Incomplete")
export type Reason = typeof Reason.Type

export class CheckpointError extends Schema.TaggedError<CheckpointError>()("CheckpointError", {
  reason: Reason,
  ...Problem.fields
}) {
  override get message(): string {
    return Problem.render(this)
  }
  get isRetryable(): boolean {
    return false
  }
}

const usual: { readonly [R in Reason]: Pick<Problem.Problem, "code" | "what" | "next"> } = {
  InvalidKey: {
    code: "WF-ANC-001",
    what: "This is no key for checkpoints.",
    next: "Give the key whole, as it was made: wherefore anchor keygen"
  },
  SigningFailed: {
    code: "WF-ANC-002",
    what: "The signer did not sign.",
    next: "Correct what the signer reports, and sign again."
  },
  Malformed: {
    code: "WF-ANC-003",
    what: "These are no checkpoints.",
    next: "Give the file as it was written, to the byte, or another copy of it."
  },
  Untrusted: {
    code: "WF-ANC-004",
    what: "A checkpoint is not signed by the key that is trusted.",
    next: "Give an anchor of that key, or the key of those who signed this one, if you trust them."
  },
  Forged: {
    code: "WF-ANC-005",
    what: "A checkpoint was changed after it was signed, or was never signed by the key that it names.",
    next: "Trust nothing that it says. Compare with another copy of the anchor."
  },
  Incomplete: {
    code: "WF-ANC-006",
    what: "The list of checkpoints is not the one that was signed.",
    next: "Give the file as it was written, whole, or another copy of it."
  }
}

type Details = Partial<Pick<Problem.Problem, "what" | "where" | "expected" | "found" | "next">>

export const failure = (reason: Reason, details: Details): CheckpointError =>
  new CheckpointError({
    reason,
    ...usual[reason],
    outcome: "not-applied",
    retry: reason === "SigningFailed" ? "after-human" : "never",
    ...details
  })
