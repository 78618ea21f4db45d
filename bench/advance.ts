/**
 * What the lease costs in a pass: `Engagement.advance` with 1, 10 and 100 maps, half of them of use, and how the time of
 * one map changes with their number; the floor is a loop that only copies each record. Then whole runs with as many maps
 * on the wire, with the lease and without it.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, ArtifactStore, Engagement, LLM, Record, SkillMap } from "wherefore"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Schema from "effect/Schema"
import { type Figure, median } from "./Figure.ts"

const sizes = [1, 10, 100]
const rounds = 21

const planOf = (n: number): Engagement.EngagementPlan => ({
  renewalGrace: 3,
  maps: Array.from({ length: n }, (_, map) => ({
    id: `map-${map}`,
    memberIds: Array.from({ length: 4 }, (_, member) => `member-${map}-${member}`),
    toolNames: Array.from({ length: 4 }, (_, tool) => `tool-${map}-${tool}`)
  }))
})

/** A pass after whose batch every second map was of use. */
const passOf = (n: number, iteration: number): Engagement.EngagementPass => ({
  iteration,
  toolResults: Array.from({ length: Math.ceil(n / 2) }, (_, map) => ({ toolName: `tool-${map * 2}-0` })),
  acceptedSkillPicks: [],
  servedLastPass: Array.from({ length: n }, (_, map) => `member-${map}-0`)
})

/** All maps are engaged by a pick, so that none is ever parked. */
const founded = (plan: Engagement.EngagementPlan): Engagement.MapEngagement =>
  Engagement.advance(plan, undefined, {
    iteration: 1,
    toolResults: [],
    acceptedSkillPicks: plan.maps.flatMap(({ memberIds }) => memberIds.slice(0, 1)),
    servedLastPass: []
  }).next

/** Nanoseconds that `step` takes, of as many calls as make a round of some 20,000 maps. */
const time = (n: number, step: (iteration: number) => void): number => {
  const times = Math.ceil(20_000 / n)
  const started = process.hrtime.bigint()
  for (let iteration = 2; iteration < times + 2; iteration++) step(iteration)
  return Number(process.hrtime.bigint() - started) / times
}

const Look = Tool.make("look", { parameters: { n: Schema.Number }, success: Schema.String }).annotate(
  Tool.Readonly,
  true
)
const toolkit = Toolkit.make(Look)
const passesInRun = 100

/** As many maps as `n`, all entered by the same word and never of use: `nonParkable`, so that they stay on the wire. */
const mapsOf = (n: number): ReadonlyArray<SkillMap.SkillMap> =>
  Array.from({ length: n }, (_, map) =>
    Either.getOrThrow(
      SkillMap.make({
        id: `map-${map}`,
        entries: [{ skillId: `skill-${map}`, keywords: ["everything"] }],
        skills: [{ id: `skill-${map}`, instructions: "Follow the rules of the house. ".repeat(10), tools: [] }],
        routes: [],
        nonParkable: true
      })
    )
  )

/** Microseconds of CPU that a pass of a whole run takes. */
const timeOfRun = async (n: number, engagement: {} | false): Promise<number> => {
  const agent = Agent.make({
    name: "bench",
    instructions: "Look.",
    toolkit,
    maps: mapsOf(n),
    engagement,
    budget: { passes: 200 }
  })
  const model = LLM.layerScripted(
    (wire) => (wire.iteration < passesInRun ? LLM.call("look", { n: wire.iteration }) : "Done."),
    { remember: 0 }
  )
  const handlers = toolkit.toLayer({ look: ({ n }) => Effect.succeed(`${n}`) })
  const runtime = ManagedRuntime.make(Layer.mergeAll(model, handlers, Record.layerMemory, ArtifactStore.layerMemory()))
  await runtime.runtime()
  const started = process.cpuUsage()
  await runtime.runPromise(Agent.run(agent, "Tell me everything."))
  const { system, user } = process.cpuUsage(started)
  await runtime.dispose()
  return (system + user) / passesInRun
}

const runsOf = async (): Promise<ReadonlyArray<Figure>> => {
  const cells = sizes.map((n) => ({ n, on: new Array<number>(), off: new Array<number>() }))
  for (let round = 0; round < 12; round++) {
    for (const { n, off, on } of cells) {
      const [leased, free] = [await timeOfRun(n, {}), await timeOfRun(n, false)]
      if (round < 2) continue
      on.push(leased)
      off.push(free)
    }
  }
  return cells.map(({ n, off, on }) => ({
    bench: "advance",
    n,
    metric: "a pass of a run, with the lease",
    value: median(on),
    unit: "µs CPU",
    against: "without the lease",
    ratio: median(on) / median(off)
  }))
}

export const run = async (): Promise<ReadonlyArray<Figure>> => {
  const cells = sizes.map((n) => {
    const plan = planOf(n)
    const first = founded(plan)
    // The facts of a pass are made by the loop, and are not measured.
    const passes = Array.from({ length: 16 }, (_, at) => passOf(n, at + 2))
    let records = first
    let copied = first
    const pass = (iteration: number) => passes[iteration % passes.length] ?? passOf(n, iteration)
    return {
      n,
      advance: (iteration: number) => {
        records = Engagement.advance(plan, records, pass(iteration)).next
      },
      copy: (iteration: number) => {
        copied = copied.map((record) => ({ ...record, idle: iteration }))
      },
      spent: new Array<number>(),
      floor: new Array<number>()
    }
  })
  for (let round = 0; round < rounds + 5; round++) {
    for (const { advance, copy, floor, n, spent } of cells) {
      const [one, other] = [time(n, advance), time(n, copy)]
      if (round >= 5) {
        spent.push(one)
        floor.push(other)
      }
    }
  }
  const [smallest] = cells
  const ofOne = median(smallest?.spent ?? [])
  const steps = cells.flatMap(({ floor, n, spent }): ReadonlyArray<Figure> => {
    const value = median(spent)
    return [
      {
        bench: "advance",
        n,
        metric: "a pass",
        value,
        unit: "ns",
        against: "copying the records",
        ratio: value / median(floor)
      },
      {
        bench: "advance",
        n,
        metric: "a pass for each map",
        value: value / n,
        unit: "ns",
        against: "a pass with one map",
        ratio: value / n / ofOne
      }
    ]
  })
  return [...steps, ...(await runsOf())]
}
