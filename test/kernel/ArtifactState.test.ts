import { assert, describe, it } from "@effect/vitest"
import type * as Artifact from "../../src/kernel/Artifact.ts"
import * as ArtifactEvent from "../../src/kernel/ArtifactEvent.ts"
import * as ArtifactState from "../../src/kernel/ArtifactState.ts"
import type * as Event from "../../src/kernel/Event.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Script from "./Script.ts"

const ref = (letter: string): Artifact.Ref => `art_${letter.repeat(22)}`
const call = (toolCallId: string, iteration = 1) => ({ iteration, toolCallId, toolName: "look" })
const meta = (letter: string, more: Partial<Artifact.Meta> = {}): Artifact.Meta => ({
  ref: ref(letter),
  kind: "table/csv",
  mediaType: "text/csv",
  bytes: 3,
  createdAt: 1,
  ...more
})
const minted = (id: string, letter: string, more: Partial<Artifact.Meta> = {}) =>
  ArtifactEvent.minted(call(id), meta(letter, more))
const read = (id: string, letter: string, via: "head" | "get" = "get") =>
  ArtifactEvent.resolved(call(id), via, meta(letter, { parentRefs: [ref("z")] }), "table")
const shown = (id: string, letter: string): ArtifactEvent.ArtifactPresented => ({
  _tag: "ArtifactPresented",
  ...call(id),
  ref: ref(letter),
  as: "chart",
  snapshot: { kind: "table/csv", mediaType: "text/csv", bytes: 3 }
})

/** A run in which the calls `a` and `b` are open, and then these happen. */
const after = (...events: ReadonlyArray<Event.Event>) =>
  Run.fold([
    Script.started(),
    { _tag: "ModelCalled", iteration: 1, wireHash: "h", messagesCount: 1 },
    Script.replied(1, { calls: [Script.call("a"), Script.call("b")] }),
    ...events
  ])
const laws = (...events: ReadonlyArray<Event.Event>) => after(...events).violations.map(({ law }) => law)

describe("ArtifactState", () => {
  it("knows nothing before there was anything, and then what the record tells, in its order", () => {
    assert.isUndefined(after().artifacts)
    const { artifacts = ArtifactState.initial } = after(
      minted("a", "b", { label: "one" }),
      read("a", "a"),
      read("a", "b", "head"),
      shown("a", "b"),
      { _tag: "ArtifactRefused", ...call("a"), op: "get", reason: "missing-or-expired" },
      { _tag: "ArtifactExpired", ...call("a"), ref: ref("b"), reason: "ttl", kind: "table/csv", bytes: 3 },
      { _tag: "ArtifactDeleted", ...call("a"), ref: ref("c") }
    )
    const [first, second, third, ...none] = ArtifactState.list(artifacts)
    assert.deepStrictEqual(none, [])
    assert.deepStrictEqual(first, {
      ref: ref("b"),
      since: 3,
      kind: "table/csv",
      bytes: 3,
      ticket: meta("b", { label: "one" }),
      minted: { seq: 3, ...call("a") },
      parentRefs: [ref("z")],
      reads: [{ seq: 5, ...call("a"), via: "head", argument: "table" }],
      gone: { seq: 8, ...call("a"), reason: "ttl" }
    })
    assert.deepInclude(second, { ref: ref("a"), since: 4, parentRefs: [ref("z")] })
    assert.notProperty(second, "minted")
    assert.deepStrictEqual(third, {
      ref: ref("c"),
      since: 9,
      reads: [],
      gone: { seq: 9, ...call("a"), reason: "deleted" }
    })
    assert.strictEqual(artifacts.refused, 1)
    assert.deepInclude(artifacts.presented[0], { seq: 6, toolCallId: "a", ref: ref("b"), as: "chart" })
    assert.strictEqual(ArtifactState.get(artifacts, ref("a")), second)
    assert.isUndefined(ArtifactState.get(artifacts, ref("q")))
  })

  it("keeps its laws: an open call, one mint, and a look before a show", () => {
    assert.deepStrictEqual(laws(minted("a", "a"), read("b", "a", "head"), shown("b", "a")), [])
    assert.lengthOf(laws(minted("x", "a")), 1)
    assert.lengthOf(laws(Script.called(1, "a"), Script.settled(1, "a"), minted("a", "a")), 1)
    assert.lengthOf(laws(minted("a", "a"), minted("b", "a")), 1)
    // Neither the call that stored it nor one that read it has looked it up for another.
    assert.lengthOf(laws(minted("a", "a"), shown("a", "a")), 1)
    assert.lengthOf(laws(read("a", "a", "get"), shown("a", "a")), 1)
    assert.lengthOf(laws(read("a", "a", "head"), shown("b", "a")), 1)
    assert.lengthOf(laws(read("a", "a", "head"), shown("a", "b")), 1)
  })

  it("keeps the law of placement: a ticket stands for what its call stored", () => {
    const placed = {
      placed: true as const,
      ref: ref("a"),
      kind: "tool-result/look",
      mediaType: "m",
      bytes: 1,
      reason: ""
    }
    const settled = Script.settled(1, "a", { placed })
    assert.deepStrictEqual(laws(Script.called(1, "a"), minted("a", "a"), settled), [])
    assert.lengthOf(laws(Script.called(1, "a"), settled), 1)
    assert.lengthOf(laws(Script.called(1, "a"), minted("b", "a"), settled), 1)
    assert.lengthOf(laws(Script.called(1, "a"), read("a", "a"), settled), 1)
  })

  it("is told no more of a ticket than an event has room for", () => {
    const long = ArtifactEvent.resolved(
      call("a"),
      "get",
      meta("a", { kind: "k".repeat(100_000), parentRefs: Array.from({ length: 2_000 }, () => ref("p")) })
    )
    assert.isAtMost(long.kind.length, 300)
    assert.lengthOf(long.parentRefs ?? [], 1_000)
    const swept = { ref: ref("a"), reason: "ttl" as const, kind: "k".repeat(100_000), bytes: 1 }
    assert.isAtMost(ArtifactEvent.expired(call("a"), swept).kind.length, 300)
  })
})
