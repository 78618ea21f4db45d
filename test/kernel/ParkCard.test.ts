import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Engagement from "../../src/kernel/Engagement.ts"
import * as ParkCard from "../../src/kernel/ParkCard.ts"
import * as SafeId from "../../src/kernel/SafeId.ts"
import { M, parked, plan, record } from "./LeaseNotation.ts"

const many = Array.from({ length: 20 }, (_, n) => `s${n}`)
const card = (map: Partial<Engagement.MountedMap>, of: Partial<Engagement.MapEngagementRecord> = {}) =>
  ParkCard.render({ maps: [{ ...M, ...map }], renewalGrace: 3 }, [{ ...parked, ...of }])

const lines = (card: string | undefined) => card?.split("\n").slice(1, -4)

describe("ParkCard", () => {
  it("says what is parked, where its cursor is, why, and how it comes back", () => {
    assert.strictEqual(
      ParkCard.render({ maps: [M, { id: "N", memberIds: ["n"], toolNames: [] }], renewalGrace: 3 }, [
        parked,
        { ...parked, mapId: "N", by: "assumed", at: "n" }
      ]),
      `[Notice from the framework, not part of the task: parked skill maps]
- map: M; cursor: a, unchanged; engagement: parked; reason: its lease ended
  back: call read_skill with one of: a, b
- map: N; cursor: n, unchanged; engagement: parked; reason: its lease ended, and had no cause on record
  back: call read_skill with one of: n
Parking a map stops its instructions and tools from being sent. Calling read_skill as above brings the map back:
that changes its engagement, not its position. A pick that also moves a cursor says so in its result.
You may ignore this notice.
[End of notice]`
    )
  })

  it("is nothing unless something is parked that may be named", () => {
    assert.isUndefined(ParkCard.render(plan(), undefined))
    assert.isUndefined(ParkCard.render(plan(), []))
    assert.isUndefined(ParkCard.render(plan(), [record()]))
    assert.isUndefined(ParkCard.render(plan(), [{ ...parked, mapId: "gone" }]))
    assert.isUndefined(ParkCard.render(plan(), [parked], () => false))
  })

  it("names a live position before the one last seen, and neither if it may not be named", () => {
    const cursor = (mayName: (id: string) => boolean, positions?: { readonly [mapId: string]: string }) =>
      /cursor: ([^,]+),/.exec(ParkCard.render(plan(), [parked], mayName, positions) ?? "")?.[1]
    assert.strictEqual(
      cursor(() => true),
      "a"
    )
    assert.strictEqual(
      cursor(() => true, { M: "b" }),
      "b"
    )
    assert.strictEqual(
      cursor(() => true, { N: "b" }),
      "a"
    )
    assert.strictEqual(
      cursor((id) => id !== "b", { M: "b" }),
      "(unknown)"
    )
    assert.strictEqual(
      cursor((id) => id !== "a"),
      "(unknown)"
    )
    assert.strictEqual(
      cursor(() => true, { M: "elsewhere" }),
      "(unknown)"
    )
  })

  it("does not look past a map's own key for its position", () => {
    const text = ParkCard.render({ maps: [{ ...M, id: "toString" }], renewalGrace: 3 }, [
      { ...parked, mapId: "toString" }
    ])
    assert.include(text, "cursor: a, unchanged")
  })

  it("lists 12 ids in declared order, the cursor's among them, and counts the rest that may be named", () => {
    const text = ParkCard.render(
      { maps: [{ ...M, memberIds: many }], renewalGrace: 3 },
      [{ ...parked, at: "s0" }],
      (id) => id !== "s3"
    )
    assert.include(text, "one of: s0, s1, s2, s4, s5, s6, s7, s8, s9, s10, s11, s12, +7 more")
    assert.include(card({ memberIds: many.slice(0, 12) }), "s10, s11\n")
    assert.include(card({ memberIds: many.slice(0, 13) }), "s11, +1 more\n")
  })

  it("names entries alone while the map has no cursor", () => {
    const { at: _, ...nowhere } = parked
    const text = (positions?: { readonly [mapId: string]: string }) =>
      lines(ParkCard.render({ maps: [{ ...M, entryIds: ["b"] }], renewalGrace: 3 }, [nowhere], undefined, positions))
    assert.deepStrictEqual(text(), [
      "- map: M; cursor: (unknown), unchanged; engagement: parked; reason: its lease ended",
      "  back: call read_skill with one of: b"
    ])
    assert.include(text({ M: "a" })?.[1], "one of: a, b")
  })

  it("has two reasons, whatever parked the map", () => {
    const reasons = (["explicit", "structural", "semantic", "lexical", "assumed"] as const).map(
      (by) => /reason: (.*)/.exec(card({}, { by }) ?? "")?.[1]
    )
    assert.strictEqual(new Set(reasons.slice(0, 4)).size, 1)
    assert.strictEqual(new Set(reasons).size, 2)
  })

  it("lets no id open a line or read as another", () => {
    const text = card(
      { id: "a\n- map: b", memberIds: ["x, y", "(unknown)", "\u2028\u202e\u{e0041}", "é"] },
      { mapId: "a\n- map: b" }
    )
    assert.deepStrictEqual(lines(text), [
      '- map: "a\\n- map: b"; cursor: (unknown), unchanged; engagement: parked; reason: its lease ended',
      '  back: call read_skill with one of: "x, y", "(unknown)", "\\u2028\\u202e\\udb40\\udc41", "é"'
    ])
  })

  it("does not tell a hidden skill's id by way of its map's", () => {
    const text = ParkCard.render(
      { maps: [{ ...M, id: "a" }], renewalGrace: 3 },
      [{ ...parked, mapId: "a" }],
      (id) => id !== "a"
    )
    assert.include(text, "- map: (unknown); cursor: (unknown)")
  })
})

