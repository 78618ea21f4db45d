import { assert, describe, it } from "@effect/vitest"
import type * as Event from "../../src/kernel/Event.ts"
import * as Piece from "../../src/kernel/Piece.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Why from "../../src/kernel/Why.ts"
import * as WhyPlay from "./WhyPlay.ts"

const lists = [
  { toolName: "user", field: "/orders/*", of: "order", readBy: [{ toolName: "order", argument: "id" }] as const }
]
const user = '{"orders":["A-1001","A-1002","A-1003"]}'

const tools = [WhyPlay.tool("user"), WhyPlay.tool("order")]

/** A user with three orders, of which those are read that are named, and a total. */
const totalled = (read: ReadonlyArray<string>, declared: ReadonlyArray<Event.ToolDeclared> = tools) =>
  WhyPlay.play(
    [
      { calls: [["user", '{"id":"U-77"}', user]] },
      ...read.map((id, at) => ({ calls: [["order", `{"id":"${id}"}`, `{"cost":${4101 + at}}`] as const] })),
      { say: "The last one cost 4101." }
    ],
    { tools: declared }
  )

const scopes = (chain: Why.Chain) =>
  chain.nodes.flatMap((node) => (node.kind === "scope" ? [{ read: node.read, unread: node.unread }] : []))

const unread = ({ gaps }: Why.Chain) => gaps.flatMap(({ kind, what }) => (kind === "unread" ? [what] : []))

describe("WhyUnread", () => {
  it("names what a list has that was never read", () => {
    const chain = Why.value(totalled(["A-1002"]), "4101", { lists })
    assert.strictEqual(chain.scope, "checked")
    assert.deepStrictEqual(scopes(chain), [{ read: ["A-1002"], unread: ["A-1001", "A-1003"] }])
    assert.deepStrictEqual(unread(chain), ['"user" listed 3 of "order"; 2 of them had not been read: A-1001, A-1003.'])
    assert.isTrue(chain.edges.some(({ grounds, to }) => grounds === "listed" && to.startsWith("scope:")))
  })

  it("has no gap where all was read, and no scope where nothing was", () => {
    const all = Why.value(totalled(["A-1001", "A-1002", "A-1003"]), "4101", { lists })
    assert.deepStrictEqual(unread(all), [])
    assert.deepStrictEqual(scopes(all), [{ read: ["A-1001", "A-1002", "A-1003"], unread: [] }])
    const none = Why.tool(totalled([]), "call-1-0", undefined, { lists })
    assert.deepStrictEqual([scopes(none), none.scope], [[], "checked"])
  })

  it("counts what was read only before what is asked about", () => {
    const events = WhyPlay.play(
      [
        { calls: [["user", "{}", user]] },
        { calls: [["order", '{"id":"A-1001"}', '{"cost":4101}']] },
        { say: "It cost 4101.", calls: [["order", '{"id":"A-1002"}', '{"cost":4102}']] },
        { say: "And 4102." }
      ],
      { tools }
    )
    assert.deepStrictEqual(scopes(Why.call(events, 3, { lists })), [{ read: ["A-1001"], unread: ["A-1002", "A-1003"] }])
    assert.deepStrictEqual(scopes(Why.value(events, "4102", { lists })), [
      { read: ["A-1001", "A-1002"], unread: ["A-1003"] }
    ])
  })

  it("is declared by a tool of the run, and off where none declares it", () => {
    const listed = { field: "/orders/*", of: "order", readBy: [{ toolName: "order", argument: "id" }] as const }
    const declared = WhyPlay.tool("user")
    const annotated = { ...declared, annotations: { ...declared.annotations, lists: [listed] } }
    assert.deepStrictEqual(unread(Why.answer(totalled(["A-1002"], [annotated, WhyPlay.tool("order")]))).length, 1)
    const off = Why.answer(totalled(["A-1002"], [declared, WhyPlay.tool("order")]))
    assert.deepStrictEqual([off.scope, scopes(off), unread(off)], ["off", [], []])
  })

  it("reads ids at any member of a field", () => {
    const nested = lists.map((one) => ({ ...one, field: "/orders/*/id" }))
    const events = totalled(["A-1002"]).map((event) =>
      event._tag === "ToolSettled" && event.toolName === "user"
        ? { ...event, served: '{"orders":[{"id":"A-1001"},{"id":"A-1002"},{"no":"A-9"}]}' }
        : event
    )
    assert.deepStrictEqual(scopes(Why.value(events, "4101", { lists: nested })), [
      { read: ["A-1002"], unread: ["A-1001"] }
    ])
  })
})

