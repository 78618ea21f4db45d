/**
 * An `AgentGrounding` is how an agent's answers are judged, as its definition says it.
 *
 * @internal
 */
import type * as Tool from "@effect/ai/Tool"
import type * as Grounding from "../kernel/Grounding.ts"
import type * as GroundingSource from "../kernel/GroundingSource.ts"
import * as Echoes from "./Echoes.ts"

/** A posture, or one with what is known of the values. The posture is `assist` unless it is given. */
export type Option = Grounding.Posture | (Grounding.Options & { readonly posture?: Grounding.Posture })

export interface Judged {
  readonly grounding?: GroundingSource.Judging
}

/** The judge of an agent with these tools. */
export const make = (option: Option | undefined, tools: ReadonlyArray<Tool.Any>): Judged => {
  if (option === undefined) return {}
  const repeated = new Map(tools.map((tool) => [tool.name, Echoes.of(tool)]))
  const echoes = (toolName: string): ReadonlyArray<string> => repeated.get(toolName) ?? []
  if (typeof option === "string") return { grounding: { posture: option, options: {}, echoes } }
  const { posture = "assist", ...options } = option
  return { grounding: { posture, options, echoes } }
}

export const problems = ({ grounding }: Judged): ReadonlyArray<string> => {
  const { minDigits = 4 } = grounding?.options ?? {}
  return Number.isSafeInteger(minDigits) && minDigits > 0
    ? []
    : [`grounding.minDigits is ${minDigits}; it must be a whole number above 0.`]
}
