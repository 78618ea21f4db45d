import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Run from "../../src/kernel/Run.ts"
import * as Seal from "../../src/kernel/Seal.ts"
import * as Wire from "../../src/kernel/Wire.ts"
import type * as Event from "../../src/kernel/Event.ts"

const sealed = (blocks: ReadonlyArray<Seal.Block>, reasoning = ""): Seal.Sealed => ({
  provider: "p",
  reasoning,
  blocks
})

describe("Seal.parts", () => {
  it("cuts a reply where its blocks ended, each with what its provider gave for it", () => {
    const blocks: ReadonlyArray<Seal.Block> = [
      { kind: "reasoning", chars: 3, opaque: { signature: "s1" } },
      { kind: "text", chars: 2 },
      { kind: "call", opaque: 7 },
      { kind: "reasoning", chars: 0, opaque: "redacted" },
      { kind: "text", chars: 0 },
      { kind: "call" }
    ]
    assert.deepStrictEqual(Seal.parts(sealed(blocks, "Hm."), "Go on.", ["c1", "c2", "c3"]), [
      { kind: "reasoning", text: "Hm.", opaque: { signature: "s1" } },
      { kind: "text", text: "Go" },
      { kind: "call", call: "c1", opaque: 7 },
      { kind: "reasoning", text: "", opaque: "redacted" },
      { kind: "call", call: "c2" },
      // What no block names.
      { kind: "text", text: " on." },
      { kind: "call", call: "c3" }
    ])
  })

  it("loses no text, no reasoning that is named and no call, however the blocks are", () => {
    const block = FastCheck.oneof(
      FastCheck.record({
        kind: FastCheck.constantFrom("text" as const, "reasoning" as const),
        chars: FastCheck.nat(9)
      }),
      FastCheck.constant({ kind: "call" as const })
    )
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(block),
        FastCheck.string(),
        FastCheck.array(FastCheck.nat()),
        (blocks, text, calls) => {
          const parts = Seal.parts(sealed(blocks, "r".repeat(99)), text, calls)
          const said = parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("")
          assert.strictEqual(said, text)
          assert.deepStrictEqual(
            parts.flatMap((part) => (part.kind === "call" ? [part.call] : [])),
            calls
          )
        }
      )
    )
  })
})

describe("A sealed reply", () => {
  const events = (seal?: Seal.Seal): ReadonlyArray<Event.Event> => [
    { _tag: "RunStarted", runId: "r", agent: "a", manifest: { limits: {} }, input: "Go." },
    { _tag: "ModelCalled", iteration: 1, wireHash: "x", messagesCount: 1 },
    {
      _tag: "ModelReplied",
      iteration: 1,
      content: "",
      reasoning: "Hm.",
      toolCalls: [{ toolCallId: "c", toolName: "t", args: "{}" }],
      ...(seal === undefined ? {} : { seal })
    },
    { _tag: "ToolSettled", iteration: 1, toolCallId: "c", toolName: "t", outcome: "refused", served: "No." }
  ]
  const blocks: ReadonlyArray<Seal.Block> = [
    { kind: "reasoning", chars: 3, opaque: { signature: "s" } },
    { kind: "call" }
  ]

  it("is part of the wire, and of its hash", () => {
    const wire = Wire.project(Run.fold(events({ provider: "p", blocks })))
    assert.deepStrictEqual(wire.messages[1]?.message, {
      role: "assistant",
      content: "",
      toolCalls: [{ toolCallId: "c", toolName: "t", args: "{}" }],
      sealed: { provider: "p", reasoning: "Hm.", blocks }
    })
    const bare = Wire.project(Run.fold(events()))
    assert.isFalse("sealed" in (bare.messages[1]?.message ?? {}))
    const others = [
      { provider: "q", blocks },
      { provider: "p", blocks: blocks.slice(1) }
    ].map((seal) => Wire.project(Run.fold(events(seal))))
    const hashes = new Set([wire, bare, ...others].map(Wire.hash))
    assert.strictEqual(hashes.size, 4)
    assert.strictEqual(Wire.diff(wire, bare)?.index, 1)
  })
})
