/**
 * The `Steps` of a skill are tools in the order in which they are to be called. The step at hand is said on the wire with
 * its note; other tools stay available, and a step is only left out for a reason.
 *
 * @internal
 */
import * as CallOutcome from "./CallOutcome.ts"
import type * as CursorMove from "./CursorMove.ts"
import * as Notice from "./Notice.ts"
import * as SafeId from "./SafeId.ts"
import * as Skill from "./Skill.ts"
import type * as SkillEvent from "./SkillEvent.ts"
import * as SkillState from "./SkillState.ts"

/** Where a skill's steps stand after a batch: what was done and what was left out, in call order. */
const after = (
  skill: Skill.Skill,
  mapId: string,
  at: number,
  outcomes: ReadonlyArray<CallOutcome.CallOutcome>,
  skips: ReadonlyArray<SkillEvent.StepSkipped>
): number =>
  outcomes.reduce((step, outcome) => {
    const skipped = skips.find(({ toolCallId }) => toolCallId === outcome.toolCallId)
    // The same tool of another owner does no step of this skill.
    if (skipped === undefined) return outcome.owner.mapId === mapId ? Skill.stepAfter(skill, step, [outcome]) : step
    return skipped.mapId === mapId && skipped.skillId === skill.id ? step + 1 : step
  }, at)

/** The place of each map's steps in a pass: a skill that the cursor came to starts at its first. */
export const place = (
  skill: Skill.Skill,
  mapId: string,
  move: CursorMove.CursorMove,
  before: SkillState.SkillState
): number => {
  const prior = SkillState.stepOf(before, mapId)
  if (prior === undefined || move.from !== move.to) return 0
  return after(skill, mapId, prior.step, before.facts.outcomes, before.skips)
}

/** The id of the piece that says which step is at hand. */
export const pieceId = (mapId: string): string => `wherefore:step/${mapId}`

const nameOf = ({ id }: Skill.Skill, mayName: (id: string) => boolean): string =>
  mayName(id) ? ` of the skill ${SafeId.print(id)}` : ""

/** What is said of the step at hand, or nothing when all are done. */
export const text = (
  skill: Skill.Skill,
  at: number,
  mayName: (id: string) => boolean = () => true
): string | undefined => {
  const { steps = [] } = skill
  const step = steps[at]
  if (step === undefined) return undefined
  const of = `Step ${at + 1} of ${steps.length}${nameOf(skill, mayName)}`
  const note = step.note.trim() === "" ? "" : `: ${SafeId.literal(step.note, 1_000)}`
  return Notice.of("the step at hand", [
    `${of}: call ${SafeId.print(step.toolName)}${note}. To leave it out, call skip_step with the reason.`
  ])
}

/** What the model reads when it wants to answer while a step is open. */
export const reminder = (
  skill: Skill.Skill,
  at: number,
  mayName: (id: string) => boolean = () => true
): string | undefined => {
  const open = (skill.steps ?? []).slice(at).map(({ toolName }) => toolName)
  return open.length === 0
    ? undefined
    : `Notice from the framework: before that answer, steps${nameOf(skill, mayName)} were still open: ` +
        `${SafeId.list(open)}. Do them, leave one out with skip_step and the reason, or answer again as you did.`
}