describe("WhyDecision", () => {
  it("says what was chosen and offered, where the arguments come from, and that the choice itself is not recorded", () => {
    const events = WhyPlay.play(WhyPlay.looked("AB-1234 is late.", "late", '{"id":"AB-1234"}'), {
      input: "Where is AB-1234?"
    })
    const chain = Why.decision(events, 1)
    const [decision] = chain.nodes
    assert.deepInclude(decision, { kind: "decision", chose: ["look"], offered: ["look"], speaks: false })
    assert.deepStrictEqual(WhyPlay.draw(chain), [
      'it chose to call "look", of 1 tool on the wire',
      "  app",
      '  look {"id":"AB-1234"}',
      "    world",
      "    AB-1234 in arguments of pass 1",
      "      message:0 on pass 1: AB-1234",
      "        person",
      "  model",
      "  gap: unrecorded"
    ])
    assert.deepStrictEqual(
      chain.edges.filter(({ from }) => from === decision?.id).map(({ grounds }) => grounds),
      ["offered", "chose", "chose"]
    )
    assert.include(WhyPlay.draw(Why.decision(events, 2))[0], "it chose to answer")
    assert.deepStrictEqual(WhyPlay.draw(Why.decision(events, 9)), ["gap: not-found"])
  })
})

describe("WhyMissing", () => {
  it("ranks what a pass was not sent by what its reply needed, with the reason", () => {
    const events = WhyPlay.play([
      { calls: [["look", "{}", "code 8123"]] },
      { calls: [["look", "{}", "4477"]] },
      { say: "So 8123, 9955 and 4477." }
    ])
    const at = events.findIndex((event) => event._tag === "ModelCalled" && event.iteration === 3)
    const dropped = [{ toolCallId: "call-1-0", toolName: "look" }]
    const happened: ReadonlyArray<Event.Event> = [
      { _tag: "WindowTrimmed", iteration: 3, by: "KeepLast", units: ["reply:4"], dropped, chars: 20 },
      Run.declarePiece(Piece.fact("rules", "Use 9955 or 8123.")),
      {
        _tag: "PiecesSelected",
        iteration: 3,
        activeIds: [],
        toolNames: ["look"],
        skipped: [
          { id: "rules", reason: "parked" },
          { id: "never", reason: "parked" }
        ]
      }
    ]
    const chain = Why.missing([...events.slice(0, at), ...happened, ...events.slice(at)], 3)
    const missing = chain.nodes.flatMap((node) => (node.kind === "missing" ? [node] : []))
    assert.deepStrictEqual(
      missing.map(({ holds, pieceId, reason }) => [pieceId, reason, ...holds]),
      [
        ["rules", "parked", "8123", "9955"],
        ["result:6", "trimmed", "8123"],
        ["never", "parked"],
        ["reply:4", "trimmed"]
      ]
    )
    assert.deepStrictEqual(
      chain.edges.map(({ grounds, to }) => [grounds, to]),
      [
        ["withheld", "missing:3:parked:system:rules"],
        ["withheld", "missing:3:parked:system:rules"],
        ["withheld", "missing:3:trimmed:messages:result:6"]
      ]
    )
  })

  it("has nothing where all was sent, and says so of a pass that is not there", () => {
    const events = WhyPlay.play(WhyPlay.looked("So 8123.", "8123"))
    assert.deepStrictEqual(Why.missing(events, 2).nodes, [])
    assert.deepStrictEqual(
      Why.missing(events, 7).gaps.map(({ kind }) => kind),
      ["not-found"]
    )
  })
})
