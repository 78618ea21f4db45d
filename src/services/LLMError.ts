/**
 * An `LLMError` says why a model gave no usable reply. It holds sentences of ours, never a foreign error, a header, a
 * URL or a key.
 *
 * @internal
 */
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Problem from "../kernel/Problem.ts"

export const Reason = Schema.Literal(
  "Auth",
  "Limited",
  "Unavailable",
  "Timeout",
  "Rejected",
  "StreamBroken",
  "Protocol",
  "Misconfigured",
  "Unscripted",
  "CassetteDrift"
)
export type Reason = typeof Reason.Type

/**
 * The model gave no usable reply. `Limited` and `Unavailable` may be retried as `retry` says; `StreamBroken` is unknown
 * for billing and safe for content.
 */
export class LLMError extends Schema.TaggedError<LLMError>()("LLMError", {
  reason: Reason,
  ...Problem.fields,
  /** What the provider sent, without the registered secrets and cut to 64 KB: for a person to look at, and in no log. */
  body: Schema.optionalWith(Schema.RedactedFromSelf(Schema.String), { exact: true }),
  /** The run that it ended, if it ended one: its record has the rest. */
  runId: Schema.optionalWith(Schema.String, { exact: true })
}) {
  override get message(): string {
    return Problem.render(this)
  }
  get isRetryable(): boolean {
    return this.retry !== "never" && this.retry !== "after-human"
  }
}

const usual: { readonly [R in Reason]: Pick<Problem.Problem, "code" | "next" | "outcome" | "retry"> } = {
  Auth: {
    code: "WF-LLM-001",
    next: "Check the API key that the layer was given, and that it may use this model.",
    outcome: "not-applied",
    retry: "never"
  },
  Limited: {
    code: "WF-LLM-002",
    next: "Wait, then try again with fewer calls at once.",
    outcome: "not-applied",
    retry: "safe-with-same-key"
  },
  Unavailable: {
    code: "WF-LLM-003",
    next: "Try again later, or use another model.",
    outcome: "not-applied",
    retry: "safe-with-same-key"
  },
  Timeout: {
    code: "WF-LLM-004",
    next: "Try again; the provider's usage page says whether this call was billed.",
    outcome: "unknown",
    retry: "safe-with-same-key"
  },
  Rejected: {
    code: "WF-LLM-005",
    next: "Change the request: the same one will be rejected again.",
    outcome: "not-applied",
    retry: "never"
  },
  StreamBroken: {
    code: "WF-LLM-006",
    next: "Try again; nothing of the broken reply was used, and the provider's usage page says whether it was billed.",
    outcome: "unknown",
    retry: "safe-with-same-key"
  },
  Protocol: {
    code: "WF-LLM-007",
    next: "Try again; if it stays so, the server does not speak the protocol that its layer expects.",
    outcome: "unknown",
    retry: "safe-with-same-key"
  },
  Misconfigured: {
    code: "WF-LLM-008",
    next: "Correct the configuration and start again.",
    outcome: "not-applied",
    retry: "never"
  },
  Unscripted: {
    code: "WF-LLM-009",
    next: "Add the missing step to the script, or find out why the program asked once more.",
    outcome: "not-applied",
    retry: "never"
  },
  CassetteDrift: {
    code: "WF-LLM-011",
    next: "Record the cassette again, or find out why the program asks otherwise.",
    outcome: "not-applied",
    retry: "never"
  }
}

/** What a failure says beyond its reason; the rest is usual for the reason. */
export type Details = Pick<Problem.Problem, "what"> &
  Partial<Omit<Problem.Problem, "code" | "what">> & { readonly body?: Redacted.Redacted }

/** An error with the code of its reason, and what is usual for it unless `details` say otherwise. */
export const failure = (reason: Reason, details: Details): LLMError =>
  new LLMError({ reason, ...usual[reason], ...details })
