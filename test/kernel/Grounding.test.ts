import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck, Schema } from "effect"
import { existsSync, readFileSync } from "node:fs"
import * as CallOutcome from "../../src/kernel/CallOutcome.ts"
import * as Coverage from "../../src/kernel/Coverage.ts"
import type * as Event from "../../src/kernel/Event.ts"
import * as Grounding from "../../src/kernel/Grounding.ts"
import * as Message from "../../src/kernel/Message.ts"

const judge = (
  answer: string,
  evidence: ReadonlyArray<unknown>,
  options: Grounding.Options = {},
  exempt: ReadonlyArray<string> = []
) => {
  const verdict = Grounding.judge({ answer, evidence, exempt, options })
  assert.isTrue(Schema.is(Grounding.Verdict)(verdict))
  return verdict
}

const named = (answer: string, ...evidence: ReadonlyArray<unknown>) =>
  judge(answer, evidence).unsupported.map(({ value }) => value)

describe("Grounding.judge", () => {
  it("names the values of an answer that stand in no source, in order, as they are spelled", () => {
    const evidence = [{ id: "JG7FMM", total: 10519, "flight HAT069": { at: "13:30:00" } }]
    const answer = "JG7FMM costs $10,519.00 on HAT069 at 1:30 PM, XK2PQZ costs $7,447 from 2024-05-21 at 09:41."
    assert.deepStrictEqual(judge(answer, evidence), {
      unsupported: [
        { value: "XK2PQZ", shape: "identifier" },
        { value: "$7,447", shape: "number" },
        { value: "2024-05-21", shape: "date" },
        { value: "09:41", shape: "time" }
      ],
      candidates: 8,
      truncated: false
    })
  })

  it("takes what the person and the application said for a source, and nothing of the answer itself", () => {
    assert.deepStrictEqual(judge("JG7FMM and JG7FMM", [], {}, ["My id is jg7fmm."]).unsupported, [])
    assert.deepStrictEqual(named("JG7FMM and JG7FMM"), ["JG7FMM"])
  })

  it("judges no empty answer and no prose", () => {
    assert.deepStrictEqual(judge("", []), { unsupported: [], candidates: 0, truncated: false })
    assert.deepStrictEqual(judge("Three of them, as they say.", []).candidates, 0)
  })

  it("states its limits: short numbers, names without a digit and false sentences pass", () => {
    const evidence = [{ paid: 4711, due: 8822 }]
    assert.deepStrictEqual(named("It costs 999, says Napoleon. 3/4 of it.", ...evidence), [])
    assert.deepStrictEqual(named("Due are 4711, paid are 8822.", ...evidence), [])
  })

  it("tells 12 values, of 64 characters each, and counts the others", () => {
    const ids = Array.from({ length: 15 }, (_, index) => `id-${1000 + index}`)
    const verdict = judge(ids.join(" "), [])
    assert.deepStrictEqual(
      verdict.unsupported.map(({ value }) => value),
      ids.slice(0, 12)
    )
    assert.strictEqual(verdict.more, 3)
    assert.strictEqual(verdict.candidates, 15)
    assert.notProperty(judge(ids.slice(0, 12).join(" "), []), "more")
    assert.deepStrictEqual(named(`a${"1".repeat(64)}`), [`a${"1".repeat(63)}… 1 more`])
  })

  it("keeps to the options", () => {
    assert.deepStrictEqual(judge("It costs 999.", [], { minDigits: 3 }).unsupported, [
      { value: "999", shape: "number" }
    ])
    assert.deepStrictEqual(judge("It costs 4711.", [], { minDigits: 5 }).candidates, 0)
    assert.deepStrictEqual(judge("Gate ABC and DEF", ["gate abc"], { shapes: [/[A-Z]{3}/g] }).unsupported, [
      { value: "DEF", shape: "declared" }
    ])
    assert.deepStrictEqual(judge("Call 555-1234 on May 21, 2024.", [], { exempt: [/555-\d+/, /May .*/] }).candidates, 0)
    assert.deepStrictEqual(judge("No. 12 and 1234", ["no_12", "no_1234"], { minDigits: 2 }).unsupported, [
      { value: "12", shape: "number" }
    ])
    assert.deepStrictEqual(judge("24-hour", [], { shapes: [/\d+-hour/] }).unsupported, [
      { value: "24-hour", shape: "declared" }
    ])
  })

  it("walks keys and leaves, and JSON inside of texts", () => {
    const inner = JSON.stringify({ order: "A-9917", lines: ["\nB-2218", [3310, 4410]] })
    const evidence = [{ content: [{ type: "text", text: inner }] }]
    assert.deepStrictEqual(named("A-9917, B-2218, 3310 and 4410", ...evidence), [])
    let nested = "\nC-7781"
    for (let level = 0; level < 4; level++) nested = JSON.stringify({ nested })
    assert.deepStrictEqual(named("C-7781", nested, { nested }), [])
    assert.deepStrictEqual(named("3,310,441", ...evidence), ["3,310,441"])
    assert.deepStrictEqual(named("id_12345 is 77001", { id_12345: 77001 }), [])
    assert.deepStrictEqual(named("B-2218", `{"a":"\\nB-2218"}\n{"a":1}`), [])
  })

  it("reads 200,000 tokens of evidence, and says so if there were more", () => {
    const many = (n: number) => "w ".repeat(n)
    assert.deepStrictEqual(judge("X4711", [`${many(199_998)}X4711`]), {
      unsupported: [],
      candidates: 1,
      truncated: false
    })
    const over = judge("X4711", [`${many(200_000)}X4711`])
    assert.isTrue(over.truncated)
    assert.lengthOf(over.unsupported, 1)
    assert.isTrue(judge("X4711", [many(200_000), "X4711"]).truncated)
    assert.isFalse(judge("X4711", [many(199_999), " "], {}, ["X4711"]).truncated)
    assert.deepStrictEqual(judge("X4711", [many(200_001)], {}, ["X4711"]).unsupported, [])
    assert.isTrue(judge("X4711", [], {}, [many(200_001)]).truncated)
    assert.isTrue(
      judge(
        "X4711",
        Array.from({ length: 200_001 }, () => 7)
      ).truncated
    )
  })

  it("reads 20,000 tokens of an answer, and says so if there were more", () => {
    const whole = judge(`${"w ".repeat(19_999)}X4711 `, [])
    assert.lengthOf(whole.unsupported, 1)
    assert.isFalse(whole.truncated)
    assert.notProperty(whole, "unread")
    for (const rest of ["X4711", "May 21, 2024", "w"]) {
      assert.deepStrictEqual(judge(`${"w ".repeat(20_000)}${rest}`, []), {
        unsupported: [],
        candidates: 0,
        truncated: true,
        unread: true
      })
    }
  })

  it("is total on hostile evidence, and ends", () => {
    const loop: { self?: unknown; id: string } = { id: "X4711" }
    loop.self = loop
    const bomb = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("no")
        }
      }
    )
    const thrower = {
      get id() {
        throw new Error("no")
      }
    }
    assert.deepStrictEqual(
      named("X4711", bomb, thrower, loop, Symbol("x"), () => 1, 10n, undefined, NaN),
      []
    )
    let deep: unknown = "X4711"
    for (let level = 0; level < 20_000; level++) deep = [deep]
    assert.deepStrictEqual(named("X4711", deep), [])
    let nested = JSON.stringify("X4711")
    for (let level = 0; level < 8; level++) nested = JSON.stringify([nested])
    assert.isArray(named("X4711", nested))
    for (const unit of [
      "9",
      "May 1 ",
      "may ",
      "1,",
      "10:00-",
      "about 1",
      "#L1",
      "...1",
      "x.Y",
      "1 pm ",
      "2024-01-01T"
    ]) {
      const verdict = judge(unit.repeat(20_000), [unit.repeat(20_000)])
      assert.strictEqual(verdict.truncated, verdict.unread === true)
    }
    FastCheck.assert(
      FastCheck.property(FastCheck.fullUnicodeString(), FastCheck.array(FastCheck.anything()), (answer, evidence) => {
        judge(answer, evidence, {}, [answer])
      })
    )
  })

  it("names nothing of what it was given as evidence", () => {
    const texts = FastCheck.stringOf(FastCheck.constantFrom(..."aB19.,:-/#@$% _TZ+\n"), { maxLength: 60 })
    FastCheck.assert(
      FastCheck.property(texts, (text) => {
        assert.deepStrictEqual(named(text, text), [])
        assert.deepStrictEqual(named(text, { said: [text] }), [])
        assert.deepStrictEqual(judge(text, [], {}, [text]).unsupported, [])
      }),
      { numRuns: 2_000 }
    )
  })

  it("names nothing more when there is more evidence", () => {
    const texts = FastCheck.stringOf(FastCheck.constantFrom(..."aB19.,:-/ _"), { maxLength: 40 })
    FastCheck.assert(
      FastCheck.property(texts, texts, texts, (answer, one, other) => {
        const fewer = named(answer, one)
        for (const value of named(answer, one, other)) assert.include(fewer, value)
      }),
      { numRuns: 1_000 }
    )
  })
})

