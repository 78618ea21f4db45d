import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Findings from "../../src/kernel/Findings.ts"
import { basis, contingent, numbered, result, rows, says, standing, unsettled, words } from "./FindingNotation.ts"

const shown = ({ conflicts, hasStanding, standingOf, unsettled }: Findings.Fold) => ({
  conflicts,
  hasStanding,
  standingOf: Array.from(standingOf),
  unsettled: Array.from(unsettled)
})

describe("Findings.fold", () => {
  it("takes the latest standing of a result, in the order of first naming", () => {
    const { standingOf } = Findings.fold([standing("b", "open"), standing("a", "noise"), standing("b", "fact")])
    assert.instanceOf(standingOf, Map)
    assert.deepStrictEqual(
      Array.from(standingOf.values(), (row) => [row.toolCallId, row.standing]),
      [
        ["b", "fact"],
        ["a", "noise"]
      ]
    )
  })

  it("has a standing only if one was declared", () => {
    assert.isFalse(Findings.empty.hasStanding)
    const others = [basis("a", "p"), contingent("v", { toolCallId: "a", standing: "open" }), unsettled("a")]
    assert.isFalse(Findings.fold(others).hasStanding)
    assert.strictEqual(Findings.fold(others).unsettled.size, 0)
    assert.isTrue(Findings.fold([...others, standing("a", "noise")]).hasStanding)
  })

  it("finds conflicts of current facts only, by canonical value", () => {
    const a = standing("a", "fact", { assertions: [says("1", "price", { x: 1, y: 2 })] })
    const same = standing("b", "fact", { assertions: [says("1", "price", { y: 2, x: 1 })] })
    const other = standing("c", "fact", { unknownId: true, assertions: [says("1", "price", "1")] })
    const one = standing("d", "fact", {
      assertions: [says("1", "price", 1), says("2", "price", 9), says("1", "size", 9)]
    })
    const conflicts = (...of: ReadonlyArray<Findings.Row>) => Findings.fold(numbered(of)).conflicts
    assert.deepStrictEqual(conflicts(a, same), [])
    assert.deepStrictEqual(conflicts(a, { ...other, standing: "open" }), [])
    assert.deepStrictEqual(conflicts(a, other, standing("c", "noise")), [])
    assert.deepStrictEqual(
      conflicts(a, same, other, one).map(({ assertions, key }) => [key, assertions.map(({ row }) => row.toolCallId)]),
      [
        [
          ["flight", "1", "price", null],
          ["a", "b", "c", "d"]
        ]
      ]
    )
    assert.strictEqual(conflicts(other, one).length, 1)
    const within = standing("e", "fact", { assertions: [says("3", "p", 1), says("3", "p", 2)] })
    assert.strictEqual(conflicts(within).length, 1)
    const apart = [says("a/b", "c", 1), says("a", "b/c", 2), says("b", "c", 3, "flight/a")]
    assert.deepStrictEqual(conflicts(standing("f", "fact", { assertions: apart })), [])
  })

  it("keeps the last unsettled row of what is ruled out", () => {
    const first = unsettled("a", { tryInstead: "first" })
    const last = unsettled("a", { tryInstead: "last" })
    const folded = Findings.fold([standing("a", "ruled-out"), first, last])
    assert.deepStrictEqual(Array.from(folded.unsettled), [["a", last]])
    const revised = Findings.step(folded, standing("a", "open"))
    assert.strictEqual(revised.unsettled.size, 0)
    assert.deepStrictEqual(Array.from(folded.unsettled), [["a", last]])
  })

  it("is its steps, and an old fold stays what it was", () => {
    FastCheck.assert(
      FastCheck.property(rows, (rows) => {
        const folds = [Findings.empty]
        for (const row of rows) folds.push(Findings.step(row)(folds.at(-1) ?? Findings.empty))
        for (const [at, fold] of folds.entries()) {
          assert.deepStrictEqual(shown(fold), shown(Findings.fold(rows.slice(0, at))))
        }
      })
    )
  })

  it("has the same conflicts in any order of rows about different results", () => {
    FastCheck.assert(
      FastCheck.property(rows, FastCheck.infiniteStream(FastCheck.nat()), (rows, keys) => {
        const current = Array.from(Findings.fold(rows).standingOf.values())
        const shuffled = current
          .map((row) => ({ row, key: keys.next().value ?? 0 }))
          .sort((one, other) => one.key - other.key)
          .map(({ row }) => row)
        assert.deepStrictEqual(Findings.fold(shuffled).conflicts, Findings.fold(current).conflicts)
      })
    )
  })

  it("takes ten thousand steps in linear time", () => {
    let fold = Findings.empty
    const started = process.cpuUsage().user
    for (let at = 0; at < 10_000; at++) fold = Findings.step(fold, standing(`call-${at}`, "fact", { seq: at }))
    assert.strictEqual(fold.standingOf.size, 10_000)
    assert.isBelow(process.cpuUsage().user - started, 3_000_000)
  })
})

