import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type * as Event from "../../src/kernel/Event.ts"
import * as FastCheck from "effect/FastCheck"
import * as Why from "../../src/kernel/Why.ts"
import type * as Wire from "../../src/kernel/Wire.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Screen from "../../src/programs/Screen.ts"
import * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Atelier from "./Atelier.ts"
import * as Press from "./Press.ts"
import * as Shop from "./Shop.ts"

/** The refs in the results on a wire, in their order. */
const refsOf = ({ messages }: Wire.Wire): ReadonlyArray<string> =>
  messages.flatMap(({ message }) => (message.role === "tool" ? (message.content.match(/art_\w{22}/g) ?? []) : []))

/** Two tables are loaded, then merged, and the report is plotted in vain. */
const script = LLM.byPass([
  LLM.call("load", { kind: "table/csv" }, "left"),
  LLM.call("load", { kind: "table/csv" }, "right"),
  (wire) => {
    const [left, right] = refsOf(wire)
    return LLM.call("merge", { left, right }, "merge")
  },
  (wire) => LLM.call("plot", { table: refsOf(wire)[2] }, "plot"),
  "The report is done."
])

const artifacts = (chain: Why.Chain) => chain.nodes.flatMap((node) => (node.kind === "artifact" ? [node] : []))
const edgesOf = (chain: Why.Chain, id: string) =>
  chain.edges.flatMap(({ by, from, grounds, to }) => (from === id ? [[grounds, to, ...by].join(" ")] : []))
const callId = (events: ReadonlyArray<Event.Event>, toolCallId: string) =>
  `call:${events.findIndex((event) => event._tag === "ToolSettled" && event.toolCallId === toolCallId)}`
const minted = (events: ReadonlyArray<Event.Event>, toolCallId: string) =>
  Atelier.artifactEvents(events).flatMap((event) =>
    event._tag === "ArtifactMinted" && event.toolCallId === toolCallId ? [event.ref] : []
  )[0] ?? ""

