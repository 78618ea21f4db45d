import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Effect, Either, Schema } from "effect"
import type * as Event from "../../src/kernel/Event.ts"
import type * as Skill from "../../src/kernel/Skill.ts"
import * as SkillMap from "../../src/kernel/SkillMap.ts"
import type * as Wire from "../../src/kernel/Wire.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as LLM from "../../src/services/LLM.ts"

const read = (name: string) =>
  Tool.make(name, { parameters: { of: Schema.String }, success: Schema.Unknown }).annotate(Tool.Readonly, true)

const Weather = read("weather")
const Clock = read("clock")
const FindOrder = read("find_order")
const Refund = read("refund")
const Zone = read("zone")

export const toolkit = Toolkit.make(Weather, Clock, FindOrder, Refund, Zone)

/** Results by tool; a tool that is not named fails. */
export const handlers = (results: { readonly [tool: string]: unknown } = {}) => {
  const answer = (name: string) => () =>
    Object.hasOwn(results, name) ? Effect.succeed(results[name]) : Effect.succeed({ tool: name })
  return toolkit.toLayer({
    weather: answer("weather"),
    clock: answer("clock"),
    find_order: answer("find_order"),
    refund: answer("refund"),
    zone: answer("zone")
  })
}

/** Handlers that never come to an end. */
export const hanging = toolkit.toLayer({
  weather: () => Effect.never,
  clock: () => Effect.never,
  find_order: () => Effect.never,
  refund: () => Effect.never,
  zone: () => Effect.never
})

const toolsOf = (...tools: ReadonlyArray<Tool.Any>) => Agent.skillTools(Toolkit.make(...tools))

/** Two skills about orders: the first leads to the second when an order was delivered. */
export const orders: SkillMap.SkillMap = Either.getOrThrow(
  SkillMap.make({
    id: "orders",
    entries: [
      { skillId: "find", keywords: ["order"] },
      { skillId: "zones", keywords: ["zone"] }
    ],
    skills: [
      { id: "find", description: "Finds an order.", instructions: "Find the order first.", tools: toolsOf(FindOrder) },
      { id: "refund", description: "Pays back.", instructions: "Refund what was delivered.", tools: toolsOf(Refund) },
      { id: "zones", instructions: "A zone is a letter.", tools: toolsOf(Zone) }
    ],
    routes: [
      { from: "find", to: "refund", tool: "find_order", when: [{ field: "/status", op: "eq", value: "delivered" }] },
      { from: "refund", to: "find", tool: "refund" }
    ]
  })
)

/** Another map, that also has the tool `zone`. */
export const places: SkillMap.SkillMap = Either.getOrThrow(
  SkillMap.make({
    id: "places",
    entries: [{ skillId: "place", phrases: ["in town"] }],
    skills: [{ id: "place", instructions: "Towns have zones.", tools: toolsOf(Zone) }],
    routes: []
  })
)

export const guide: Skill.Skill = { id: "guide", description: "How to be polite.", instructions: "Be kind.", tools: [] }

type Options = Parameters<typeof Agent.make<(typeof toolkit)["tools"]>>[0]

export const agent = (more: Partial<Options> = {}) =>
  Agent.make({ name: "desk", instructions: "Help.", toolkit, maps: [orders], ...more })

/** A model that makes one call a pass, and then answers. A call is a tool, or a tool with arguments. */
export const script = (
  ...passes: ReadonlyArray<string | readonly [tool: string, args: unknown] | null>
): ReadonlyArray<LLM.Step> =>
  [
    ...passes.map((pass, index): LLM.Step => {
      if (pass === null) return LLM.together()
      const [tool, args] = typeof pass === "string" ? [pass, { of: `${index}` }] : pass
      return LLM.call(tool, args, `c${index + 1}`)
    }),
    "Done."
  ] satisfies ReadonlyArray<LLM.Step>

/** What a wire holds of skills: the system pieces after the instructions, and the tools. */
export const held = (wire: Wire.Wire) => ({
  pieces: wire.system.slice(1).map(({ id }) => id),
  tools: wire.tools.map(({ tool }) => tool.name)
})

/** The decisions of a run, a line each. */
export const decisions = (events: ReadonlyArray<Event.Event>): ReadonlyArray<string> =>
  events.flatMap((event) => {
    switch (event._tag) {
      case "CursorMoved":
        return [`${event.iteration} ${event.mapId} ${event.from ?? "-"} > ${event.to ?? "-"} ${event.by}`]
      case "RouteConflicted":
        return [`${event.iteration} ${event.mapId} conflict ${event.winner.target}`]
      case "MapEngaged": {
        const flags = (["reengaged", "upgraded", "tenantChanged"] as const).filter((flag) => event[flag] === true)
        return [[event.iteration, event.mapId, "engaged", event.by, ...flags].join(" ")]
      }
      case "MapParked":
        return [`${event.iteration} ${event.mapId} parked ${event.by} ${event.idleCalls}${event.reason ?? ""}`]
      case "MapsIdled":
        return event.counts.map(({ idle, mapId }) => `${event.iteration} ${mapId} idle ${idle}`)
      case "SkillPicked":
        return [`${event.iteration} picked ${event.skillId} ${event.intent}`]
      case "SkillRefused":
        return [`${event.iteration} refused ${event.requestedId} ${event.reason}`]
      case "SkillSuperseded":
        return [
          `${event.iteration} superseded ${event.volunteeredId} by ${event.wonId ?? "nothing"} ${event.source ?? ""}`
        ]
      case "MapSteered":
        return [`${event.iteration} ${event.verb} ${event.mapId} by ${event.by}`]
      case "StepReached":
        return [`${event.iteration} ${event.mapId} ${event.skillId} step ${event.step}`]
      case "StepSkipped":
        return [`${event.iteration} ${event.mapId} ${event.skillId} skipped ${event.step}: ${event.reason}`]
      case "StepReminded":
        return [`${event.iteration} ${event.mapId} ${event.skillId} reminded of ${event.step}`]
      default:
        return []
    }
  })
