/**
 * A `GateText` is what a model reads about a pick. It is read again later, so it says what was, when the call was made.
 * Every id in it may be named; the id that was picked is the model's own word, and is left out if it may not.
 *
 * @internal
 */
import type * as Refusal from "./Refusal.ts"
import * as SafeId from "./SafeId.ts"

const once = { outcome: "not-applied", retry: "never" } as const
const routed = "unless a declared route went elsewhere"

interface Accepted {
  readonly row: string
  readonly intent: string
  readonly skillId: string
  readonly mapId: string | undefined
  readonly cursor: string | undefined
  readonly posture: string
}

/** The texts of one gate, for a role. `mayNameMap` is of map ids. */
export const make = (mayName: (id: string) => boolean, mayNameMap: (id: string) => boolean) => {
  const skill = (id: string, otherwise: string): string => (mayName(id) ? SafeId.print(id) : otherwise)
  const map = (id: string): string => (mayNameMap(id) ? `Map ${SafeId.print(id)}` : "Its map")
  const on = (cursor: string | undefined): string =>
    cursor === undefined ? "it had none" : mayName(cursor) ? `it stayed on ${SafeId.print(cursor)}` : "it stayed"
  const offered = (allowed: ReadonlyArray<string>): string =>
    `The ids that could be picked then: ${SafeId.list(allowed)}.`
  const orWork = (allowed: ReadonlyArray<string>): string =>
    allowed.length === 0 ? "Work with what is loaded, or finish." : `${offered(allowed)} Pick one of them, or finish.`

  return {
    /** What an accepted pick did. */
    accepted: ({ cursor, intent, mapId, posture, row, skillId }: Accepted): string => {
      const picked = skill(skillId, "that skill")
      const back = `${mapId === undefined ? "The map" : map(mapId)} was parked; this call brought it back for the next one.`
      switch (intent) {
        case "reaffirm":
          return `The pick of ${picked} changed nothing: it was active already, and its cursor did not move.`
        case "hop":
          return `The pick of ${picked} was taken: it was to load with the next call, ${routed}.`
        case "open":
          return `The pick of ${picked} was taken: it was to load with the next call. No cursor moved.`
        case "hop+reengage":
          return `${back} Its cursor was to move to ${picked}, ${routed}.`
      }
      const stayed = `${back} Its cursor did not move: ${on(cursor)}`
      if (row === "P4") return `${stayed}, since under the posture ${posture} this pick moved none.`
      return row === "P7" ? `${stayed}, and ${picked} was not reachable from there.` : `${stayed}.`
    },

    hidden: (denial = "That skill was not open to this role."): Refusal.Refusal => ({
      tag: "SkillHidden",
      law: "A role sees what it may, and nothing says what else there is.",
      code: "WF-SKILL-001",
      what: denial,
      next: "Work with what is loaded, or pick another.",
      ...once
    }),

    stale: (allowed: ReadonlyArray<string>): Refusal.Refusal => ({
      tag: "StaleOffer",
      law: "A pick is judged on what the model saw.",
      code: "WF-SKILL-002",
      what: "Cursors or parked maps had changed between the offer and this call, so the pick was not taken.",
      next: orWork(allowed),
      ...once
    }),

    held: (id: string, posture: string, allowed: ReadonlyArray<string>): Refusal.Refusal => ({
      tag: "PostureHeld",
      law: "Declared routes come before picks.",
      code: "WF-SKILL-003",
      what: `${skill(id, "That skill")} was not loaded: under the posture ${posture} declared routes moved the cursor, and this pick could not.`,
      next: orWork(allowed),
      ...once
    }),

    /** `isTree`: there were ways on, and no pick could take one. */
    unreachable: (id: string, allowed: ReadonlyArray<string>, isTree: boolean): Refusal.Refusal => ({
      tag: "SkillUnreachable",
      law: "A pick goes where the map leads.",
      code: "WF-SKILL-004",
      what: `${skill(id, "That skill")} could not be reached from where the cursors stood.`,
      next:
        allowed.length > 0
          ? orWork(allowed)
          : isTree
            ? "The map was judged anew on every pass and no pick moved it: call its tools, and go on from their results."
            : "No other skill could be reached: work with what is loaded, or finish.",
      ...once
    })
  }
}