describe("The field of a number", () => {
  it("says what it counts, also if it is a list or says no more than which of some it is", () => {
    for (const source of [{ latency: { p95: 12345 } }, { latencies: [1, 12345] }, [{ duration: { value: 12345 } }]]) {
      assert.deepStrictEqual(named("12.345 s", source), [])
    }
    for (const source of [
      { latency: { at: 12345 } },
      { of: [12345] },
      { s: 12345 },
      { latency: "12345 of the pages" }
    ]) {
      assert.deepStrictEqual(named("12.345 s", source), ["12.345"])
    }
  })
})

/** Each says in the answer what the source knows in another spelling, or something that only looks like it. */
const spellings: {
  readonly [kind: string]: ReadonlyArray<readonly [answer: string, source: unknown, known: boolean]>
} = {
  "a day": [
    ["May 21, 2024", "2024-05-21", true],
    ["May 21, 2024", "2024-05-22", false],
    ["May 21, 2024", "2023-05-21", false],
    ["May 21st, 2024", { on: "05/21/2024" }, true],
    ["21 May 2024", "2024/5/21", true],
    ["21st of May 2024", "21.05.2024", true],
    ["Sept. 3, 2024", "September 3, 2024", true],
    ["Sept. 3, 2024", "October 3, 2024", false],
    ["2024-05-21", "May 21, 2024", true],
    ["2024-05-21", "May 12, 2024", false],
    ["05/21/2024", "2024-05-21", true],
    ["05/06/2024", "2024-05-06", true],
    ["05/06/2024", "2024-06-05", true],
    ["05/06/2024", "2024-05-07", false],
    ["May 21", "2024-05-21", true],
    ["May 21", "2024-05-12", false],
    ["May 21, 2024", "on May 21", false],
    ["May 21, 2024", "on May 21 of next year; today is 2024-01-02", true],
    ["May 2024", "2024-05-21", true],
    ["May 2024", "2024-06-21", false],
    ["in 2024", "2024-05-21", true],
    ["in 2025", "2024-05-21", false],
    ["2024-05-21", "2024-05-21T13:30:00Z", true],
    ["February 29", "2024-02-29", true],
    ["May 2024", "2024-05", true],
    ["2024-05", "2024-05-21", true],
    ["2024-05", "May 2024", true],
    ["2024-05", "2024-06-21", false],
    ["2024-05", ["2024", "05"], false],
    ["2024-13", "2024-12-13", false],
    ["21-May-2024", "2024-05-21", true],
    ["21-May-2024", "2024-05-22", false],
    ["2024-05-21", "21/May/2024", true],
    ["2024-May-21", "2024-05-21", true],
    ["May 32, 2024", "2024", true],
    ["May 21:30", "2024-05-21", false],
    ["Mayor 2100", "2024-05-21", false]
  ],
  "a time": [
    ["1:30 PM", "13:30", true],
    ["1:30 PM", "01:30", false],
    ["13:30", "1:30pm", true],
    ["1:30 a.m.", "2024-05-21T01:30:00.000Z", true],
    ["1:30 PM", "2024-05-21T01:30:00Z", false],
    ["03:00", "03:00:00+1", true],
    ["11:00 AM", "not before 11am", true],
    ["11:00 AM", "11am", true],
    ["11:00 AM", "not before 11 a.m.", true],
    ["11:00 AM", "not before 11pm", false],
    ["11:00 AM", "not before 11", false],
    ["2024-05-21T13:30:00Z", "2024-05-21 13:30:00", true],
    ["2024-05-21T13:30:00Z", "2024-05-21 14:30:00", false],
    ["2024-05-21T13:30:00Z", "2024-05-22 13:30:00", false],
    ["10:00-12:30", ["10:00", "12:30"], true],
    ["10:00-12:30", ["10:00", "12:31"], false],
    ["13:30", "13:30:45", true],
    ["1:30 PM", "2024-05-21T13:30:45Z", true],
    ["13:31", "13:30:45", false],
    ["13:30:45", "13:30", false],
    ["14:00Z", "2024-05-21T14:00:00Z", true],
    ["14:00UTC", "14:00", true],
    ["14:00Z", "15:00", false],
    ["2024-05-21T13:30Z", "2024-05-21T13:30:45Z", true]
  ],
  "a range": [
    ["rooms 101-105", [101, 105], true],
    ["rooms 101-105", [101, 106], false],
    ["rooms 101-105", [105], false],
    ["rooms 105-101", [101, 105], false],
    ["300-400 words", [300, 400], true],
    ["10-12 minutes", [10, 12], true],
    ["10-12 minutes", [10.4, 12], false],
    ["41-46°F", [41, 46], true],
    ["$5-$10", [5, 10], true],
    ["$5-10", [5, 11], false],
    ["10k-20k", ["10k", "20k"], true],
    ["seats 12A-14C", ["12A", "14C"], true],
    ["seats 12A-14D", ["12A", "14C"], false],
    ["pages 12-1500", [12, 1500], true],
    ["pages 12-1501", [12, 1500], false],
    ["100/200", [100, 200], true],
    ["120/80", [120, 80], true],
    ["120/81", [120, 80], false],
    ["2024-05-21/2024-05-24", ["2024-05-21", "2024-05-24"], true],
    ["2024-05-21/2024-05-25", ["2024-05-21", "2024-05-24"], false],
    ["May 21-24, 2024", ["2024-05-21", "2024-05-24"], true],
    ["May 21–24, 2024", ["2024-05-21", "2024-05-24"], true],
    ["21-24 May 2024", ["2024-05-21", "2024-05-24"], true],
    ["May 21-24", ["2024-05-21", "2024-05-24"], true],
    ["May 21-25, 2024", ["2024-05-21", "2024-05-24"], false],
    ["2024-05-24", "May 21-24, 2024", true],
    ["2024-11-12", [2024, 11, 12], false],
    ["rev 10-11-12", [10, 11, 12], false]
  ],
  thousands: [
    ["10,519", 10519, true],
    ["10519", "10,519", true],
    ["$10,519.00", 10519, true],
    ["10,519", 10518, false],
    ["10,519", [10, 519], false],
    ["1234.50", 1234.5, true],
    ["1.234.567", 1234567, true],
    ["1.234.567", 1234568, false],
    ["12.345,67", 12345.67, true],
    ["12.345,67", 12345.68, false],
    ["12.345,67", "12.345,67", true],
    ["12345.67", "12.345,67", true],
    ["1.2.345", 12345, false],
    ["1.234.567.8", 1234567, false],
    ["1234567", "1.234.567.8", false],
    ["1234567", "x1'234'567", false],
    ["1234567", "1'234'567'8", false],
    ["1234567", "1 234 567", true],
    ["1234567", "1'234'567", true],
    ["1234567", "1\u00a0234\u00a0567", true],
    ["1234567.89", "1 234 567,89", true],
    ["1234568", "1 234 567", false],
    ["1234", "1 234", false],
    ["USD1,234", 1234, true],
    ["USD1,234.50", 1234.5, true],
    ["USD1,234", 1235, false],
    ["US$1,234", 1234, true],
    ["US$1,235", 1234, false],
    ["$1,234/month", 1234, true],
    ["$1,235/month", 1234, false],
    ["1.5e6", 1500000, true],
    ["1.5e6", 1600000, false],
    ["1500000", "1.5e6", true],
    ["1500001", "1.5e6", false],
    ["0.00000012345", 1.2345e-7, true]
  ],
  "a sign": [
    ["a profit of 5000", { profit: -5000 }, false],
    ["a loss of 5000", { profit: -5000 }, true],
    ["5000 below", { height: -5000 }, true],
    ["a loss of 5001", { profit: -5000 }, false],
    ["it is -5000", { profit: -5000 }, true],
    ["it is −5000", { profit: -5000 }, true],
    ["it is −5000", { profit: 5000 }, false],
    ["it is -5000", { balance: 5000 }, false],
    ["a loss: -5000", { balance: 5000 }, false],
    ["it is -5000", "a loss of 5000", true],
    ["it is -$1,234.50", { balance: 1234.5 }, false],
    ["it is -1.235 million", { balance: 1234567 }, false],
    ["34.6037° S", -34.6037, true],
    ["34.6037° N", -34.6037, false],
    ["order A-5000", ["A-5000"], true]
  ],
  "a rounding": [
    ["1234.57", 1234.5678, true],
    ["1234.56", 1234.5678, false],
    ["1,235", 1234.5678, true],
    ["1,234", 1234.5678, false],
    ["1,235", 1236, false],
    ["1234.5678", 1234.57, false],
    ["12,300", 12345, false],
    ["about 12,300", 12345, true],
    ["about **12,300**", 12345, true],
    ["roughly 12,400", 12345, false],
    ["over 12,000", 12345, true],
    ["about 10,000", 12345, false],
    ["over 12,000", 11950, false],
    ["more than 12,000", 11950, false],
    ["over 12,000", 12000, true],
    ["under 12,000", 11950, true],
    ["under 12,000", 12345, false],
    ["less than 12,000", 12040, false],
    ["nearly 12,000", 11950, true],
    ["nearly 12,000", 12040, false],
    ["around 12,000", 12040, true],
    ["over 1234.5", 1234.46, false],
    ["about 12,340", 12345, true],
    ["~12,300", 12345, true],
    ["-1,235", -1234.5678, true]
  ],
  "another unit": [
    ["12.35%", 0.12345, true],
    ["12.36%", 0.12345, false],
    ["12.35 percent", 0.12345, true],
    ["1.235 million", 1234567, true],
    ["1.236 million", 1234567, false],
    ["$1.235 million", 1234567, true],
    ["1.235 widgets", 1234567, false],
    ["$100,000", "a fee of $100K", true],
    ["$101,000", "a fee of $100K", false],
    ["1,600,000 people", "1.6 million people", true],
    ["1,700,000 people", "1.6 million people", false],
    ["1,600,000", "$1.6M", true],
    ["1,600,000", "1.6m of rope", false],
    ["1234ms", "1.234 s", true],
    ["1234ms", { seconds: 1.234 }, true],
    ["1234ms", 1.234, false],
    ["1,234 ms", "1.235 s", false],
    ["12.345s", { elapsed: 12345 }, true],
    ["12.345s", { elapsed: 12346 }, false],
    ["12.345 s", { durationMs: 12345 }, true],
    ["12.345 s", { duration_ms: [12345] }, true],
    ["12.345 s", { duration_us: 12345 }, false],
    ["12.345 s", "It took 12345.", true],
    ["12.345 s", "It is 12345.", false],
    ["5000 ms", { n: 5 }, false],
    ["5000 ms", { seconds: 5 }, true],
    ["5000 ms", "5 minutes", false],
    ["3,000 ms", "page 3 of 9", false],
    ["10800 seconds", { rank: 3 }, false],
    ["10800 seconds", "3 hours", true],
    ["86,400 seconds", "1 day", true],
    ["1500 milliseconds", "1.5 s", true],
    ["1536 KB", { bytes: 1572864 }, true],
    ["1537 KB", { bytes: 1572864 }, false],
    ["1536 KB", { count: 1572864 }, false],
    ["2048 bytes", "2 KB", true],
    ["2000 meters", "2 km", true],
    ["2000 meters", "2 kg", false],
    ["2000 mm", { m: 2 }, false],
    ["2000 mm", { height_m: 2 }, true],
    ["1,234 kilometers", "1234000 m", true],
    ["5000 grams", "5 kg", true],
    ["1200 cents", 12, false],
    ["1200 cents", { price: 12 }, true],
    ["1200 cents", "12 apples", false],
    ["1200 cents", "€12", true],
    ["1000%", 10, false],
    ["1000%", { rate: 10 }, true],
    ["0.1235", "12.35%", true],
    ["0.1236", "12.35%", false],
    ["0.1235", "12.35 kg", false],
    ["$1,234.50", { cents: 123450 }, true],
    ["$1,234.51", { cents: 123450 }, false],
    ["1234.50", { cents: 123450 }, false],
    ["1.234 constructor", 1234, false]
  ],
  "a part of an id": [
    ["certificate 7504069", "certificate_7504069", true],
    ["certificate 7504068", "certificate_7504069", false],
    ["certificate 504069", "certificate_7504069", false],
    ["gift_card_7504069", "certificate_7504069", false],
    ["user sophia_silva_7557", "sophia_silva_7557@example.com", true],
    ["line 1474", "https://x.io/fields.py#L1474", true],
    ["fields2.py", "https://x.io/fields2.py#L1474", true],
    ["on Trends24", "https://trends24.in/united-states/", true],
    ["on Trends25", "https://trends24.in/united-states/", false],
    ["on trends24", "www.trends24.in", true],
    ["on trends24", "trends24.5", false],
    ["card ending in 7447", "...7447", true],
    ["...7447", "7447", true],
    ["...7448", "7447", false],
    ["1475", "1474.1475", false],
    ["2024", "rev-2024-b", true]
  ],
  "words around it": [
    ["the 24-hour window", "", true],
    ["a 1000-page book", "", false],
    ['{"amount":12.34}', 12.34, true],
    ['{"amount":12.35}', 12.34, false],
    ['{"at":"2024-05-21"}', "May 21, 2024", true],
    ['{"text":"\\nX4711"}', "X4711", true],
    ['{"text":"\\nX4711"}', "X4712", false],
    ["Reservation:JG7FMM", "JG7FMM", true],
    ["Reservation:JG7FMM", "JG7FMN", false],
    ["on line 1475.To fix this", "1475", true],
    ["on line 1475.To fix this", "1476", false],
    ["as follows:1. Go", "", true],
    ["characters.2 Then", "", true],
    ["v1.2", "", false],
    ["HAT069/HAT083", ["HAT069", "HAT083"], true],
    ["HAT069/HAT084", ["HAT069", "HAT083"], false],
    ["the 20th", "", true],
    ["ABC-1234", "1234", false],
    ["ABC-1234", "ABC and 1234", false],
    ["Order#4711", "4711", true],
    ["Order#4712", "4711", false],
    ["ID:X4711", "X4711", true],
    ["ID:X4712", "X4711", false],
    ["v1.2.3", "1.2.3", true],
    ["v1.2.4", "1.2.3", false],
    ["1.2.3", "v1.2.3", true]
  ]
}

