/** Bugs of passes and calls: what is on the record before what, and what is done twice. */
import type { Planted } from "./Planted.ts"

const simulation = "test/campaigns/Simulation.test.ts"
const seeds = "seed 126 "
const loop = "src/programs/Loop.ts"
const call = "src/kernel/Call.ts"

export const calls: ReadonlyArray<Planted> = [
  {
    id: "intent-after-call",
    changes: [
      {
        file: loop,
        search: `              childOf
            )
          )
          yield* commit
`,
        replace: `              childOf
            )
          )
`
      }
    ],
    test: simulation,
    only: seeds
  },
  {
    id: "intent-after-request",
    changes: [
      {
        file: loop,
        search: `            yield* commit
            yield* askModel(command.wire)
`,
        replace: `            yield* askModel(command.wire)
            yield* commit
`
      }
    ],
    test: simulation,
    only: seeds
  },
  {
    id: "retry-unkeyed-tool",
    changes: [{ file: call, search: `  if (started.replay !== "never") {`, replace: `  if (started.seq >= 0) {` }],
    test: simulation,
    only: seeds
  },
  {
    id: "unprobed-runs-again",
    changes: [
      {
        file: "src/programs/Dispatch.ts",
        search: `if (!started || planned.replay !== "reconcile") return ready.right`,
        replace: `if (!started || planned.replay !== "pure") return ready.right`
      }
    ],
    test: "test/programs/Unknown.test.ts",
    only: "is probed"
  },
  {
    id: "one-key-for-two-passes",
    changes: [
      {
        file: call,
        search: "JSON.stringify([runId, iteration, toolCallId])",
        replace: "JSON.stringify([runId, 0 * iteration, toolCallId])"
      }
    ],
    test: simulation,
    only: seeds
  },
  {
    id: "one-name-for-two-waits",
    changes: [
      {
        file: "src/programs/DurableRun.ts",
        search: "DurableDeferred.make(`news/${place}`)",
        replace: "DurableDeferred.make(`news/${place > 0 ? 1 : 0}`)"
      }
    ],
    test: "test/programs/Durable.test.ts"
  },
  {
    id: "lost-after-timeout-is-an-error",
    changes: [
      {
        file: "src/programs/Dispatch.ts",
        search: `  replay === "pure" || replay === "idempotent"
    ? settle(`,
        replace: `  replay !== "never" || afterMs > 0
    ? settle(`
      }
    ],
    test: "test/programs/Unknown.test.ts"
  },
  {
    id: "acts-run-together",
    changes: [
      {
        file: call,
        search: `if (next._tag === "Run" && next.replay !== "pure") {`,
        replace: `if (next._tag === "Run" && next.replay === "never" && started !== undefined) {`
      }
    ],
    test: "test/kernel/Call.test.ts"
  },
  {
    id: "duplicate-id-runs-twice",
    changes: [
      {
        file: call,
        search: "const judge = (state: State.State, known: CallArguments.Known, call: Message.ToolCall): Planned => {",
        replace:
          "const judge = (state: State.State, known: CallArguments.Known, { duplicateOf: _, ...call }: Message.ToolCall): Planned => {"
      }
    ],
    test: "test/programs/Dispatch.test.ts",
    only: "with the id of another"
  },
  {
    id: "unknown-is-not-held",
    changes: [
      {
        file: "src/kernel/Waiting.ts",
        search: `state.started?.manifest.unknown !== "tell" && state.lost`,
        replace: `state.started?.manifest.unknown === "tell" && state.lost`
      }
    ],
    test: "test/programs/Unknown.test.ts",
    only: "holds the run until"
  },
  {
    id: "usage-is-taken-as-told",
    changes: [
      {
        file: "src/services/LLMDraft.ts",
        search: "finish: part, usage: Usage.counted(part.usage)",
        replace: "finish: part, usage: part.usage"
      }
    ],
    test: simulation,
    only: seeds
  },
  {
    id: "who-was-overtaken-goes-on",
    changes: [
      {
        file: "src/programs/Rebase.ts",
        search: `if (event._tag === "RunClaimed") return yield*`,
        replace: `if (event._tag === "RunClaimed" && from < 0) return yield*`
      },
      {
        file: "src/programs/Rebase.ts",
        search: `event._tag === "ApprovalDecided" || event._tag === "CancelAsked"`,
        replace: `event._tag === "ApprovalDecided" || event._tag === "CancelAsked" || event._tag === "RunClaimed"`
      }
    ],
    test: "test/programs/Durable.test.ts",
    only: "who was overtaken"
  },
  {
    id: "take-over-is-not-claimed",
    changes: [
      {
        file: "src/programs/Custody.ts",
        search: "holder === undefined || state.started === undefined",
        replace: "holder === undefined || state.seq >= 0"
      }
    ],
    test: "test/programs/Durable.test.ts",
    only: "who was overtaken"
  },
  {
    id: "wake-before-wait-is-lost",
    changes: [
      {
        file: "src/programs/DurableRun.ts",
        search: `      if (state.seq !== looked) {
        looked = state.seq
        continue
      }`,
        replace: "      looked = state.seq + 1"
      }
    ],
    test: "test/programs/Durable.test.ts"
  },
  {
    id: "nobody-looks-again",
    changes: [
      {
        file: "src/programs/DurableRun.ts",
        search: "      yield* lookAgain(runId, looked, lastAt)\n",
        replace: "      yield* Effect.when(lookAgain(runId, looked, lastAt), () => looked < 0)\n"
      }
    ],
    test: "test/programs/Durable.test.ts",
    only: "finds by itself"
  }
]
