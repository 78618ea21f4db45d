/**
 * `AgentOptions` are what an agent is made of.
 *
 * @internal
 */
import type * as Tool from "@effect/ai/Tool"
import type * as Toolkit from "@effect/ai/Toolkit"
import type * as Duration from "effect/Duration"
import type * as Artifact from "../kernel/Artifact.ts"
import type * as CheckEvent from "../kernel/CheckEvent.ts"
import type * as ChildEvent from "../kernel/ChildEvent.ts"
import type * as ClaimCheck from "../kernel/ClaimCheck.ts"
import type * as Event from "../kernel/Event.ts"
import type * as Gate from "../kernel/Gate.ts"
import type * as Piece from "../kernel/Piece.ts"
import type * as Prices from "../kernel/Prices.ts"
import type * as Skill from "../kernel/Skill.ts"
import type * as SkillMap from "../kernel/SkillMap.ts"
import type * as Window from "../kernel/Window.ts"
import type * as LLM from "../services/LLM.ts"
import type * as AgentFindings from "./AgentFindings.ts"
import type * as AgentGrounding from "./AgentGrounding.ts"
import type * as Approval from "./Approval.ts"
import type * as Steering from "./Steering.ts"

/**
 * What a run may spend. Before the model is called, the tokens of what is sent are reckoned, and with them
 * `parameters.maxOutputTokens`, if it is set, is taken into account: a call that does not fit is not made.
 */
export interface Limits {
  /** Turns of the loop, each at most one model call. Default 50. */
  readonly passes?: number
  /** Calls that were started. */
  readonly toolCalls?: number
  /** Tokens of all calls of the model, as the provider reports them. */
  readonly tokens?: number
  /**
   * A decimal in the currency of the prices, such as `"0.25"`. A model without a price is not asked, and a run of which what
   * it took is not known in whole stops.
   */
  readonly money?: { readonly amount: string | number; readonly prices: Prices.Prices }
  /**
   * The time for which the run is driven, over all its processes. That between a process's last entry and the resume is not
   * counted, so neither is what a process that was lost did after its last entry.
   */
  readonly wallTime?: Duration.DurationInput
  /** What the run may append to its record, as bytes of its events in UTF-8. Met after at most one reply and its calls more. */
  readonly bytes?: number
  /** Runs that its calls may start (`Agent.toTool`), those counted that they start themselves. Default 32. */
  readonly children?: number
  /** How deep such runs may start others. Default 4; 0 starts none. */
  readonly depth?: number
  /**
   * Keeps one pass, and of tokens and money what it is reckoned to take, for an answer from what is there when the run has
   * come to a limit: `Outcome.stoppedEarly` says to which. Time and bytes have no such pass. `tokens`: how many are kept.
   */
  readonly closing?: boolean | { readonly tokens?: number }
}

export interface Options<Tools extends Record<string, Tool.Any>> {
  readonly name: string
  readonly instructions: string
  readonly toolkit?: Toolkit.Toolkit<Tools>
  /** More context for the system slot, in order, after the instructions. */
  readonly pieces?: ReadonlyArray<Piece.Piece>
  /** Maps of skills. Each is offered by evidence, and rides while the evidence lives. Their tools are tools of `toolkit`. */
  readonly maps?: ReadonlyArray<SkillMap.SkillMap>
  /** Skills that are in no map: the model may load them at any time. Their tools are tools of `toolkit`. */
  readonly skills?: ReadonlyArray<Skill.Skill>
  /** How long a map rides on tentative evidence; `false` never parks one. Default: a grace of 3 idle passes. */
  readonly engagement?: { readonly renewalGrace?: number } | false
  /** Whether a pick of the model may move a cursor: with `assist`, the default, it may; on `rails` only routes do. */
  readonly posture?: Exclude<Gate.Posture, "guard">
  /** Which skills the model may know of: an id that it refuses is named to it nowhere. Default: all. */
  readonly mayName?: (skillId: string) => boolean
  /** The model declares what earlier results were worth, and is served that back. Off unless asked for. */
  readonly findings?: AgentFindings.Option
  /** `inAnswer`: what tools declared of where they looked (`Coverage`) is told after the answer. Off unless asked for. */
  readonly coverage?: { readonly inAnswer?: boolean }
  /** The model can show artifacts to the person (`present`), who is told of them by `Outcome.presented`. Off unless asked for. */
  readonly present?: boolean
  /**
   * A result that the model would read more characters of than `maxInlineChars` is stored, and its ticket sent in its place.
   * No route and no lease depends on it. Off unless asked for.
   */
  readonly placement?: { readonly maxInlineChars: number }
  /** What the agent's answers say of entities, compared with what tools settled of them (`Semantics`). Needs `answer`. */
  readonly claims?: ReadonlyArray<ClaimCheck.Declared>
  /** How much of the conversation is sent (`Window`). All of it unless given. */
  readonly window?: Window.Strategy
  readonly budget?: Limits
  /** Which calls need a person's yes (`Approval.Rule`): the first rule that matches decides, before a tool's annotation. */
  readonly approval?: ReadonlyArray<Approval.Rule>
  /**
   * After a call that may have acted and was lost, the run waits until a person has found out (`Agent.resolve`): `hold`, the
   * default. With `tell` the model reads that it is unknown, and the run goes on.
   */
  readonly unknown?: "hold" | "tell"
  /**
   * When a call of the model that failed is made again, such as `LLM.standardRetry`. Each attempt is on the record. Never
   * unless given.
   */
  readonly retry?: LLM.RetryPolicy
  /** In `dev`, checks are tried on planted faults, and a run fails if one of them is blind. Default `live`. */
  readonly checks?: CheckEvent.Posture
  /** Judges the names and numbers of answers (`Grounding`), each against the results of the run. Off unless given. */
  readonly grounding?: AgentGrounding.Option
  /**
   * `watched`, the default: a call that came to the same for the third time, with nothing new in between, is told to the model,
   * and ends the run if it does once more. A tool that polls is excepted with `Repeats`.
   */
  readonly progress?: "watched" | "unwatched"
  /** Sampling parameters, sent as they are. */
  readonly parameters?: Event.Parameters
  /** How many calls of one reply run at once, if they only read. Default 4. */
  readonly concurrency?: number
  /** A result longer than this is withheld, and the model told so. Default 262,144 characters. */
  readonly maxResultChars?: number
}

/** What a run is driven with, whether it begins or goes on. */
export interface DriveOptions {
  /** Steers the run's skill maps from elsewhere in the process. */
  readonly steering?: Steering.Steering
}

export interface RunOptions extends DriveOptions {
  /** A name for the run; one is made up without it. Lower-case letters, digits, "-" and "_", 64 at most. */
  readonly runId?: string
  /** Words of the application for this run, which entries of skill maps can match. */
  readonly tags?: ReadonlyArray<string>
  /**
   * Whose artifacts its tools work with: those of a session, a tenant, a person. Without it they are the run's own, or those
   * that the run which it follows up worked with, or the one whose tool started it.
   */
  readonly scope?: Artifact.Scope
}

/** How a run is begun that a call of another starts. */
export interface ChildOptions extends RunOptions {
  readonly parent?: ChildEvent.Parent
}