describe("The default shapes", () => {
  for (const [kind, table] of Object.entries(spellings)) {
    for (const [answer, source, known] of table) {
      it(`${known ? "know" : "do not know"} ${kind}: ${answer} of ${JSON.stringify(source)}`, () => {
        assert.strictEqual(named(answer, source).length === 0, known)
        const said = typeof source === "string" ? source : JSON.stringify(source)
        assert.strictEqual(judge(answer, [], {}, [said]).unsupported.length === 0, known)
      })
    }
  }
})

const foreign: Event.Event = { _tag: "RunStarted", runId: "r", agent: "a", manifest: { limits: {} }, input: "" }
const started: Event.Event = { ...foreign, manifest: { limits: {}, skills: { maps: [], open: ["s"] } } }
const at = { iteration: 1, toolCallId: "c", toolName: "look" }
const settled = (outcome: Message.Settlement, served: string, toolName = "look"): Event.Event => ({
  _tag: "ToolSettled",
  ...at,
  toolName,
  outcome,
  served
})
const called = (args: unknown, toolName = "look"): Event.Event => ({
  _tag: "ToolCalled",
  ...at,
  toolName,
  args,
  replay: "pure"
})
const piece = (text: string, origin: Event.Origin): Event.Event => ({
  _tag: "PieceDeclared",
  hash: "h",
  id: "p",
  slot: "system",
  origin,
  text
})
const carried = (message: Message.Message, origin?: Event.Origin): Event.Event => ({
  _tag: "MessageCarried",
  from: { runId: "q", seq: 1 },
  message,
  ...(origin === undefined ? {} : { origin })
})
const tool = (outcome: Message.Settlement, content: string, toolName = "look"): Message.Message => ({
  role: "tool",
  toolCallId: "c",
  toolName,
  outcome,
  content
})

