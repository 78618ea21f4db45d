import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type * as CheckEvent from "../../src/kernel/CheckEvent.ts"
import type * as Event from "../../src/kernel/Event.ts"
import type * as Fault from "../../src/kernel/Fault.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Sources from "../../src/kernel/Sources.ts"
import * as Wire from "../../src/kernel/Wire.ts"
import * as FindingsBoard from "../../src/programs/FindingsBoard.ts"
import * as Screen from "../../src/programs/Screen.ts"
import * as ScreenLine from "../../src/programs/ScreenLine.ts"
import * as Fixture from "../cli/Fixture.ts"
import * as Ledger from "./Ledger.ts"

type Events = ReadonlyArray<Event.Event>

const text = (lines: ReadonlyArray<Screen.Line>): string => `\n${Screen.print(lines, { colour: false })}`

const live = (events: Events, room: Screen.Room): ReadonlyArray<Screen.Line> => {
  let ticker = Screen.initial
  return events.flatMap((event, seq) => {
    const shown = Screen.step(ticker, seq, event, { room })
    ticker = shown.ticker
    return shown.lines
  })
}

const board = (events: Events, room: Screen.Room, full = false): ReadonlyArray<Screen.Line> => {
  const found = Screen.findings(events)
  return found === undefined ? [] : Screen.board(found, { room, name: "r", full })
}

const show = (events: Events, room: Screen.Room, full = false): string => {
  const given = full ? { ...room, full } : room
  return text(Screen.show(Screen.account(events, given), { room: given, name: "r", full }))
}

/** The lines of a shown run that begin with a word. */
const linesOf = (shown: string, label: string): ReadonlyArray<string> =>
  shown.split("\n").filter((line) => line.startsWith(label))

const fault: Fault.Fault = {
  kind: "invariant-violation",
  seam: "wire",
  subjects: [{ kind: "tool", id: "ferry" }],
  witnesses: ["tool:ferry"],
  message: "The tool ferry was sent, and is not in the frame."
}

/** The run with other checks: what each row is made into, and what was found before they were filed. */
const checked = (
  events: Events,
  make: (row: CheckEvent.CheckReport) => CheckEvent.CheckReport,
  faults: ReadonlyArray<Fault.Fault> = [],
  posture: CheckEvent.Posture = "live"
): Events =>
  events.flatMap((event): Events =>
    event._tag === "ChecksFiled"
      ? [
          ...faults.map((one) => ({ _tag: "FaultFound" as const, iteration: 1, ...one })),
          { ...event, posture, rows: event.rows.map(make) }
        ]
      : [event]
  )

const clean = (row: CheckEvent.CheckReport) => ({ ...row, checked: 3, notApplicable: 0, unreachable: 0 })

const played = Ledger.play("r")

