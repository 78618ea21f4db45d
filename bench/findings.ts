/**
 * What a ledger of findings costs as it grows: one more row on a fold of 10,000, against one on a fold of 100, and a whole
 * pass of a run whose every call declares 32 standings, late in the run against its first passes: of results that are
 * judged again and again, and of others each time. The ledger of a run holds 4,096 rows; what is declared beyond is refused
 * by name.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, ArtifactStore, Findings, LLM, Record } from "wherefore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type Figure, median } from "./Figure.ts"

const standings = ["fact", "open", "ruled-out", "noise"] as const

const rowOf = (seq: number): Findings.Standing => {
  const standing = standings[seq % 4] ?? "fact"
  const isAsserting = standing === "fact" || standing === "open"
  return {
    kind: "standing",
    seq,
    iteration: 1,
    toolCallId: `call-${seq % 2_000}`,
    standing,
    assertions: isAsserting ? [{ subject: { kind: "order", id: `${seq}` }, predicate: "costs", value: seq }] : [],
    declaredOn: { toolCallId: `call-${seq}` }
  }
}

const rounds = 21
const steps = 1_000

/** Nanoseconds of one more row on a fold of `size`. */
const step = (size: number): number => {
  const fold = Findings.fold(Array.from({ length: size }, (_, seq) => rowOf(seq)))
  const next = rowOf(size)
  const times = Array.from({ length: rounds }, () => {
    const started = process.hrtime.bigint()
    for (let n = 0; n < steps; n++) Findings.step(fold, next)
    return Number(process.hrtime.bigint() - started) / steps
  })
  return median(times)
}

const Look = Tool.make("look", { parameters: { n: Schema.Number }, success: Schema.String }).annotate(
  Tool.Readonly,
  true
)
const toolkit = Toolkit.make(Look)
const passes = 320
/** How many fill the ledger. */
const filled = 124
const declared = 32

/** Microseconds of CPU that each pass of a run takes. Every call judges 32 of the results before it. */
const passTimes = (passes: number, idOf: (iteration: number, n: number) => string) =>
  Effect.gen(function* () {
    const at: Array<number> = []
    const agent = Agent.make({
      name: "bench",
      instructions: "Look.",
      toolkit,
      findings: true,
      budget: { passes: passes + 1 }
    })
    const model = LLM.layerScripted(({ iteration }) => {
      at.push(process.cpuUsage().user)
      if (iteration > passes) return LLM.say("Done.")
      const previous = Array.from({ length: declared }, (_, n) => ({
        toolCallId: idOf(iteration, n),
        standing: standings[(iteration + n) % 4],
        assertions: [{ subject: { kind: "order", id: `${iteration}-${n}` }, predicate: "costs", value: n }]
      }))
      return LLM.call("look", { n: iteration, _findings: { previous } })
    })
    yield* Agent.run(agent, "Look.").pipe(
      Effect.provide([Layer.mergeAll(model, Record.layerMemory, ArtifactStore.layerMemory())]),
      Effect.provide(toolkit.toLayer({ look: ({ n }) => Effect.succeed(`Result ${n} of the store.`) }))
    )
    return at.slice(1).map((one, index) => one - (at[index] ?? one))
  })

export const run = async (): Promise<ReadonlyArray<Figure>> => {
  const small = step(100)
  const large = step(10_000)
  const again = passTimes(passes, (iteration, n) => `r${Math.max(1, iteration - 1 - n)}`)
  const others = passTimes(filled, (iteration, n) => `other-${iteration}-${n}`)
  await Effect.runPromise(again)
  const times = await Effect.runPromise(again)
  const otherTimes = await Effect.runPromise(others)
  const first = median(times.slice(1, 11))
  const filling = median(times.slice(95, 125))
  const late = median(times.slice(-30))
  const otherFirst = median(otherTimes.slice(1, 11))
  const otherLate = median(otherTimes.slice(-10))
  const one = "the first passes"
  return [
    {
      bench: "findings",
      n: 10_000,
      metric: "step of the fold",
      value: large,
      unit: "ns",
      against: "the same at 100",
      ratio: large / small
    },
    {
      bench: "findings",
      n: declared * 110,
      metric: "CPU of a pass",
      value: filling,
      unit: "us",
      against: one,
      ratio: filling / first
    },
    {
      bench: "findings",
      n: declared * passes,
      metric: "CPU of a pass",
      value: late,
      unit: "us",
      against: one,
      ratio: late / first
    },
    {
      bench: "findings",
      n: declared * filled,
      metric: "CPU of a pass, of other results each time",
      value: otherLate,
      unit: "us",
      against: one,
      ratio: otherLate / otherFirst
    }
  ]
}