/** Whether an answer with the value is grounded after what happened. */
const grounds = (value: string, ...events: ReadonlyArray<Event.Event>) =>
  Grounding.judge({ answer: value, ...Grounding.corpus([started, ...events]) }).unsupported.length === 0

describe("Grounding.corpus", () => {
  it("lets results of calls that ran and returned ground, and those of no other", () => {
    for (const outcome of Message.Settlement.literals) {
      assert.strictEqual(grounds("X4711", settled(outcome, "It is X4711.")), outcome === "ran-ok", outcome)
      assert.strictEqual(grounds("X4711", carried(tool(outcome, "X4711"))), outcome === "ran-ok", outcome)
    }
  })

  it("reads a result as JSON where it is", () => {
    assert.deepStrictEqual(Grounding.corpus([settled("ran-ok", '{"a":1}'), settled("ran-ok", "a: 1")]).evidence, [
      { a: 1 },
      "a: 1"
    ])
  })

  it("lets the person and the application exempt", () => {
    assert.isTrue(grounds("X4711", { ...started, input: "X4711?" }))
    assert.isTrue(grounds("X4711", { _tag: "MessageReceived", content: "X4711?" }))
    assert.isTrue(grounds("X4711", piece("X4711.", "app")))
    assert.isTrue(grounds("X4711", piece("X4711.", "person")))
    assert.isTrue(grounds("X4711", carried({ role: "user", content: "X4711" })))
    assert.isTrue(grounds("X4711", carried({ role: "user", content: "X4711" }, "app")))
    assert.deepStrictEqual(Grounding.corpus([started]), { evidence: [], exempt: [] })
  })

  const refusal = {
    tag: "UnknownTool",
    law: "X4711",
    code: "X4711",
    what: "There is no X4711.",
    next: "Call X4711.",
    outcome: "not-applied",
    retry: "never"
  } as const
  const reply = { _tag: "ModelReplied", iteration: 1, content: "X4711", toolCalls: [] } as const
  const traps: ReadonlyArray<readonly [what: string, event: Event.Event]> = [
    ["a notice of the runtime", piece("X4711.", "runtime")],
    ["a piece that a model wrote", piece("A summary: X4711.", "model")],
    ["a piece that a tool wrote", piece("X4711.", "tool")],
    ["a carried correction", carried({ role: "user", content: "X4711" }, "runtime")],
    ["a carried text that a model wrote in a person's place", carried({ role: "user", content: "X4711" }, "model")],
    ["an earlier answer, carried", carried({ role: "assistant", content: "X4711", toolCalls: [] })],
    ["a carried result of the runtime's", carried(tool("ran-ok", "X4711"), "runtime")],
    ["a carried result of our tools", carried(tool("ran-ok", "X4711", "read_skill"))],
    ["an earlier reply", reply],
    ["an earlier answer", { _tag: "Answered", iteration: 1, content: "X4711" }],
    ["the arguments of a call", called({ id: "X4711" })],
    ["a call of a tool of that name", called({}, "X4711")],
    ["the name of a tool that returned", settled("ran-ok", "nothing", "X4711")],
    ["a refusal", { _tag: "ToolSettled", ...at, outcome: "refused", served: "no X4711", error: refusal }],
    ["an error's sentence", settled("ran-error", "X4711 failed")],
    [
      "a reminder",
      { _tag: "StepReminded", iteration: 1, mapId: "m", skillId: "s", step: 0, content: "Do step X4711 first." }
    ],
    [
      "a tool's definition",
      { _tag: "ToolDeclared", hash: "h", name: "X4711", schema: { X4711: 1 }, annotations: { replay: "pure" } }
    ],
    [
      "a pick that was refused",
      { _tag: "SkillRefused", ...at, requestedId: "X4711", allowed: ["X4711"], reason: "hidden" }
    ],
    ["a failure", { _tag: "ModelFailed", iteration: 1, reason: "X4711", problem: refusal }]
  ]
  for (const [what, event] of traps) {
    it(`takes nothing from ${what}`, () => assert.isFalse(grounds("X4711", event)))
  }
  for (const name of CallOutcome.frameworkTools) {
    it(`takes nothing from a result of ${name}`, () =>
      assert.isFalse(grounds("X4711", settled("ran-ok", "X4711", name))))

    it(`takes what a foreign tool named ${name} found`, () => {
      for (const event of [settled("ran-ok", "X4711", name), carried(tool("ran-ok", "X4711", name))]) {
        const corpus = Grounding.corpus([foreign, event])
        assert.deepStrictEqual(Grounding.judge({ answer: "X4711", ...corpus }).unsupported, [])
      }
    })
  }

  const absence = Either.getOrThrow(
    Coverage.absent({
      what: "order L4711",
      checked: ["mailbox C4711", { what: "ledger", why: "since C4712" }],
      notChecked: ["archive N4711"],
      cannotCover: [{ what: "paper P4711", why: "box P4712" }],
      tryInstead: "ask T4711"
    })
  )

  it("lets an absence ground its three lists, and nothing else of it", () => {
    const event = settled("absent", JSON.stringify(absence))
    for (const value of ["C4711", "C4712", "N4711", "P4711", "P4712"]) assert.isTrue(grounds(value, event), value)
    for (const value of ["L4711", "T4711", "wherefore_absent2"]) assert.isFalse(grounds(value, event), value)
    assert.isFalse(grounds("C4711", settled("ran-error", JSON.stringify(absence))))
  })

  it("takes a text that looks like an absence, of a call that is none, for data", () => {
    const served = JSON.stringify({ ...absence, price: "R4711" })
    for (const event of [settled("ran-ok", served), carried(tool("ran-ok", served))]) {
      for (const value of ["C4711", "L4711", "T4711", "R4711"]) assert.isTrue(grounds(value, event), value)
    }
    const covered = JSON.stringify({ wherefore_coverage: { checked: ["shop 4711"], note: "N8822" }, result: 1 })
    assert.isTrue(grounds("N8822", settled("ran-ok", covered)))
  })

  it("lets an absence ground nothing that it cannot read, so that no decoration adds to it", () => {
    const served = `${JSON.stringify(absence)}\n(The same call returned the same before: X4711.)`
    for (const value of ["C4711", "L4711", "X4711"]) assert.isFalse(grounds(value, settled("absent", served)))
  })

  it("lets a result with a boundary ground with its lists, and an absence inside of one with its own", () => {
    const covered = Either.getOrThrow(Coverage.coverage({ id: "R4711" }, { notChecked: ["archive N4711"] }))
    assert.isTrue(grounds("R4711 N4711", settled("ran-ok", JSON.stringify(covered))))
    const both = Either.getOrThrow(Coverage.coverage(absence, { notChecked: ["archive B4711"] }))
    assert.isTrue(grounds("B4711 C4711", settled("absent", JSON.stringify(both))))
    assert.isFalse(grounds("L4711", settled("absent", JSON.stringify(both))))
  })

  it("takes nothing from what a tool echoes of its arguments", () => {
    const events = [
      called({ id: "X4711", page: "P9001", depth: { n: 8812 } }),
      settled("ran-ok", JSON.stringify({ id: "x4711", text: "for X4711: R5001 (8812)", page: "P9001" }))
    ]
    const echoes = (toolName: string) => (toolName === "look" ? ["id", "depth"] : [])
    const named = (value: string, options: Grounding.CorpusOptions) =>
      Grounding.judge({ answer: value, ...Grounding.corpus(events, options) }).unsupported.length > 0
    for (const value of ["X4711", "x4711", "8812"]) {
      assert.isTrue(named(value, { echoes }), value)
      assert.isFalse(named(value, {}), value)
      assert.isFalse(named(value, { echoes: () => ["other"] }), value)
    }
    assert.isFalse(named("R5001", { echoes }))
    assert.isFalse(named("P9001", { echoes }))
    const [, result] = events
    const alone = Grounding.corpus(result === undefined ? [] : [result], { echoes })
    assert.deepStrictEqual(Grounding.judge({ answer: "X4711", ...alone }).unsupported, [])
  })

  /** Each result says the argument in another spelling, or with it as a part of something else. */
  const repeats: ReadonlyArray<readonly [arg: unknown, result: string, value: string, isEcho: boolean]> = [
    ["99887", '{"url":"https://shop/orders/99887"}', "99887", true],
    ["99887", '{"url":"https://shop/orders/99887/lines/55443"}', "55443", false],
    ["99887", "order_99887 is unknown", "99887", true],
    ["99887", "order_99886 is there", "99886", false],
    ["99887", '{"99887":{"found":false}}', "99887", true],
    [99887, '{"id":"99,887"}', "99887", true],
    ["X 99887", "no X_99887 here", "99887", true],
    ["A-1001", "order:A-1001 is unknown", "A-1001", true],
    ["order:A-1001", "A-1001 is unknown", "A-1001", true],
    ["2024-05-21", "on May 21, 2024", "2024-05-21", true],
    ["2024-05-21", "on May 21-24, 2024", "May 21, 2024", true],
    ["2024-05-21", "on May 21-24, 2024", "May 24, 2024", false],
    ["2024-05-21", '{"on":"2024-05-21T00:00:00Z"}', "2024-05-21", true],
    ["2024-05-21", '{"on":"2024-05-21T13:30:00Z"}', "13:30", false],
    ["May 21, 2024", '{"on":"2024-05-21"}', "05/21/2024", true],
    ["13:30:00", "at 1:30 PM", "13:30", true],
    ["11am", "at 11:00", "11:00 AM", true],
    [1234.6, '{"amount":1235}', "1235", true],
    [1234.6, '{"amount":1236}', "1236", false],
    [1234.6, '{"amount":"$1.2346K"}', "1234.6", true],
    [1234.6, '{"amount":"$1.2346K"}', "$1.2346K", true],
    [1234567, "1'234'567 of them", "1,234,567", true],
    [{ timeoutMs: 5000 }, "waited 5 s", "5000 ms", true],
    [["ship X-99887 now"], "cannot ship X-99887 now", "X-99887", true],
    ["99887", '[{"id":"99887","like":["99888"]}]', "99888", false]
  ]
  for (const [arg, result, value, isEcho] of repeats) {
    it(`${isEcho ? "takes" : "does not take"} ${value} of ${result} for an echo of ${JSON.stringify(arg)}`, () => {
      const events = [started, called({ of: arg }), settled("ran-ok", result)]
      const isNamed = (...more: ReadonlyArray<Event.Event>) =>
        Grounding.judge({ answer: value, ...Grounding.corpus([...events, ...more], { echoes: () => ["of"] }) })
          .unsupported.length > 0
      assert.strictEqual(isNamed(), isEcho)
      const other: Event.Event = { _tag: "ToolSettled", ...at, toolCallId: "d", outcome: "ran-ok", served: result }
      assert.isFalse(isNamed(other))
      assert.isFalse(Grounding.judge({ answer: value, ...Grounding.corpus(events) }).unsupported.length > 0)
    })
  }

  it("takes a value that one result echoes from another that says it in the same place", () => {
    const result = "order_99887"
    const named = (...sources: ReadonlyArray<Partial<Grounding.Question>>) =>
      Grounding.judge({ answer: "99887", evidence: [], ...Object.assign({}, ...sources) }).unsupported.length > 0
    const echo = { result, args: { id: 99887 } }
    assert.isTrue(named({ repeating: [echo] }))
    assert.isFalse(named({ repeating: [echo, { result, args: { page: 7 } }] }))
    assert.isFalse(named({ repeating: [echo] }, { evidence: [result] }))
    assert.isFalse(named({ repeating: [echo] }, { exempt: [result] }))
  })

  it("takes nothing from any spelling of an echo: the answer is judged as if there were no result", () => {
    const texts = FastCheck.stringOf(FastCheck.constantFrom(..."aB19.,:-/#_ "), { maxLength: 16 })
    FastCheck.assert(
      FastCheck.property(texts, (arg) => {
        const alone = named(arg)
        for (const result of [arg, { id: arg }, { [arg]: arg }, `${arg} is unknown`, `no order ${arg} here`, [[arg]]]) {
          const repeating = [{ result, args: { of: arg } }]
          const verdict = Grounding.judge({ answer: arg, evidence: [], repeating })
          assert.deepStrictEqual(
            verdict.unsupported.map(({ value }) => value),
            alone
          )
        }
      }),
      { numRuns: 2_000 }
    )
  })

  it("takes the echo of a call from the arguments of that call", () => {
    const again = { iteration: 2, toolCallId: "c", toolName: "look" }
    const events: ReadonlyArray<Event.Event> = [
      called({ id: "X4711" }),
      settled("ran-ok", "none"),
      { _tag: "ToolCalled", ...again, args: { id: "Y4711" }, replay: "pure" },
      { _tag: "ToolSettled", ...again, outcome: "ran-ok", served: "X4711 and Y4711" }
    ]
    const corpus = Grounding.corpus(events, { echoes: () => ["id"] })
    assert.deepStrictEqual(
      Grounding.judge({ answer: "X4711, Y4711", ...corpus }).unsupported.map(({ value }) => value),
      ["Y4711"]
    )
  })
})