describe("The findings of a run on a screen", () => {
  it.effect("are a board, a section for each standing and for what follows", () =>
    Effect.map(played, (events) => {
      assert.strictEqual(
        text(board(events, { width: 80 })),
        `
r
facts 2 · open 1 · ruled out 1 · noise 1 · undeclared 1 · contingent 2 ·
unsettled 1 · conflicts 1 · rejected 1
noise and what is ruled out is sent as tickets

FACTS 2
  r1  look order, pass 1, id a                                               #11
      order/A-1001 · costs = 1859
      order/A-1001 · weighs = "4711 kg"  value not in that result
      declared      pass 2, on find lamp                                     #16
      tested        the order is paid                                         #8
  –   r9
      unknown id    no such result was on that wire
      order/A-1001 · costs = 1860
      declared      pass 4, on look order                                    #34

OPEN 1
  r4  count Z-7710, pass 3, id d                                             #29
      declared      pass 4, on look order                                    #34
      to settle     a count of the southern store                            #34

RULED OUT 1
  r3  find lamp, pass 2, id c                                                #20
      declared      pass 3, on count Z-7710                                  #24
      because       no lamp in the shop                                      #24
      tested        there is a lamp                                          #16
      predicted     one in the shop                                          #16
      served        as a ticket from pass 4                                  #31

NOISE 1
  r2  look "the zone", pass 1, id b                                          #12
      declared      pass 3, on count Z-7710                                  #24
      before        open, pass 2                                             #16
      served        as a ticket from pass 4                                  #31

CONTINGENT 2  used, with no fact for a source
  z-7710  in count Z-7710, pass 3                                            #26
      from noise    r2 look "the zone"                                       #12
  5150  in the answer, pass 6                                                #45
      from open     r4 count Z-7710                                          #29

UNSETTLED 1  ruled out, and served as an absence
  r3  find lamp, pass 2, id c                                                #20
      filed         pass 3                                                   #25
      not checked   the southern store
      not covered   what was sold: nobody writes it down
      try instead   ask Ann

CONFLICTS 1  facts that differ; none is preferred
  order/A-1001 · costs, since pass 4                                         #35
      1859  says r1 look order                                               #11
      1860  says r9

REJECTED 1  dropped; the calls went on as they were
  previous[2]: bad-id, pass 2, on find lamp                                  #17

UNDECLARED 1  results that nobody named
  r5  look order, pass 4, id e                                               #37

SERVED 5  what was new on a wire
  from pass 2  the offer, 241 characters                                     #13
  from pass 3  the piece, 725 characters · the offer, 255 characters         #21
  from pass 4  the piece, 1,228 characters · the offer, 242 characters       #30
  from pass 4  tickets for r2, r3 · 435 characters saved by tickets          #31
  from pass 5  the piece, 1,549 characters · the offer, 256 characters       #38
`
      )
    })
  )

  it.effect("are the same in a pipe, each row on a line", () =>
    Effect.map(played, (events) => {
      const wide = text(board(events, {})).split("\n")
      const narrow = text(board(events, { width: 60 })).split("\n")
      assert.include(wide, '  r2  look "the zone", pass 1, id b  #12')
      assert.include(wide, '      order/A-1001 · weighs = "4711 kg"  value not in that result')
      assert.include(narrow, '  r2  look "the zone", pass 1, id b                      #12')
    })
  )

  it.effect("go by in the live display as they are filed", () =>
    Effect.map(played, (events) => {
      assert.strictEqual(
        text(live(events, { width: 80 })),
        `
run r · agent clerk · model script · at most 50 passes
asked  What of my order, and is there a lamp?

 1    5.0 KB  filed     tests "the order is paid"                             #8
              called    look order → 94 B                              0ms   #11
              called    look "the zone" → 100 B                        0ms   #12
 2    5.5 KB  filed     fact r1 · open r2 · tests "there is a lamp"          #16
              dropped   previous[2]: bad-id                                  #17
              coverage  find: checked 1, not 1, cannot 1 · no "a lamp"       #19
              absent    find lamp → 447 B                              0ms   #20
 3    7.1 KB  filed     ruled out r3 · noise r2                              #24
              filed     unsettled: r3, not checked 1, cannot cover 1         #25
              filed     contingent: z-7710 from r2 (noise)                   #26
              coverage  count: checked 1, not 1                              #28
              called    count Z-7710 → 232 B                           0ms   #29
 4    7.5 KB  filed     open r4 · fact r9 (unknown id)                       #34
              conflict  order/A-1001 · costs by r1, r9                       #35
              called    look order → 94 B                              0ms   #37
 5    8.2 KB  said      It costs 1859, and 777123 are left.            0ms   #40
              judged    sent back: no source of 777123                       #41
 6    8.5 KB  said      It costs 1859; 5150 pieces are left.           0ms   #43
              judged    grounded: all 2 values have a source                 #44
              filed     contingent: 5150 from r4 (open)                      #45
`
      )
    })
  )

  it.effect("have a line in what a run came to, beside its grounding, its checks and what it looked at", () =>
    Effect.map(played, (events) => {
      const shown = show(events, { width: 80 })
      assert.strictEqual(
        shown.slice(shown.indexOf("\ngrounded"), shown.indexOf("\npass ")),
        `
grounded yes · guard · all 2 values have a source · sent back once           #44
checks   nobody looked · Nothing was checked by i… 171 more …applicable).    #47
coverage 1 absence, 1 result with limits · checked 1 · not checked 1 ·       #28
         cannot cover 1
findings facts 2 · open 1 · ruled out 1 · noise 1 · undeclared 1 ·
         contingent 2 · unsettled 1 · conflicts 1 · rejected 1
`
      )
      assert.include(shown, "\n         wherefore findings r\n")
    })
  )

  it("have no line in a run without any of it", () => {
    const shown = show(Fixture.airline(), { width: 80 })
    assert.notMatch(shown, /^(grounded|checks|coverage|findings) /m)
    assert.notInclude(shown, "wherefore findings")
    assert.isUndefined(Screen.findings(Fixture.airline()))
  })

  it.effect("count on a wire what is sent of them", () =>
    Effect.map(played, (events) => {
      const state = Run.fold(events)
      const bytes = state.marks.map(({ iteration }) => {
        const { messages, system, tools } = Wire.project(state, iteration)
        return [...system, ...messages, ...tools].reduce(
          (sum, piece) => sum + Buffer.byteLength(Sources.textOf(piece)),
          0
        )
      })
      assert.strictEqual(
        Screen.account(events, {}).totals.sentBytes,
        bytes.reduce((sum, one) => sum + one, 0)
      )
      const first = text(live(events, {})).match(/^ \d  .*? KB/gm) ?? []
      assert.deepStrictEqual(
        first.map((line) => line.slice(4).trim()),
        bytes.map((one) => ScreenLine.bytes(one))
      )
    })
  )

  it.effect("tell a value that came back from a run that was cut before it did", () =>
    Effect.map(played, (events) => {
      const at = events.findIndex((event) => event._tag === "GroundingJudged")
      assert.deepStrictEqual(linesOf(show(events.slice(0, at + 1), {}), "grounded"), [
        `grounded no · guard · 1 of 2 values without a source: 777123 · sent back, and not answered again  #${at}`
      ])
      const judged = (change: Partial<Extract<Event.Event, { _tag: "GroundingJudged" }>>) =>
        linesOf(
          show(
            events.map((event) => (event._tag === "GroundingJudged" ? { ...event, ...change } : event)),
            {}
          ),
          "grounded"
        ).join()
      const unsupported = [{ value: "777123", shape: "number" as const }]
      assert.match(
        judged({ posture: "assist", action: "flagged", unsupported, more: 3, candidates: 9, truncated: true }),
        /^grounded no · assist · 4 of 9 values without a source: 777123 and 3 more · flagged, and given as it was · sent back once · not all sources could be read {2}#44$/
      )
      assert.match(judged({ posture: "rails", action: "refused", unsupported }), /refused: there is no answer/)
      assert.match(
        judged({ candidates: 0, afterRevision: false }),
        /^grounded – · guard · the answer has no value to judge {2}#/
      )
      assert.match(judged({ candidates: 1, afterRevision: false }), /^grounded yes · guard · 1 value has a source {2}#/)
    })
  )

  it.effect("look clean only if every check has looked", () =>
    Effect.map(played, (events) => {
      const line = (of: Events, room: Screen.Room = {}) => linesOf(show(of, room), "checks").join("\n")
      const blank = (row: CheckEvent.CheckReport) => ({ ...row, checked: 0 })
      const half = (row: CheckEvent.CheckReport) => (row.seam === "compose" ? clean(row) : row)
      const bad = (row: CheckEvent.CheckReport) =>
        row.seam === "wire" ? { ...clean(row), findings: 1, lastFiredAt: 1 } : row
      assert.strictEqual(line(checked(events, clean)), "checks   clean · Every check looked and found nothing.  #47")
      assert.strictEqual(
        line(checked(events, clean), { width: 80 }),
        "checks   clean · Every check looked and found nothing.                       #47"
      )
      assert.match(
        line(checked(events, blank)),
        /^checks {3}nobody looked · Nothing was checked by invariant-violation at compose/
      )
      assert.match(
        line(checked(events, half)),
        /^checks {3}2 of 4 looked · Nothing was checked by invariant-violation at wire/
      )
      assert.match(
        line(checked(events, bad, [fault])),
        /^checks {3}FOUND · 1 finding of invariant-violation at wire\. Nothing/
      )
      assert.match(line(checked(events, clean, [], "dev")), /^checks {3}BLIND · A planted fault was missed by/)
      const open = checked(events, blank, [fault]).filter(({ _tag }) => _tag !== "ChecksFiled")
      assert.strictEqual(line(open), "checks   not filed · 1 fault on the record so far")
      const colour = Screen.print(Screen.show(Screen.account(checked(events, clean), {}), { room: {}, name: "r" }), {
        colour: true
      })
      assert.include(colour, "\u001b[32mclean\u001b[0m")
    })
  )

  it.effect("name each fault as it is found", () =>
    Effect.map(played, (events) => {
      const doubt: Fault.Fault = {
        ...fault,
        kind: "unsupported-claim",
        seam: "claim",
        advisory: true,
        message: "Is it?"
      }
      const planted: Fault.Fault = { ...fault, synthetic: true }
      const shown = text(live(checked(events, clean, [fault, doubt, planted]), {}))
      assert.include(
        shown,
        `
              fault     invariant-violation at wire: The tool ferry was sent, and is not in the frame.  #47
              doubt     unsupported-claim at claim: Is it?  #48
              fault     planted, invariant-violation at wire: The tool ferry was sent, and is not in the frame.  #49
`
      )
    })
  )

  it.effect("that were left out are counted, and are all there if nothing may be", () =>
    Effect.map(played, (events) => {
      const many = events.flatMap((event): Events => {
        if (event._tag !== "FindingDeclared" || event.iteration !== 4) return [event]
        const [first] = event.rows
        if (first.kind !== "standing") return [event]
        const assertions = Array.from({ length: 16 }, (_, at) => ({
          subject: { kind: "order", id: "B" },
          predicate: `p${at}`,
          value: "v".repeat(2_000)
        }))
        const rows = Array.from({ length: 40 }, (_, at) => ({
          ...first,
          seq: 100 + at,
          toolCallId: `call-${at}`,
          standing: "fact" as const,
          assertions
        }))
        return [{ ...event, rows: [first, ...rows] }]
      })
      const brief = text(board(many, { width: 80 }))
      assert.include(brief, "\nFACTS 41\n")
      assert.include(brief, "\n  … 29 more rows (--full)\n")
      assert.include(brief, "\n      … 10 more assertions (--full)\n")
      const full = text(board(many, { width: 80 }, true))
      assert.notMatch(full, / more |--full/)
      assert.strictEqual(full.match(/call-\d+/g)?.length, 40)
      assert.strictEqual(full.replaceAll(/\s/g, "").match(/v{2000}/g)?.length, 40 * 16)
    })
  )

  it.effect("say of a conflict that it is over, and of a result that it is whole again", () =>
    Effect.map(played, (events) => {
      const conflict = events.find((event) => event._tag === "FindingConflicted")
      const over = events.flatMap((event): Events => {
        if (event._tag === "FindingConflicted") {
          return conflict === undefined ? [] : [{ ...event, key: ["order", "A-1001", "colour", null] }]
        }
        if (event._tag !== "FindingsCollapsed") return [event]
        return [event, { ...event, iteration: 5, ids: [], restored: ["b"], charsSaved: 300 }]
      })
      const shown = text(board(over, {}))
      assert.include(
        shown,
        "\nCONFLICTS NO MORE 1  the facts were named otherwise since\n  order/A-1001 · colour, pass 4  #36\n"
      )
      assert.include(shown, "\n  from pass 5  whole again r2 · 300 characters saved by tickets  #32\n")
      assert.notMatch(shown, /r2 [^]*?served +as a ticket[^]*?\nCONTINGENT/)
    })
  )

  it.effect("keep to the width and emit no control, whatever is in the texts", () => {
    const hostile = Fixture.hostile.replaceAll("\u0000", "")
    const names = "\u202eid\u200b\u2066 = 1 · \u{e0041}".repeat(6)
    return Effect.map(
      Ledger.play("r", (plain) => `${plain} ${hostile.repeat(3)}`),
      (events) => {
        const spoilt = checked(events, clean, [{ ...fault, message: hostile }]).map((event): Event.Event => {
          if (event._tag === "FindingConflicted") return { ...event, key: [names, names, names, null] }
          if (event._tag !== "FindingDeclared") return event
          const [first, ...rest] = event.rows.map((row) =>
            row.kind === "basis"
              ? row
              : {
                  ...row,
                  assertions: row.assertions.map((one) => ({
                    ...one,
                    subject: { kind: names, id: names },
                    predicate: names
                  }))
                }
          )
          return first === undefined ? event : { ...event, rows: [first, ...rest] }
        })
        assert.isDefined(spoilt.find(({ _tag }) => _tag === "UnsettledFiled"))
        assert.isDefined(spoilt.find(({ _tag }) => _tag === "FindingConflicted"))
        for (const width of [60, 80, 200]) {
          for (const full of [false, true]) {
            const room = { width, full }
            const lines = [
              ...board(spoilt, { width }, full),
              ...live(spoilt, { width }),
              ...Screen.show(Screen.account(spoilt, room), { room, name: "r", full })
            ]
            for (const line of lines) {
              assert.isAtMost(ScreenLine.widthOf(line), width, ScreenLine.printLine(line, { colour: false }))
            }
            const printed = Screen.print(lines, { colour: true })
            assert.notMatch(printed.replaceAll(/\u001b\[(?:0|1|2|31|32|33|1;36)m/g, ""), Fixture.raw)
          }
        }
        const found = Screen.findings(spoilt)
        assert.isDefined(found)
        if (found === undefined) return
        for (const row of FindingsBoard.toJson(found)) {
          const written = Screen.json(row)
          assert.notMatch(written, Fixture.raw)
          assert.deepStrictEqual(JSON.parse(written), row)
        }
      }
    )
  })
})
