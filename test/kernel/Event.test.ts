import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import * as Event from "../../src/kernel/Event.ts"
import * as Script from "./Script.ts"

const decode = Schema.decodeUnknownEither(Event.Event)
const tagOf = (member: (typeof Event.Event.members)[number]): string =>
  /"(\w+)"/.exec(member.fields._tag.ast.toString())?.[1] ?? ""

const played = Script.play(
  Script.spec({
    pieces: [Script.piece("p", "1")],
    tools: [Script.tool("look")],
    parameters: { seed: 1 },
    limits: { passes: 2 }
  }),
  () => ({ calls: [Script.call("a"), Script.call("a"), Script.call("b", "no")] })
)

describe("Event", () => {
  it("has these kinds, for ever", () => {
    const tags = Event.Event.members.map(tagOf)
    assert.deepStrictEqual(tags, [
      "RunStarted",
      "MessageCarried",
      "MessageReceived",
      "PieceDeclared",
      "ToolDeclared",
      "PiecesSelected",
      "ModelCalled",
      "ModelReplied",
      "ModelRetried",
      "ModelFailed",
      "ToolCalled",
      "ToolSettled",
      "Answered",
      "RunEnded",
      "CursorMoved",
      "RouteConflicted",
      "StepReached",
      "MapEngaged",
      "MapParked",
      "MapsIdled",
      "SkillSuperseded",
      "SkillPicked",
      "SkillRefused",
      "StepSkipped",
      "MapSteered",
      "StepReminded",
      "FindingDeclared",
      "FindingRejected",
      "FindingConflicted",
      "ContingencyFiled",
      "UnsettledFiled",
      "FindingsServed",
      "FindingsCollapsed",
      "AbsenceDeclared",
      "CoverageDeclared",
      "SemanticsDeclared",
      "ClaimsRead",
      "GroundingJudged",
      "FaultFound",
      "ChecksFiled",
      "AnswerRead",
      "AnswerRejected",
      "ArtifactMinted",
      "ArtifactResolved",
      "ArtifactExpired",
      "ArtifactDeleted",
      "ArtifactRefused",
      "ArtifactPresented",
      "WindowTrimmed",
      "SummaryAsked",
      "SummaryReplied",
      "SummaryFailed",
      "ApprovalAsked",
      "ApprovalDecided",
      "CallProbed",
      "CallResolved",
      "ClosingAsked",
      "RunResumed",
      "CallRepeated",
      "ChildStarted",
      "ChildSettled",
      "RunClaimed",
      "CancelAsked"
    ])
  })

  it("is JSON: what a run writes is read back as it was", () => {
    for (const event of played.events) {
      assert.deepStrictEqual(Either.getOrThrow(decode(JSON.parse(JSON.stringify(event)))), event)
    }
  })

  it("is read back as it was, whatever it is", () => {
    // Their arguments, schemas and judged values are any value here, and JSON in a record.
    const asked = ["ToolDeclared", "ModelCalled", "ToolCalled", "ToolSettled", "CursorMoved"]
    const open = [...asked, "Answered", "AnswerRead", "SemanticsDeclared", "ClaimsRead", "ApprovalAsked"]
    const known = Event.Event.members.filter((member) => !open.includes(tagOf(member)))
    FastCheck.assert(
      FastCheck.property(Arbitrary.make(Schema.Union(...known)), (event) => {
        const back = Either.getOrThrow(decode(JSON.parse(JSON.stringify(event))))
        assert.deepStrictEqual(JSON.stringify(back), JSON.stringify(event))
      })
    )
  })

  for (const [what, event] of Object.entries({
    "an unknown kind": { _tag: "Later" },
    "a run without an id": { ...Script.started(), runId: "" },
    "a pass zero": { _tag: "Answered", iteration: 0, content: "" },
    "half a pass": { _tag: "Answered", iteration: 1.5, content: "" },
    "a call without an id": Script.settled(1, ""),
    "an outcome that is none of the eight": { ...Script.settled(1, "a"), outcome: "ok" },
    "undefined for what is absent": { ...Script.settled(1, "a"), durationMs: undefined },
    "a negative time": { ...Script.settled(1, "a"), durationMs: -1 },
    "tokens that are not whole": { _tag: "RunEnded", status: "answered", usage: { inputTokens: 0.5 }, passes: 0 },
    "a replay class of another name": { ...Script.called(1, "a"), replay: "always" },
    "a carried message from nowhere": { _tag: "MessageCarried", message: { role: "user", content: "" } }
  })) {
    it(`is never ${what}`, () => assert.isTrue(Either.isLeft(decode(event))))
  }
})
