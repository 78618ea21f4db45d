/**
 * An `AgentGrounding` is how an agent's answers are judged, as its definition says it.
 *
 * @internal
 */
import type * as Grounding from "../kernel/Grounding.ts"
import type * as GroundingSource from "../kernel/GroundingSource.ts"

/** A posture, or one with what is known of the values. The posture is `assist` unless it is given. */
export type Option = Grounding.Posture | (Grounding.Options & { readonly posture?: Grounding.Posture })

export interface Judged {
  readonly grounding?: GroundingSource.Judging
}

export const make = (option: Option | undefined): Judged => {
  if (option === undefined) return {}
  if (typeof option === "string") return { grounding: { posture: option, options: {} } }
  const { posture = "assist", ...options } = option
  return { grounding: { posture, options } }
}

export const problems = ({ grounding }: Judged): ReadonlyArray<string> => {
  const { minDigits = 4 } = grounding?.options ?? {}
  return Number.isSafeInteger(minDigits) && minDigits > 0
    ? []
    : [`grounding.minDigits is ${minDigits}; it must be a whole number above 0.`]
}
