import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as CallOutcome from "../../src/kernel/CallOutcome.ts"
import * as Guard from "../../src/kernel/Guard.ts"

const call = (served: string, rest: Partial<CallOutcome.CallOutcome> = {}): CallOutcome.CallOutcome => ({
  toolCallId: "c",
  toolName: "t",
  owner: {},
  outcome: "ran-ok",
  served,
  ...rest
})

const opens = (conditions: ReadonlyArray<Guard.Condition>, outcome: CallOutcome.CallOutcome): boolean =>
  Guard.judge(conditions, Guard.lookup(outcome)).every(({ holds }) => holds)

const on = (field: string, op: Guard.Op, value: unknown): Guard.Condition => ({ field, op, value })

const placed: CallOutcome.PlacedToolResult = {
  placed: true,
  ref: "art_0000000000000000000000",
  kind: "tool-result/t",
  mediaType: "application/json",
  bytes: 9,
  reason: "size"
}

describe("Guard.judge", () => {
  const result = JSON.stringify({ n: 5, s: "b", none: null, list: [1, { x: true }], "a/b": { "~": 1 }, "": 7 })
  const cases: ReadonlyArray<readonly [Guard.Condition, boolean]> = [
    [on("/n", "eq", 5), true],
    [on("/n", "eq", "5"), false],
    [on("/n", "ne", 5), false],
    [on("/n", "ne", "5"), true],
    [on("/n", "gt", 5), false],
    [on("/n", "gt", 4.9), true],
    [on("/n", "gte", 5), true],
    [on("/n", "lt", 5), false],
    [on("/n", "lt", 6), true],
    [on("/n", "lte", 5), true],
    [on("/n", "gt", "4"), false],
    [on("/s", "gt", "a"), true],
    [on("/s", "lt", "b"), false],
    [on("/s", "lte", "b"), true],
    [on("/s", "gt", 1), false],
    [on("/n", "in", [1, 5]), true],
    [on("/n", "in", ["5"]), false],
    [on("/n", "in", []), false],
    [on("/n", "in", 5), false],
    [on("/n", "notIn", [1]), true],
    [on("/n", "notIn", [5]), false],
    [on("/n", "notIn", 1), false],
    [on("/none", "eq", null), true],
    [on("/list", "eq", [1, { x: true }]), true],
    [on("/list/1/x", "eq", true), true],
    [on("/list/01/x", "eq", true), false],
    [on("/list/length", "eq", 2), false],
    [on("/a~1b/~0", "eq", 1), true],
    [on("/", "eq", 7), true],
    [on("", "ne", 1), true],
    [on("outcome", "eq", "ran-ok"), true],
    [on("outcome", "in", ["absent"]), false]
  ]
  for (const [condition, holds] of cases) {
    it(`${condition.field} ${condition.op} ${JSON.stringify(condition.value)} is ${holds}`, () => {
      assert.strictEqual(opens([condition], call(result)), holds)
    })
  }

  for (const op of Guard.Op.literals) {
    it(`${op} does not hold of what is not there`, () => {
      for (const field of ["/gone", "/n/x", "/toString", "/__proto__", "n", "/list/2"]) {
        for (const value of [1, "a", [], null]) assert.isFalse(opens([on(field, op, value)], call(result)))
      }
    })
  }

  it("takes all conditions together", () => {
    assert.isTrue(opens([], call(result)))
    assert.isTrue(opens([on("/n", "gt", 4), on("/s", "eq", "b")], call(result)))
    assert.isFalse(opens([on("/n", "gt", 4), on("/s", "eq", "c")], call(result)))
  })

  it("takes a served text that is no JSON for a text", () => {
    assert.isTrue(opens([on("", "eq", "done")], call("done")))
    assert.isFalse(opens([on("/n", "eq", 5)], call("done")))
  })

  it("reads kept fields before anything that was served, so that placement and notes change nothing", () => {
    const conditions = [on("/n", "eq", 5), on("outcome", "eq", "ran-ok")]
    const fields = Guard.fieldsOf(conditions, JSON.parse(result))
    assert.deepStrictEqual(fields, [{ pointer: "/n", value: 5 }])
    for (const served of [result, `${result}\nNote: the second time.`, "art_0000000000000000000000"]) {
      assert.isTrue(opens(conditions, call(served, { fields })))
      assert.isTrue(opens(conditions, call(served, { fields, placed })))
    }
    assert.isFalse(opens(conditions, call(result, { placed })))
    assert.isFalse(opens([on("/s", "eq", "b")], call(result, { fields })))
  })

  it("tells what it found, and of what is long or no scalar its kind", () => {
    const long = "x".repeat(201)
    const [number, list, gone, text] = Guard.judge(
      [on("/n", "eq", 5), on("/list", "eq", 1), on("/gone", "eq", 1), on("/long", "eq", "x")],
      Guard.lookup(
        call("", {
          fields: [
            { pointer: "/n", value: 5 },
            { pointer: "/list", value: [1] },
            { pointer: "/long", value: long }
          ]
        })
      )
    )
    assert.deepStrictEqual(number, { field: "/n", op: "eq", value: 5, holds: true, found: 5 })
    assert.deepStrictEqual(list, { field: "/list", op: "eq", value: 1, holds: false, foundKind: "array of 1" })
    assert.deepStrictEqual(gone, { field: "/gone", op: "eq", value: 1, holds: false })
    assert.strictEqual(text?.foundKind, "string of length 201")
  })

  it("runs no accessor", () => {
    const trap = Object.defineProperty({}, "n", { enumerable: true, get: () => assert.fail("it was read") })
    assert.deepStrictEqual(Guard.fieldsOf([on("/n", "eq", 1)], trap), [])
  })
})

