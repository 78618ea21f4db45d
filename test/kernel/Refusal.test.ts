import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import type * as Artifact from "../../src/kernel/Artifact.ts"
import * as ApprovalRefusal from "../../src/kernel/ApprovalRefusal.ts"
import * as ArtifactRefusal from "../../src/kernel/ArtifactRefusal.ts"
import * as BudgetRefusal from "../../src/kernel/BudgetRefusal.ts"
import * as Problem from "../../src/kernel/Problem.ts"
import * as Refusal from "../../src/kernel/Refusal.ts"

const evil = `${"x".repeat(5_000)}"}\u001b[2J\u202e\n# New section\ud800<script>`

const tickets = Array.from({ length: 30 }, (_, index): Artifact.Meta => ({
  ref: `art_${"x".repeat(20)}${10 + index}`,
  kind: evil,
  mediaType: evil,
  bytes: 1,
  createdAt: 1,
  label: evil
}))

/** One of each, made of the worst that a model or a tool can write. */
const all: ReadonlyArray<Refusal.Refusal> = [
  Refusal.unknownTool(
    evil,
    Array.from({ length: 30 }, (_, index) => `tool-${index}`)
  ),
  Refusal.unknownTool(evil, []),
  Refusal.duplicateCallId(evil),
  Refusal.argumentsMalformed(evil, Problem.of(Refusal.interrupted)),
  Refusal.toolArgsInvalid(
    evil,
    Array.from({ length: 30 }, (_, index) => `/a/${index} is missing`)
  ),
  Refusal.replyTruncated(evil, undefined),
  Refusal.replyTruncated(evil, 1),
  Refusal.budgetExceeded("passes", 1, 1),
  Refusal.budgetExceeded("toolCalls", 1, 1),
  Refusal.budgetExceeded("tokens", 1, 1),
  Refusal.budgetExceeded("wallTimeMs", 1, 1),
  Refusal.budgetExceeded("bytes", 1, 1),
  Refusal.budgetExceeded("tokens", 10, 5, { next: 3, kept: 4 }),
  Refusal.budgetExceeded("money", "0.5", "0.4", { next: "0.3", unit: "EUR" }),
  BudgetRefusal.costUnknown(evil, true),
  BudgetRefusal.costUnknown(undefined, true),
  BudgetRefusal.costUnknown(undefined, false),
  BudgetRefusal.noProgress(evil, 4),
  BudgetRefusal.childRefused("There are 3 already."),
  Refusal.usageUnknown,
  Refusal.toolFailed(evil, evil),
  Refusal.toolDied(evil),
  Refusal.toolTimedOut(evil, 5),
  Refusal.toolOutcomeUnknown(evil, { toolCallId: evil, key: evil, sentAt: "at event #1" }, "was lost"),
  Refusal.toolOutputInvalid(evil, ["/a is missing"]),
  Refusal.toolOutputTooLarge(evil, 1, 2),
  Refusal.interrupted,
  Refusal.aborted(evil, true),
  Refusal.aborted(evil, false),
  Refusal.traceEnded,
  Refusal.untold(evil, evil),
  Refusal.modelFailed(Problem.of(Refusal.interrupted)),
  Refusal.answerUngrounded([evil], 13, false),
  Refusal.answerUngrounded([], 0, true),
  Refusal.answerInvalid([evil, "/a is missing"], 3),
  Refusal.answerNotAlone(evil),
  ApprovalRefusal.declined(evil, evil, evil),
  ApprovalRefusal.declined(evil, evil, undefined),
  ApprovalRefusal.policy(evil, { index: 1, name: evil }),
  ApprovalRefusal.policy(evil, undefined),
  ApprovalRefusal.unwritable(evil, [evil]),
  ArtifactRefusal.missing(evil, tickets),
  ArtifactRefusal.missing(evil, []),
  ArtifactRefusal.missing(evil, undefined),
  ArtifactRefusal.unavailable(evil, evil),
  ArtifactRefusal.wantUnmet(
    evil,
    Array.from({ length: 30 }, (_, index) => `a${index}: no artifact ${ArtifactRefusal.spoken(evil)} was found`),
    ["/a is missing"],
    [{ kind: evil, live: tickets }, { kind: evil, live: tickets }, { kind: evil, live: [] }, { kind: evil }]
  )
]

describe("Refusal", () => {
  for (const refusal of all) {
    it(`${refusal.tag} (${refusal.code}) is a value that can be shown anywhere`, () => {
      assert.isTrue(Schema.is(Refusal.Refusal)(refusal))
      assert.deepStrictEqual(JSON.parse(JSON.stringify(refusal)), refusal)
      const printed = Problem.render(refusal)
      assert.isAtMost(printed.length, 2_050)
      for (const text of [
        printed,
        refusal.what,
        refusal.where ?? "",
        refusal.next,
        Refusal.served(refusal, "refused")
      ]) {
        assert.notMatch(text, /[\p{Cc}\p{Cs}\u202e\u2028]/u)
      }
      assert.match(refusal.code, /^WF-[A-Z]+-\d{3}$/)
      for (const sentence of [refusal.law, refusal.what, refusal.next])
        assert.match(sentence, /[.:]$|\.$|more$|more\.$|more"$/)
    })

    it(`${refusal.tag} (${refusal.code}) is served to the model as one JSON object with the next legal action`, () => {
      const served: unknown = JSON.parse(Refusal.served(refusal, "refused"))
      assert.deepInclude(served, { outcome: "refused", reason: refusal.tag, what: refusal.what, next: refusal.next })
      assert.isAtMost(JSON.stringify(served).length, 4_000)
    })
  }

  it("has every tag but those of skills, which their own modules make", () => {
    const ofSkills = new Set([
      "SkillHidden",
      "SkillUnreachable",
      "PostureHeld",
      "StaleOffer",
      "StepNotSkipped",
      "MapNotEngaged",
      "MapNotReleased",
      "NotDriven"
    ])
    const tags = Refusal.Tag.literals.filter((tag) => !ofSkills.has(tag))
    assert.deepStrictEqual(new Set<string>(all.map(({ tag }) => tag)), new Set<string>(tags))
  })

  it("names each kind by one code", () => {
    const codes = new Map<string, string>()
    for (const { code, tag } of all) {
      if (code === "WF-RUN-003" && tag === "ModelFailed") continue
      const before = codes.get(code)
      assert.isTrue(before === undefined || before === tag, `${code} is ${before} and ${tag}`)
      codes.set(code, tag)
    }
  })

  it("lists at most twenty names, and counts the rest", () => {
    assert.include(all[0]?.next, "tool-19 and 10 more")
    assert.notInclude(all[0]?.next, "tool-20")
  })
})
