/**
 * An `EvidenceStrength` is how good a reason is to keep a skill map's pieces and tools on the wire: five rungs, the
 * upper two firm, the others tentative.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

export const EvidenceStrength = Schema.Literal("explicit", "structural", "semantic", "lexical", "assumed")
export type EvidenceStrength = typeof EvidenceStrength.Type

const rungs: ReadonlyMap<string, number> = new Map(
  [...EvidenceStrength.literals].reverse().map((word, at) => [word, at])
)

/** A word that is no rung, as a damaged record may hold, is as weak as the weakest. */
const rung = (strength: string): number => rungs.get(strength) ?? 0

/** The better of two reasons; the first if they are as good. */
export const stronger = (self: EvidenceStrength, that: EvidenceStrength): EvidenceStrength =>
  rung(that) > rung(self) ? that : self

/** Whether it ends a park, and keeps a map from being parked for idling. */
export const isFirm = (strength: EvidenceStrength): boolean => rung(strength) >= 3

/**
 * The strength of the clause that says why a cursor stands where it does. No cause is the weakest rung; an unfamiliar
 * word counts as real routing, since overrating only parks late.
 */
export const ofClause = (by: string | undefined): EvidenceStrength => {
  switch (by) {
    case "model-pick":
      return "explicit"
    case "intent":
    case "decider":
      return "semantic"
    case "entry":
      return "lexical"
    case "stay":
    case "none":
    case undefined:
      return "assumed"
    default:
      return "structural"
  }
}