describe("Grounding.action", () => {
  const clean: Grounding.Verdict = { unsupported: [], candidates: 1, truncated: false }
  const bad: Grounding.Verdict = {
    unsupported: [{ value: "X4711", shape: "identifier" }],
    candidates: 1,
    truncated: false
  }
  const act = (posture: Grounding.Posture, revised: boolean, limited: boolean, verdict: Grounding.Verdict = bad) =>
    Grounding.action({ posture, verdict, revised, limited })

  it("is grounded if nothing is unsupported, whatever the posture", () => {
    for (const posture of Grounding.Posture.literals) {
      for (const flag of [true, false]) {
        assert.strictEqual(act(posture, flag, flag, clean), "grounded")
        assert.strictEqual(act(posture, flag, flag, { ...clean, truncated: true }), "grounded")
      }
    }
  })

  it("is never grounded if the answer was not read to its end", () => {
    const unread: Grounding.Verdict = { ...clean, truncated: true, unread: true }
    for (const verdict of [unread, { ...bad, ...unread, unsupported: bad.unsupported }]) {
      for (const [posture, available, none] of table) {
        assert.strictEqual(act(posture, false, false, verdict), available)
        assert.strictEqual(act(posture, true, false, verdict), none)
        assert.strictEqual(act(posture, false, true, verdict), none)
      }
    }
  })

  const table: ReadonlyArray<readonly [Grounding.Posture, available: Grounding.Action, none: Grounding.Action]> = [
    ["assist", "flagged", "flagged"],
    ["guard", "revision-asked", "flagged"],
    ["rails", "revision-asked", "refused"]
  ]
  for (const [posture, available, none] of table) {
    it(`under ${posture} is ${available} while a revision is available, then ${none}`, () => {
      assert.strictEqual(act(posture, false, false), available)
      assert.strictEqual(act(posture, true, false), none)
      assert.strictEqual(act(posture, false, true), none)
      assert.strictEqual(act(posture, true, true), none)
    })

    it(`under ${posture} only records where sources were cut short`, () => {
      assert.strictEqual(act(posture, false, false, { ...bad, truncated: true }), "flagged")
      assert.strictEqual(act(posture, true, true, { ...bad, truncated: true }), "flagged")
    })
  }
})

