/** Bugs of approvals and budgets: what runs that nobody allowed, and what is spent that nobody gave. */
import type { Planted } from "./Planted.ts"

const gate = "src/programs/ApprovalGate.ts"
const decision = "src/kernel/Decision.ts"
const budget = "src/kernel/Budget.ts"
const ofApproval = "test/programs/Approval.test.ts"
const ofBudget = "test/programs/Budget.test.ts"
const ofChildren = "test/programs/Children.test.ts"

export const approvals: ReadonlyArray<Planted> = [
  {
    id: "approval-by-run-only",
    changes: [
      {
        file: gate,
        search: `if (before?.asked.ticket === ticket && before.decided?.verdict === "approve") return pass`,
        replace: `if (state.waiting?.asks.some(({ decided }) => decided?.verdict === "approve") === true) return pass`
      },
      {
        file: gate,
        search: "const before = Waiting.askOf(state, toolCallId)\n",
        replace: "const before = Waiting.askOf(state, toolCallId) ?? state.waiting?.asks[0]\n"
      }
    ],
    test: "test/campaigns/Simulation.test.ts",
    only: "seed 126 "
  },
  {
    id: "approval-of-other-arguments",
    changes: [{ file: gate, search: "before?.asked.ticket === ticket && before.decided", replace: "before?.decided" }],
    test: ofApproval,
    only: "is asked for again"
  },
  {
    id: "approval-not-of-the-tool",
    changes: [{ file: gate, search: "toolDigest: tool.declared.hash,", replace: `toolDigest: "",` }],
    test: ofApproval,
    only: "is asked for again"
  },
  {
    id: "approval-of-what-cannot-be-read",
    changes: [
      {
        file: gate,
        search: `return { _tag: "Denied", refusal: ApprovalRefusal.unwritable(toolName, args.left) }`,
        replace: "return pass"
      }
    ],
    test: ofApproval,
    only: "cannot be written out"
  },
  {
    id: "decline-falls-through",
    changes: [
      {
        file: "src/kernel/Waiting.ts",
        search: `return ask.decided.verdict === "approve" ? "approved" : "denied"`,
        replace: `return ask.decided.verdict === "approve" ? "approved" : "free"`
      },
      {
        file: gate,
        search: `before.decided?.verdict === "approve") return pass`,
        replace: "before.decided !== undefined) return pass"
      }
    ],
    test: ofApproval,
    only: "handler has run zero times"
  },
  {
    id: "decision-with-any-digest",
    changes: [
      { file: decision, search: "if (argsDigest !== asked.argsDigest) {", replace: `if (argsDigest === "") {` }
    ],
    test: ofApproval
  },
  {
    id: "decision-twice",
    changes: [
      {
        file: decision,
        search: "if (found.decided !== undefined) return decided(runId, found, verdict)",
        replace: "if (found.decided?.verdict === verdict) return decided(runId, found, verdict)"
      }
    ],
    test: ofApproval
  },
  {
    id: "decision-of-another-call",
    changes: [
      {
        file: decision,
        search: "if (given.toolCallId !== undefined && given.toolCallId !== toolCallId) {",
        replace: 'if (given.toolCallId === "") {'
      }
    ],
    test: "test/campaigns/Simulation.test.ts",
    only: "seed 126 "
  },
  {
    id: "decision-too-late",
    changes: [
      {
        file: decision,
        search: "if (state.ended !== undefined || iteration !== state.iteration || !isOpen) {",
        replace: "if (iteration > state.iteration) {"
      }
    ],
    test: ofApproval
  },
  {
    id: "rule-is-not-asked",
    changes: [
      {
        file: gate,
        search: `(started || (tool.approval === "allow" && rules.length === 0))`,
        replace: `(started || tool.approval === "allow")`
      }
    ],
    test: ofApproval
  },
  {
    id: "budget-after-the-call",
    changes: [{ file: budget, search: "if (total + next + held > tokens) {", replace: "if (total + held > tokens) {" }],
    test: ofBudget,
    only: "is reserved"
  },
  {
    id: "budget-one-call-too-many",
    changes: [
      {
        file: budget,
        search: "if (toolCalls !== undefined && spent.toolCalls >= toolCalls) {",
        replace: "if (toolCalls !== undefined && spent.toolCalls > toolCalls) {"
      }
    ],
    test: ofBudget,
    only: "within one unit"
  },
  {
    id: "budget-of-passes-in-the-prompt",
    changes: [
      {
        file: budget,
        search: "if (passes !== undefined && spent.passes >= passes - held) {",
        replace: "if (passes !== undefined && spent.passes >= passes + 1_000 - held) {"
      }
    ],
    test: ofBudget,
    only: "within one unit"
  },
  {
    id: "budget-free-if-not-told",
    changes: [
      {
        file: budget,
        search: "if (spent.unmetered > 0) return Refusal.usageUnknown",
        replace: "if (spent.unmetered < 0) return Refusal.usageUnknown"
      }
    ],
    test: "test/programs/Loop.test.ts",
    only: "when nobody counts"
  },
  {
    id: "budget-of-attempts",
    changes: [
      {
        file: "src/programs/Loop.ts",
        search: "return over === undefined ? commit : Effect.zipRight(commit,",
        replace: "return over === undefined || attempts > 0 ? commit : Effect.zipRight(commit,"
      }
    ],
    test: ofBudget,
    only: "another attempt"
  },
  {
    id: "child-has-a-budget-of-its-own",
    changes: [
      {
        file: "src/programs/Child.ts",
        search: "limits: Children.share(limits, state, elapsedMs, fresh.length, own)",
        replace: "limits: elapsedMs < 0 ? Children.share(limits, state, elapsedMs, fresh.length, own) : own"
      }
    ],
    test: ofChildren,
    only: "shared before they start"
  },
  {
    id: "child-is-not-counted",
    changes: [
      {
        file: "src/kernel/Children.ts",
        search: "spent: Budget.and(state.spent, event.spent),",
        replace: "spent: state.spent,"
      }
    ],
    test: ofChildren
  },
  {
    id: "children-spend-the-same",
    changes: [
      {
        file: "src/kernel/Children.ts",
        search: "Math.floor((limit - spent) / parts)",
        replace: "Math.floor((limit - spent) / Math.min(1, parts))"
      }
    ],
    test: ofChildren,
    only: "cannot spend it twice"
  },
  {
    id: "children-without-depth",
    changes: [
      {
        file: "src/kernel/Children.ts",
        search: "Math.min(own.depth ?? standardDepth, depth - 1)",
        replace: "Math.min(own.depth ?? standardDepth, depth)"
      }
    ],
    test: ofChildren,
    only: "how deep"
  }
]