describe("Findings.offered", () => {
  it("is what default collapse leaves readable, newest first", () => {
    const fold = Findings.fold([
      standing("f", "fact"),
      standing("o", "open"),
      standing("n", "noise"),
      standing("r", "ruled-out"),
      standing("u", "noise", { unknownId: true })
    ])
    const served = ["f", "o", "x", "n", "r", "u", "y"]
    assert.deepStrictEqual(Findings.undeclared(served, fold), ["x", "y"])
    assert.deepStrictEqual(Findings.offered(served, fold), ["y", "u", "x", "o", "f"])
  })

  it("has the undeclared, and is of the served", () => {
    FastCheck.assert(
      FastCheck.property(rows, FastCheck.array(FastCheck.constantFrom("a", "b", "c", "d", "e")), (rows, served) => {
        const fold = Findings.fold(rows)
        const offered = new Set(Findings.offered(served, fold))
        for (const id of Findings.undeclared(served, fold)) assert.isTrue(offered.has(id))
        for (const id of offered) assert.isTrue(served.includes(id))
        const messages = served.map((id) => result(id))
        const collapsed = Findings.collapse(messages, rows)
        for (const [at, message] of collapsed.entries()) {
          assert.strictEqual(message === messages[at], offered.has(served[at] ?? ""))
        }
      })
    )
  })

  it("reads the results of a conversation, each once", () => {
    const all = ["ran-ok", "ran-error", "absent", "refused", "denied", "aborted", "truncated", "unknown"] as const
    assert.deepStrictEqual(
      Findings.servedToolCallIds([
        { role: "user", content: "hello" },
        { role: "assistant", content: "", toolCalls: [] },
        ...all.map((outcome) => result(outcome, "x", outcome)),
        result("ran-ok")
      ]),
      ["ran-ok", "ran-error", "absent"]
    )
  })

  it("lists what can be judged, by handle", () => {
    const results = ["a", "b", "c d", "e"].map((toolCallId) => ({ toolCallId, toolName: "search" }))
    assert.isUndefined(Findings.offer(undefined, ["a"], results))
    assert.isUndefined(Findings.offer([], [], results))
    assert.isUndefined(Findings.offer([standing("a", "noise")], ["a"], results))
    assert.strictEqual(
      Findings.offer([standing("b", "noise")], ["a", "b", "c d", "z"], results)?.rawContent,
      `[Notice from the framework, not part of the task: results that can be judged]
In \`_findings.previous\` of a call, a result is named by its handle or its call id. Newest first: handle, call id, tool.
- z
- r3, "c d", search
- r1, a, search
[End of notice]`
    )
    const served = Array.from({ length: 40 }, (_, at) => `c${at}`)
    const block = Findings.offer([], served, [])?.rawContent.split("\n")
    assert.strictEqual(block?.[2], "- c39")
    assert.strictEqual(block?.[33], "- c8")
    assert.strictEqual(block?.[34], "+8 more")
  })
})

describe("Findings.collapse", () => {
  const messages = [result("f"), result("o"), result("n"), result("r"), result("u"), result("x")]
  const judged = [
    standing("f", "fact"),
    standing("o", "open"),
    standing("n", "noise", { ref: "art_1" }),
    standing("r", "ruled-out", { line: "words of the model" }),
    standing("u", "noise", { unknownId: true })
  ]
  const collapsed = (mode?: Findings.CollapseMode) =>
    Findings.collapse(messages, judged, mode).flatMap((message, at) => (message === messages[at] ? [] : [message]))

  it("replaces what is judged by a ticket", () => {
    assert.deepStrictEqual(collapsed(), [
      result("n", '{"collapsed":true,"standing":"noise","toolCallId":"n","ref":"art_1"}'),
      result("r", '{"collapsed":true,"standing":"ruled-out","toolCallId":"r"}')
    ])
    assert.deepStrictEqual(
      collapsed("ledger-only").map((message) => message.role === "tool" && message.toolCallId),
      ["f", "n", "r"]
    )
    assert.deepStrictEqual(collapsed("off"), [])
  })

  it("is the same array if nothing changes", () => {
    assert.strictEqual(Findings.collapse(messages, undefined), messages)
    assert.strictEqual(Findings.collapse(messages, []), messages)
    assert.strictEqual(Findings.collapse(messages, [basis("n", "p"), unsettled("n")]), messages)
    assert.strictEqual(Findings.collapse(messages, judged, "off"), messages)
    assert.strictEqual(Findings.collapse(messages, [standing("f", "fact")]), messages)
    for (const outcome of ["refused", "denied", "aborted", "truncated", "unknown"] as const) {
      const unsettled = [result("n", "x".repeat(200), outcome)]
      assert.strictEqual(Findings.collapse(unsettled, judged), unsettled)
    }
  })

  it("uses no ticket that is not shorter", () => {
    const ticket = '{"collapsed":true,"standing":"ruled-out","toolCallId":"r"}'
    const equal = [result("r", "x".repeat(ticket.length))]
    assert.strictEqual(Findings.collapse(equal, judged), equal)
    const longer = [result("r", "x".repeat(ticket.length + 1))]
    assert.deepStrictEqual(Findings.collapse(longer, judged), [result("r", ticket)])
  })

  it("keeps order and pairing, changes content alone, is idempotent, and comes back when revised", () => {
    FastCheck.assert(
      FastCheck.property(rows, words, (rows, word) => {
        const before = JSON.stringify(messages)
        const all = [...rows, standing("n", word, { seq: 99 })]
        const once = Findings.collapse(messages, all)
        assert.strictEqual(Findings.collapse(once, all), once)
        assert.strictEqual(once.length, messages.length)
        for (const [at, message] of once.entries()) {
          const was = messages[at]
          if (was !== undefined) assert.deepStrictEqual({ ...message, content: was.content }, was)
        }
        const revised = Findings.collapse(messages, [...all, standing("n", "open", { seq: 100 })])
        assert.strictEqual(revised[2], messages[2])
        assert.strictEqual(JSON.stringify(messages), before)
      })
    )
  })
})
