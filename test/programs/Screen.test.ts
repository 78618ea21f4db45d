import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import type * as Event from "../../src/kernel/Event.ts"
import * as Problem from "../../src/kernel/Problem.ts"
import type * as Usage from "../../src/kernel/Usage.ts"
import * as Why from "../../src/kernel/Why.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Screen from "../../src/programs/Screen.ts"
import * as ScreenLine from "../../src/programs/ScreenLine.ts"
import * as Fixture from "../cli/Fixture.ts"

const terminal: Screen.Room = { width: 80 }
const pipe: Screen.Room = {}

const text = (lines: ReadonlyArray<Screen.Line>): string => `\n${Screen.print(lines, { colour: false })}`

const live = (events: ReadonlyArray<Event.Event>, room: Screen.Room): ReadonlyArray<Screen.Line> => {
  let ticker = Screen.initial
  return events.flatMap((event, seq) => {
    const shown = Screen.step(ticker, seq, event, { room, record: ".wherefore/airline.ndjson" })
    ticker = shown.ticker
    return shown.lines
  })
}

const airline = Fixture.airline()

/** All that a person can be shown of a run. */
const everything = (events: ReadonlyArray<Event.Event>, room: Screen.Room): ReadonlyArray<Screen.Line> => {
  const account = Screen.account(events, room)
  const chain = Why.answer(events)
  const options = { room, name: "airline", at: 0, whole: true }
  return [
    ...live(events, room),
    ...Screen.final(account, options),
    ...Screen.show(account, { ...options, full: true }),
    ...Screen.tree(chain, { room, full: true }),
    ...Screen.tree(chain, { room }),
    ...Screen.sent(chain, { room, full: true }),
    ...Screen.gaps(chain, { room }),
    Screen.conclusion(chain)
  ]
}