const id = FastCheck.oneof(
  FastCheck.constantFrom("a", "b", "M", "__proto__", "x y"),
  FastCheck.string({ unit: "binary" })
)
const strength = FastCheck.constantFrom("explicit" as const, "lexical" as const, "assumed" as const)

describe("ParkCard laws", () => {
  const map = FastCheck.record({
    id: FastCheck.constantFrom("M", "N", "a"),
    memberIds: FastCheck.uniqueArray(id, { maxLength: 16 }),
    toolNames: FastCheck.constant(["t"])
  })
  const maps = FastCheck.array(map, { maxLength: 3 })
  const records = (bookkeeping: FastCheck.Arbitrary<Partial<Engagement.MapEngagementRecord>>) =>
    FastCheck.tuple(
      FastCheck.array(
        FastCheck.record(
          { mapId: FastCheck.constantFrom("M", "N", "a", "gone"), at: id, by: strength },
          { requiredKeys: ["mapId", "by"] }
        ),
        { maxLength: 4 }
      ),
      FastCheck.infiniteStream(bookkeeping),
      FastCheck.infiniteStream(bookkeeping)
    )
  const bookkeeping = FastCheck.record(
    {
      since: FastCheck.integer({ min: 1, max: 99 }),
      idle: FastCheck.nat(99),
      foundedBy: strength,
      foundedAt: FastCheck.integer({ min: 1, max: 99 }),
      foundedOn: id,
      atBy: strength,
      atSince: FastCheck.integer({ min: 1, max: 99 }),
      witness: FastCheck.string({ minLength: 1 })
    },
    { requiredKeys: ["since", "idle", "foundedBy", "foundedAt"] }
  )
  const hidden = FastCheck.array(id)
  const positions = FastCheck.dictionary(FastCheck.constantFrom("M", "N", "a"), id)

  it("its bytes follow from map, position and reason of what is parked, the filter and the positions", () => {
    FastCheck.assert(
      FastCheck.property(
        maps,
        records(bookkeeping),
        hidden,
        positions,
        (maps, [facts, ones, others], hidden, positions) => {
          const mayName = (id: string) => !hidden.includes(id)
          const [one, other] = [ones, others].map((stream) =>
            facts.map((fact): Engagement.MapEngagementRecord => ({
              ...record(),
              ...stream.next().value,
              ...fact,
              standing: "parked"
            }))
          )
          const riding = { ...record(), mapId: "elsewhere" }
          const plan = { maps, renewalGrace: 3 }
          const strip = (records: Engagement.MapEngagement = []) =>
            records.map(({ at, ...rest }, n) =>
              facts[n]?.at === undefined ? rest : { ...rest, ...(at === undefined ? {} : { at }) }
            )
          assert.strictEqual(
            ParkCard.render(plan, strip(one), mayName, positions),
            ParkCard.render({ ...plan, renewalGrace: 9 }, [...strip(other), riding], mayName, positions)
          )
        }
      )
    )
  })

  it("names no hidden id, reads back as the ids it names, and has a line for every map it should", () => {
    FastCheck.assert(
      FastCheck.property(maps, hidden, (maps, hidden) => {
        const mayName = (id: string) => !hidden.includes(id)
        const once = maps.filter(({ id }, at) => maps.findIndex((map) => map.id === id) === at)
        const text = ParkCard.render(
          { maps: once, renewalGrace: 3 },
          once.map(({ id: mapId }) => ({ ...parked, mapId })),
          mayName
        )
        const nameable = once.map(({ memberIds }) => memberIds.filter(mayName)).filter((ids) => ids.length > 0)
        const named = (lines(text) ?? [])
          .filter((_, at) => at % 2 === 1)
          .map((line) => line.slice("  back: call read_skill with one of: ".length))
        assert.strictEqual(named.length, nameable.length)
        named.forEach((line, at) => {
          const ids = (line.match(/"(?:\\.|[^"\\])*"(?: \(\+\d+ characters\))?|\+\d+ more|[^,\s]+/g) ?? []).map(
            (word) => (word.startsWith('"') && word.endsWith('"') ? JSON.parse(word) : word)
          )
          const expected = nameable[at] ?? []
          const more = expected.length > 12 ? [`+${expected.length - 12} more`] : []
          assert.deepStrictEqual(ids, [...expected.slice(0, 12), ...more])
        })
      })
    )
  })

  it("is printable, on as many lines as it has maps", () => {
    FastCheck.assert(
      FastCheck.property(maps, (maps) => {
        const text = ParkCard.render(
          { maps, renewalGrace: 3 },
          maps.map(({ id: mapId }) => ({ ...parked, mapId }))
        )
        if (text === undefined) return
        assert.notMatch(
          text,
          /[^\n\P{Cc}]|[\u2028\u2029\u0085\u200b-\u200f\u202a-\u202e\ud800-\udfff](?![\udc00-\udfff])(?<![\ud800-\udbff][\udc00-\udfff])/u
        )
        assert.strictEqual(text.split("\n").length, 5 + 2 * maps.filter(({ memberIds }) => memberIds.length > 0).length)
      })
    )
  })
})

describe("SafeId", () => {
  it("prints a plain id bare, and anything else as a literal that reads back", () => {
    for (const plain of ["a", "skill.one:two-3_4", "x".repeat(64)]) assert.strictEqual(SafeId.print(plain), plain)
    for (const other of [
      "",
      " a",
      "a/b",
      'a"b',
      "a\\b",
      "é",
      "a\nb",
      "\u0085\u2028\u2029\u007f\u200b\ufeff",
      "\ud800",
      "\u{e0001}"
    ]) {
      assert.strictEqual(JSON.parse(SafeId.print(other)), other)
      assert.match(SafeId.print(other), /^"[^\p{Cc}\u2028\u2029\u200b\ufeff]*"$/u)
    }
  })

  it("cuts by code point before it quotes, and counts what it cut outside the quotes", () => {
    assert.strictEqual(SafeId.print("😀".repeat(65)), `"${"😀".repeat(64)}" (+1 characters)`)
    assert.strictEqual(SafeId.print("x".repeat(70)), `"${"x".repeat(64)}" (+6 characters)`)
    assert.strictEqual(SafeId.print(`${"x".repeat(63)}"""`), `"${"x".repeat(63)}\\"" (+2 characters)`)
  })
})