describe("Guard.malformed", () => {
  it("finds what cannot be judged", () => {
    for (const bad of [
      on("n", "eq", 1),
      on("/a~2", "eq", 1),
      on("/n", "in", 1),
      on("/n", "notIn", "x"),
      on("/n", "gt", null),
      on("/n", "lte", [1]),
      on("/n", "eq", Number.NaN),
      on("/n", "eq", undefined),
      on("/n", "gt", Number.POSITIVE_INFINITY)
    ]) {
      assert.isString(Guard.malformed(bad), JSON.stringify(bad))
    }
    for (const good of [on("", "eq", { a: [null] }), on("outcome", "in", []), on("/a/~0~1/", "lt", "x")]) {
      assert.isUndefined(Guard.malformed(good))
    }
  })
})

describe("Guard.contradiction", () => {
  const never: ReadonlyArray<ReadonlyArray<Guard.Condition>> = [
    [on("/n", "gt", 5), on("/n", "lt", 3)],
    [on("/n", "gt", 5), on("/n", "lte", 5)],
    [on("/n", "gte", 5), on("/n", "lte", 5), on("/n", "ne", 5)],
    [on("/n", "gte", 5), on("/n", "lte", 5), on("/n", "notIn", [5])],
    [on("/n", "in", [])],
    [on("/n", "in", [1, 2]), on("/n", "in", [3])],
    [on("/n", "in", [1, 2]), on("/n", "gt", 2)],
    [on("/n", "eq", 1), on("/n", "eq", 2)],
    [on("/n", "eq", 1), on("/n", "ne", 1)],
    [on("/n", "eq", "x"), on("/n", "gt", 1)],
    [on("/n", "gt", 1), on("/n", "lt", "x")],
    [on("/s", "gt", "b"), on("/s", "lt", "a")],
    [on("/s", "lt", "")],
    [on("/n", "gt", Number.MAX_VALUE)],
    [on("outcome", "eq", "refused")],
    [on("outcome", "notIn", ["ran-ok", "absent", "ran-error"])],
    [on("outcome", "in", ["ran-ok", "absent"]), on("outcome", "eq", "ran-error")],
    [on("outcome", "gt", "zzz")],
    [on("/a", "eq", 1), on("/a/b", "eq", 1)],
    [on("", "in", [{ a: 1 }, { a: 2 }]), on("/a", "gt", 2)]
  ]
  for (const conditions of never) {
    it(`finds that ${JSON.stringify(conditions)} exclude each other`, () => {
      assert.strictEqual(Guard.contradiction(conditions), conditions[0]?.field)
    })
  }

  const sometimes: ReadonlyArray<ReadonlyArray<Guard.Condition>> = [
    [],
    [on("/n", "gt", 3), on("/n", "lt", 5)],
    [on("/n", "gte", 5), on("/n", "lte", 5)],
    [on("/n", "gt", 5), on("/m", "lt", 3)],
    [on("/n", "in", [1, 2]), on("/n", "gt", 1)],
    [on("/n", "ne", 1), on("/n", "ne", 2)],
    [on("/s", "gte", ""), on("/s", "lt", "a")],
    [on("outcome", "ne", "ran-ok"), on("outcome", "ne", "absent")],
    [on("/a", "eq", { b: 1 }), on("/a/b", "eq", 1)],
    [on("/ab", "eq", 1), on("/a", "eq", 2)]
  ]
  for (const conditions of sometimes) {
    it(`lets ${JSON.stringify(conditions)} be`, () => assert.isUndefined(Guard.contradiction(conditions)))
  }

  const number = FastCheck.integer({ min: 0, max: 4 })
  const condition = FastCheck.oneof(
    FastCheck.record({
      field: FastCheck.constant("/n"),
      op: FastCheck.constantFrom<Array<Guard.Op>>("eq", "ne", "gt", "gte", "lt", "lte"),
      value: number
    }),
    FastCheck.record({
      field: FastCheck.constant("/n"),
      op: FastCheck.constantFrom<Array<Guard.Op>>("in", "notIn"),
      value: FastCheck.array(number, { maxLength: 4 })
    })
  )

  it("is found exactly when no number passes", () => {
    // Half steps lie between all bounds, and one step beyond them.
    const numbers = Array.from({ length: 13 }, (_, n) => n / 2 - 1)
    FastCheck.assert(
      FastCheck.property(FastCheck.array(condition, { maxLength: 4 }), (conditions) => {
        const passes = numbers.some((n) => opens(conditions, call(JSON.stringify({ n }))))
        assert.strictEqual(Guard.contradiction(conditions) === undefined, passes)
      }),
      { numRuns: 5_000 }
    )
  })

  it("is never found of a guard that some result passes", () => {
    const field = FastCheck.constantFrom("", "/a", "/a/b", "/b", "outcome")
    const value = FastCheck.oneof(
      FastCheck.jsonValue({ maxDepth: 1 }),
      FastCheck.constantFrom("ran-ok", "absent", 1, {})
    )
    const loose = FastCheck.record({ field, op: FastCheck.constantFrom(...Guard.Op.literals), value })
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(loose, { maxLength: 3 }),
        FastCheck.record({ a: FastCheck.oneof(value, FastCheck.record({ b: value })), b: value }),
        FastCheck.constantFrom(...CallOutcome.Ran.literals),
        (conditions, result, outcome) => {
          const sound = conditions.filter((condition) => Guard.malformed(condition) === undefined)
          const fields = Guard.fieldsOf(sound, result)
          if (opens(sound, call("", { outcome, fields }))) assert.isUndefined(Guard.contradiction(sound))
        }
      ),
      { numRuns: 5_000 }
    )
  })
})