describe("Screen", () => {
  it("shows a run while it goes on, in 80 columns", () => {
    assert.strictEqual(
      text(live(airline, terminal)),
      `
run airline · agent airline · at most 20 passes
record .wherefore/airline.ndjson
asked  I need to downgrade JG7FMM and 2FBBAH to e… 19 more …ve I saved in total?

 1     149 B  said      I will downgrade both.                        0.9s    #5
              called    update JG7FMM economy → 61 B                  40ms    #7
              called    update 2FBBAH economy → 61 B                  40ms    #9
 2     393 B  called    calculate "6594 + 3925" → 10519.0             40ms   #13
 3     438 B  said      You have saved a tot… 70 more …n its way.     0.9s   #15
`
    )
  })

  it("shows the same lines in a pipe, without wrapping", () => {
    assert.strictEqual(
      text(live(airline, pipe)),
      `
run airline · agent airline · at most 20 passes
record .wherefore/airline.ndjson
asked  I need to downgrade JG7FMM and 2FBBAH to economy. How much have I saved in total?

 1     149 B  said      I will downgrade both.  0.9s  #5
              called    update JG7FMM economy → 61 B  40ms  #7
              called    update 2FBBAH economy → 61 B  40ms  #9
 2     393 B  called    calculate "6594 + 3925" → 10519.0  40ms  #13
 3     438 B  said      You have saved a total of $10,519 by downgrading JG7FMM and 2FBBAH. A voucher of $250 is on its way.  0.9s  #15
`
    )
  })

  it("ends with a block of at most twelve lines", () => {
    const lines = Screen.final(Screen.account(airline, terminal), { room: terminal, name: "airline", whole: true })
    assert.isAtMost(lines.length, 12)
    assert.strictEqual(
      text(lines),
      `
answer   You have saved a total of $10,519 by downgrading JG7FMM and 2FBBAH. A
         voucher of $250 is on its way.

values   $250     nowhere    nothing that pass 3 was sent                    #15
         $10,519  recorded   calculate, pass 2                               #13
         JG7FMM   recorded   update, pass 1 · 2 more                          #7
         2FBBAH   recorded   update, pass 1 · 2 more                          #9

next     wherefore why airline --value '$250'

3 passes · 3 tool calls · 980 B sent, 438 B distinct · 1.5s · record whole, 18
events
`
    )
  })

  it("shows a run", () => {
    const account = Screen.account(airline, terminal)
    assert.strictEqual(
      text(Screen.show(account, { room: terminal, name: "airline", at: Date.UTC(2026, 10, 30, 23, 4) })),
      `
airline  2026-11-30 23:04Z  airline  answered · 3 passes · 18 events

asked    I need to downgrade JG7FMM and 2FBBAH to economy. How much have      #0
         I saved in total?
answer   You have saved a total of $10,519 by downgrading JG7FMM and         #15
         2FBBAH. A voucher of $250 is on its way.

values   $250     nowhere    nothing that pass 3 was sent                    #15
         $10,519  recorded   calculate, pass 2                               #13
         JG7FMM   recorded   update, pass 1 · 2 more                          #7
         2FBBAH   recorded   update, pass 1 · 2 more                          #9
         recorded 3 · nowhere 1

pass      sent  did
 1     149 B  said      I will downgrade both.                        0.9s    #5
              called    update JG7FMM economy → 61 B                  40ms    #7
              called    update 2FBBAH economy → 61 B                  40ms    #9
 2     393 B  called    calculate "6594 + 3925" → 10519.0             40ms   #13
 3     438 B  said      You have saved a tot… 70 more …n its way.     0.9s   #15

3 passes · 3 tool calls · 980 B sent, 438 B distinct · 1.5s · 18 events
next     wherefore why airline --value '$250'
         wherefore why airline
         wherefore verify airline
`
    )
  })

  it("walks a value back, in 80 columns", () => {
    const chain = Why.value(airline, "10519")
    assert.strictEqual(
      text([
        ...Screen.tree(chain, { room: terminal }),
        [],
        ...Screen.sent(chain, { room: terminal }),
        Screen.conclusion(chain)
      ]),
      `
$10,519                 recorded  said in pass 3                             #15
└─ 10519.0  recorded · currency, thousands separators, trailing zeros        #13
   │  result of calculate "6594 + 3925", pass 2
   ├─ "6594"            argument  pass 2                                     #11
   │  └─ -6594          recorded · sign dropped                               #7
   │     │  result of update JG7FMM economy, pass 1
   │     ├─ "JG7FMM"    argument  pass 1                                      #5
   │     │  └─ JG7FMM   recorded  the person's message                        #0
   │     └─ "economy"   argument  pass 1                                      #5
   │        └─ economy  recorded  the person's message                        #0
   └─ "3925"            argument  pass 2                                     #11
      └─ -3925          recorded · sign dropped                               #9
         │  result of update 2FBBAH economy, pass 1
         ├─ "2FBBAH"    argument  pass 1                                      #5
         │  └─ 2FBBAH   recorded  the person's message                        #0
         └─ "economy"   argument  pass 1                                      #5
            └─ economy  recorded  the person's message                        #0

what the model was sent, around each match
  result:13  «10519.0»                                                       #13
supported: yes · 1 recorded
`
    )
  })

  it("walks an answer back in a pipe, each step on a line", () => {
    const chain = Why.answer(airline)
    assert.strictEqual(
      text([...Screen.tree(chain, { room: pipe }), Screen.conclusion(chain)]),
      `
$10,519         recorded  said in pass 3  #15
└─ 10519.0      recorded · currency, thousands separators, trailing zeros  result of calculate "6594 + 3925", pass 2  #13
   ├─ "6594"    argument  pass 2  #11
   │  └─ -6594  recorded · sign dropped  result of update JG7FMM economy, pass 1  #7
   └─ "3925"    argument  pass 2  #11
      └─ -3925  recorded · sign dropped  result of update 2FBBAH economy, pass 1  #9
   … 8 more steps (--full)
JG7FMM        recorded  said in pass 3  #15
├─ JG7FMM     recorded  the person's message  #0
├─ JG7FMM     said  the arguments of an earlier call, pass 1  #5
│  └─ JG7FMM  recorded  the person's message  #0
└─ JG7FMM     recorded  result of update JG7FMM economy, pass 1  #7
   … 4 more steps (--full)
2FBBAH        recorded  said in pass 3  #15
├─ 2FBBAH     recorded  the person's message  #0
├─ 2FBBAH     said  the arguments of an earlier call, pass 1  #5
│  └─ 2FBBAH  recorded  the person's message  #0
└─ 2FBBAH     recorded  result of update 2FBBAH economy, pass 1  #9
   … 4 more steps (--full)
$250      nowhere  said in pass 3  #15
└─ nowhere  No spelling of "$250" was on the wire of pass 3.
supported: no · 3 recorded, 1 nowhere
`
    )
  })

  it("shows what ended a run that has no answer", () => {
    const events = Fixture.play([{ calls: [{ tool: "look", args: "{}", result: "x" }] }], { limits: { passes: 1 } })
    assert.strictEqual(
      text(Screen.final(Screen.account(events, terminal), { room: terminal, name: "r" })),
      `
stopped  The run's budget of 1 pass was used up (1 spent). Raise budget.passes
         of the agent and follow the run up, or work with what it learned.

next     wherefore why r --pass 1
         wherefore show r

1 pass · 1 tool call · 30 B sent, 30 B distinct · 1.5s · 8 events
`
    )
  })

  it("counts what a pass was sent as its wire is", () => {
    const account = Screen.account(airline, pipe)
    const bytes = (value: string) => Buffer.byteLength(value)
    assert.isAbove(account.totals.sentBytes, account.totals.distinctBytes)
    const [first] = Fixture.play([{ say: "ok" }], { input: "äö" })
    assert.strictEqual(first?._tag, "RunStarted")
    assert.strictEqual(
      Screen.account(Fixture.play([{ say: "ok" }], { input: "äö" }), pipe).totals.sentBytes,
      bytes("äö")
    )
  })

  it("tells of a call of the model that is made again, and of whom", () => {
    const events = Fixture.play([{ say: "ok" }], { input: "Go." }).flatMap((event): ReadonlyArray<Event.Event> => {
      if (event._tag !== "ModelReplied") return [event]
      const { found: _, ...problem } = Problem.of(LLM.failure("Limited", { what: "The provider limits this account." }))
      const retried = { _tag: "ModelRetried", iteration: 1, reason: "Limited", problem } as const
      const next = { provider: "p", model: "m\u001b[31m" }
      return [{ ...retried, attempt: 1, delayMs: 2_000 }, { ...retried, attempt: 2, delayMs: 0, next }, event]
    })
    const told = text(live(events, pipe))
    assert.match(told, /retried +The provider limits this account\. Again in 2\.0s\./)
    assert.match(told, /retried +The provider limits this account\. Then "m\\u001b\[31m" at once\./)
  })

  it("says of tokens that are not all known that they are the least", () => {
    const told = (usage: Usage.Usage) => {
      const events = Fixture.play([{ say: "ok" }], { input: "Go." }).map((event) =>
        event._tag === "ModelReplied" ? { ...event, usage } : event
      )
      return text(Screen.final(Screen.account(events, pipe), { room: pipe, name: "r", at: 0 }))
    }
    assert.include(told({ inputTokens: 3, outputTokens: 4 }), " · 7 tokens · ")
    assert.include(told({ inputTokens: 3, unknown: { outputTokens: "unreported" } }), " · at least 3 tokens · ")
  })

  it("supports a value that only the model's own words held if those are supported", () => {
    const grounded = Fixture.play(
      [{ say: "It is $4,471.", calls: [{ tool: "look", args: "{}", result: "4471" }] }, { say: "As I said: $4,471." }],
      {
        input: "What of 4471?"
      }
    )
    assert.deepStrictEqual(
      Screen.verdicts(Why.answer(grounded)).map(({ word }) => word),
      ["recorded"]
    )
    const made = Fixture.play([
      { say: "It is $4,471.", calls: [{ tool: "look", args: "{}", result: "none" }] },
      { say: "As I said: $4,471." }
    ])
    assert.deepStrictEqual(
      Screen.verdicts(Why.answer(made)).map(({ word }) => word),
      ["nowhere"]
    )
    assert.isFalse(Screen.supported(Why.answer(made)))
  })

  it("finds nothing amiss in an empty answer", () => {
    const chain = Why.answer(Fixture.play([{ say: "" }]))
    assert.strictEqual(text([Screen.conclusion(chain)]).trim(), "supported: yes · there is no value to trace")
  })

  it("says that a value is the id of a call", () => {
    const calls = [{ tool: "look", args: "{}", result: "fine", id: "toolu_01A9q" }]
    const events = Fixture.play([{ calls }, { say: "See toolu_01A9q." }])
    assert.match(
      text(Screen.final(Screen.account(events, pipe), { room: pipe, name: "r" })),
      /toolu_01A9q {2}recorded {3}the id of a call · 1 more {2}#/
    )
    const chain = Why.answer(events)
    assert.match(text(Screen.tree(chain, { room: pipe })), /recorded {2}the id of a call, made by the model's provider/)
    assert.include(text(Screen.sent(chain, { room: pipe })), "«toolu_01A9q» fine")
  })

  it("leaves out no value that is nowhere before one that is recorded", () => {
    const known = Array.from({ length: 12 }, (_, index) => 40_000 + index).join(" ")
    const events = Fixture.play([{ say: `${known} 77777` }], { input: known })
    const lines = text(Screen.tree(Why.answer(events), { room: terminal })).split("\n")
    assert.match(lines[1] ?? "", /^77777 +nowhere/)
    assert.include(lines.at(-2) ?? "", "… 3 more values (--full)")
    assert.isAtMost(lines.length, 45)
  })

  it("refers to what it has shown, and only to that", () => {
    for (const full of [true, false]) {
      const lines = text(Screen.tree(Why.answer(airline), { room: pipe, full })).split("\n")
      const references = lines.flatMap((line) => /shown at (#\d+)/.exec(line)?.[1] ?? [])
      if (full) assert.isNotEmpty(references)
      for (const seq of references) {
        const shown = lines.some((line, index) => {
          const depth = line.search(/[^ │├└─]/)
          const next = lines[index + 1] ?? ""
          return line.endsWith(`  ${seq}`) && next.search(/[^ │├└─]/) > depth && !next.includes("shown at")
        })
        assert.isTrue(shown, `${seq} is shown`)
      }
    }
  })

  it("keeps to the width of the terminal, whatever is in the texts", () => {
    const wide = Fixture.play(
      [
        {
          say: "漢字".repeat(80),
          calls: [{ tool: "道具".repeat(9), args: '{"x":"漢字"}', result: "結果 4471 ".repeat(20) }]
        },
        { say: "答 4471 ".repeat(30) }
      ],
      {
        agent: "代理".repeat(10),
        input: "問 ".repeat(60)
      }
    )
    const evil = Fixture.play([
      {
        say: Fixture.hostile.repeat(4),
        calls: [{ tool: Fixture.hostile, args: Fixture.hostile, result: `4471 ${Fixture.hostile}` }]
      },
      { say: `${Fixture.hostile} 4471` }
    ])
    for (const events of [airline, wide, evil]) {
      for (const width of [60, 80, 200]) {
        for (const line of everything(events, { width })) {
          assert.isAtMost(ScreenLine.widthOf(line), width, ScreenLine.printLine(line, { colour: false }))
        }
      }
    }
  })

  it("cuts nothing of a line of 5,000 characters if it is told to leave nothing out", () => {
    const long = (name: string) =>
      `${name} ${Array.from({ length: 830 }, (_, index) => `w${String(index).padStart(4, "0")}`).join("-")} end-of-${name}`
    const value = `4471${"9".repeat(4_996)}`
    const tool = `tool${"o".repeat(996)}`
    const calls = [{ tool, args: JSON.stringify({ of: long("args") }), result: `${long("result")} ${value}` }]
    const events = Fixture.play([{ say: long("words"), calls }, { say: `It is ${value}. ${long("answer")}` }], {
      input: long("question"),
      agent: long("agent")
    })
    const failed = Fixture.play([{ fails: long("failure") }])
    // A line goes on where it was broken, after the bars of its tree.
    const joined = (lines: ReadonlyArray<Screen.Line>) => text(lines).replaceAll(/[\s│«»]+|#\d+/g, "")
    const squeezed = (name: string) => long(name).replaceAll(" ", "")
    for (const width of [60, 80, 200, undefined]) {
      const room = { ...(width === undefined ? {} : { width }), full: true }
      const options = { room, name: "r", full: true }
      const shown = Screen.show(Screen.account(events, room), options)
      const chain = Why.answer(events)
      const why = [...Screen.tree(chain, options), ...Screen.sent(chain, options), ...Screen.gaps(chain, options)]
      const lost = Screen.show(Screen.account(failed, room), options)
      for (const name of ["words", "result", "answer", "question", "agent"]) {
        assert.include(joined(shown), squeezed(name), `show, ${name}`)
      }
      for (const part of [tool, value, long("args")]) assert.include(joined(shown), part.replaceAll(" ", ""))
      for (const part of [tool, value, squeezed("result"), squeezed("args")]) assert.include(joined(why), part)
      assert.include(joined(lost), squeezed("failure"))
      for (const all of [shown, why, lost]) {
        assert.notMatch(text(all), /… [\d,]+ more|--full/)
        for (const line of all) assert.isAtMost(ScreenLine.widthOf(line), width ?? Infinity)
      }
      // Without it, they are cut as ever.
      assert.match(text(Screen.tree(chain, { room: width === undefined ? {} : { width } })), / more …/)
    }
  })

  it("emits no escape but its own styles, whatever is in the texts", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(
          FastCheck.oneof(
            FastCheck.constant(Fixture.hostile),
            FastCheck.string({ unit: "binary" }),
            FastCheck.constant("\ud800")
          )
        ),
        (texts) => {
          const all = texts.join(" ")
          const events = Fixture.play(
            [{ say: all, calls: [{ tool: all, args: all, result: all }] }, { say: `${all} 4471` }],
            { input: `${all}4471`, agent: all }
          )
          for (const colour of [true, false]) {
            const printed = Screen.print(everything(events, terminal), { colour })
            const ours = colour ? printed.replaceAll(/\u001b\[(?:0|1|2|31|32|33|1;36)m/g, "") : printed
            assert.notMatch(ours, Fixture.raw)
          }
        }
      ),
      { numRuns: 30 }
    )
  })

  it("cuts in the middle, and counts every character that it cuts", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.string({ unit: "grapheme", maxLength: 400 }),
        FastCheck.integer({ min: 24, max: 120 }),
        (value, max) => {
          const fitted = ScreenLine.fit(value, max)
          assert.isAtMost(ScreenLine.width(fitted), max)
          const [, cut] = /… ([\d,]+) more …/.exec(fitted) ?? []
          if (cut === undefined || value.includes("…")) return
          const [head = "", tail = ""] = fitted.split(/… [\d,]+ more …/)
          const points = Array.from(value)
          const missing = Number(cut.replaceAll(",", ""))
          const kept = points.length - missing
          assert.isTrue(kept >= 0)
          const start = Array.from({ length: kept + 1 }, (_, n) => n).find(
            (n) =>
              ScreenLine.fit(points.slice(0, n).join(""), 1_000) === head &&
              ScreenLine.fit(points.slice(n + missing).join(""), 1_000) === tail
          )
          assert.isDefined(start)
        }
      )
    )
  })

  it("writes JSON that reads back as it was and moves no cursor", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.oneof(FastCheck.constant(Fixture.hostile), FastCheck.string({ unit: "binary" })),
        (value) => {
          const written = Screen.json({ [value]: [value] })
          assert.notMatch(written, Fixture.raw)
          assert.deepStrictEqual(JSON.parse(written), { [value]: [value] })
        }
      )
    )
  })

  it("shows a text of ten million characters in a few lines", () => {
    const events = Fixture.play([{ say: "4471 " + "x ".repeat(5_000_000) }], { input: "4471" })
    const lines = Screen.final(Screen.account(events, terminal), { room: terminal, name: "r" })
    assert.isAtMost(Screen.print(lines, { colour: true }).length, 4_000)
  })
})