const file = new URL("../../../shared/data/tau-airline/openai-chat.jsonl", import.meta.url)

describe.skipIf(!existsSync(file))("Grounding on real conversations (skipped where ../shared/data is absent)", () => {
  interface Said {
    readonly role: string
    readonly content?: string | null
    readonly tool_calls?: ReadonlyArray<unknown> | null
  }

  it("names fewer than 4 % of the values of answers, and what a task's wrong answer summed up", () => {
    let candidates = 0
    let unsupported = 0
    let sum = false
    for (const row of readFileSync(file, "utf8").trim().split("\n")) {
      const { messages }: { messages: ReadonlyArray<Said> } = JSON.parse(row)
      const evidence: Array<unknown> = []
      const exempt: Array<string> = []
      for (const { content, role, tool_calls } of messages) {
        if (content == null) continue
        if (role === "tool") evidence.push(content)
        else if (role !== "assistant") exempt.push(content)
        else if (tool_calls == null || tool_calls.length === 0) {
          const verdict = Grounding.judge({ answer: content, evidence, exempt })
          candidates += verdict.candidates
          unsupported += verdict.unsupported.length
          sum ||= verdict.unsupported.some(({ value }) => value === "$17,021")
        }
      }
    }
    assert.isAbove(candidates, 500)
    assert.isBelow(unsupported / candidates, 0.04)
    assert.isTrue(sum)
  })
})