describe("Why.tool", () => {
  it.effect("leads from a call to what it worked on, and on to the calls that stored that", () =>
    Effect.gen(function* () {
      const { events } = yield* Press.play(script)
      const [left, right, report] = ["left", "right", "merge"].map((id) => minted(events, id))
      const chain = Why.tool(events, "merge")
      assert.deepStrictEqual(
        artifacts(chain).map(({ artifactKind, bytes, ref }) => [ref, artifactKind, bytes]),
        [
          [left, "table/csv", 16],
          [right, "table/csv", 16]
        ]
      )
      const own = edgesOf(chain, callId(events, "merge"))
      assert.includeMembers([...own], [`read artifact:${left} left`, `read artifact:${right} right`])
      assert.deepStrictEqual(edgesOf(chain, `artifact:${left}`), [`minted ${callId(events, "left")}`])
      assert.deepStrictEqual(edgesOf(chain, `artifact:${right}`), [`minted ${callId(events, "right")}`])
      assert.notInclude(
        chain.gaps.map(({ kind }) => kind),
        "unrecorded"
      )
      // What the call stored itself is no cause of it.
      assert.notInclude(
        chain.nodes.map(({ id }) => id),
        `artifact:${report}`
      )
      const tree = Screen.print(Screen.tree(chain, { room: { width: 100 }, full: true }), { colour: false })
      assert.include(tree, `${left}`)
      assert.match(tree, /read · left +table\/csv, 16 bytes/)
      assert.match(tree, /stored +recorded +by the result of load table\/csv, pass 1/)
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("goes on through parents, though nobody read them on the way", () =>
    Effect.gen(function* () {
      const { events } = yield* Press.play(script)
      const [left, , report] = ["left", "right", "merge"].map((id) => minted(events, id))
      // The report was no table: the call was refused, and read nothing.
      const plotted = edgesOf(Why.tool(events, "plot"), callId(events, "plot"))
      assert.isFalse(plotted.some((edge) => edge.startsWith("read")))
      const shown = yield* Agent.run(Agent.make({ name: "s", instructions: "Show.", present: true }), "Show it.", {
        runId: "s",
        scope: Press.scope
      }).pipe(
        Effect.provide(LLM.layerScripted([LLM.call("present", { ref: report, as: "report" }, "show"), "Done."])),
        Effect.zipRight(Shop.events("s"))
      )
      const chain = Why.tool(shown, "show")
      const call = callId(shown, "show")
      assert.include(edgesOf(chain, call), `read artifact:${report} its ticket alone`)
      assert.lengthOf(artifacts(chain), 3)
      assert.include(edgesOf(chain, `artifact:${report}`), `derived artifact:${left}`)
      // Who stored it is on another record, which the ticket names; of its parents nothing more is known here.
      const gaps = chain.gaps.map(({ at, kind, next }) => [kind, at, next])
      assert.deepInclude(gaps, [
        "elsewhere",
        `artifact:${report}`,
        { runId: "r", question: { kind: "tool", toolCallId: "merge" } }
      ])
      assert.deepInclude(gaps, ["unrecorded", `artifact:${left}`, undefined])
      const tree = Screen.print(Screen.tree(chain, { room: { width: 100 }, full: true }), { colour: false })
      assert.match(tree, /derived from/)
      assert.match(tree, /unrecorded +The record names it as a parent/)
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("ends in a gap where the record does not tell who stored what was read", () =>
    Effect.gen(function* () {
      const { put } = yield* ArtifactStore.ArtifactStore
      const input = { kind: "table/csv", mediaType: "m", data: 1 }
      const { meta } = yield* put(Press.scope, input)
      const lost = yield* put(Press.scope, { ...input, origin: { runId: "r", toolCallId: "lost" } })
      const one = LLM.byPass([LLM.call("merge", { left: meta.ref, right: lost.meta.ref }, "c"), "Done."])
      const { events } = yield* Press.play(one)
      const chain = Why.tool(events, "c")
      const gapAt = (ref: string) =>
        chain.gaps.flatMap(({ at, kind, what }) => (at === `artifact:${ref}` ? [`${kind}: ${what}`] : []))
      assert.deepStrictEqual(gapAt(meta.ref), [
        "unrecorded: The record does not tell who stored it: it was there before."
      ])
      assert.deepStrictEqual(gapAt(lost.meta.ref), [
        "unrecorded: It was stored by a call of this run that was lost before the record told of it."
      ])
      // A record that ends before a call was settled does not say that it was.
      const cut = events.slice(
        0,
        events.findIndex(({ _tag }) => _tag === "ToolSettled")
      )
      assert.deepStrictEqual(artifacts(Why.tool(cut, "c")), [])
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("is whole for every shape of lineage, and walks a long one without a deep stack", () => {
    const ref = (n: number) => `art_${String(n).padStart(22, "0")}`
    /** Call `n` stores artifact `n`, with these parents, and reads one of them. */
    const recordOf = (parents: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<Event.Event> => {
      const events: Array<Event.Event> = [
        { _tag: "RunStarted", runId: "r", agent: "a", manifest: { limits: {} }, input: "Go." },
        { _tag: "ModelCalled", iteration: 1, wireHash: "h", messagesCount: 1 },
        {
          _tag: "ModelReplied",
          iteration: 1,
          content: "",
          toolCalls: parents.map((_, n) => ({ toolCallId: `c${n}`, toolName: "make", args: "{}" }))
        }
      ]
      for (const [n, of] of parents.entries()) {
        const call = { iteration: 1, toolCallId: `c${n}`, toolName: "make" }
        const ticket = { ref: ref(n), kind: "k", mediaType: "m", bytes: 1, createdAt: 1 }
        events.push({ _tag: "ToolCalled", ...call, args: {}, replay: "pure" })
        const [first] = of
        if (first !== undefined) {
          events.push({ _tag: "ArtifactResolved", ...call, ref: ref(first), via: "get", kind: "k", bytes: 1 })
        }
        events.push({ _tag: "ArtifactMinted", ...call, ...ticket, parentRefs: of.map(ref) })
        events.push({ _tag: "ToolSettled", ...call, outcome: "ran-ok", served: "done" })
      }
      return events
    }
    const shape = FastCheck.array(FastCheck.array(FastCheck.nat({ max: 8 }), { maxLength: 3 }), {
      minLength: 1,
      maxLength: 8
    })
    FastCheck.assert(
      FastCheck.property(shape, (parents) => {
        const events = recordOf(parents)
        const last = parents.length - 1
        const chain = Why.tool(events, `c${last}`)
        // Every ancestor is there, once, and each leads to its call or to a gap.
        const ancestors = new Set<number>()
        const visit = (n: number) => {
          for (const parent of parents[n] ?? []) {
            if (ancestors.has(parent)) continue
            ancestors.add(parent)
            visit(parent)
          }
        }
        visit(last)
        const nodes = artifacts(chain)
        assert.deepStrictEqual(nodes.map((node) => node.ref).toSorted(), Array.from(ancestors, ref).toSorted())
        for (const { id, ref: own } of nodes) {
          const isMinted = chain.edges.some(({ from, grounds }) => from === id && grounds === "minted")
          const hasGap = chain.gaps.some(({ at, kind }) => at === id && kind === "unrecorded")
          assert.strictEqual(isMinted, !hasGap, own)
          assert.strictEqual(isMinted, Number(own.slice(4)) < parents.length)
          const derived = new Set(parents[Number(own.slice(4))])
          assert.lengthOf(
            edgesOf(chain, id).filter((edge) => edge.startsWith("derived")),
            derived.size
          )
        }
        for (const { from, to } of chain.edges)
          for (const id of [from, to]) assert.isTrue(chain.nodes.some((node) => node.id === id))
      }),
      { numRuns: 200 }
    )
    const long = Array.from({ length: 3_000 }, (_, n) => (n === 0 ? [] : [n - 1]))
    assert.lengthOf(artifacts(Why.tool(recordOf(long), "c2999")), 2_999)
    return Effect.void
  })
})
