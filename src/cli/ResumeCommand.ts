/**
 * `ResumeCommand` goes on with a run of the archive, as the program says that it began with: that has the agent, and what its
 * tools do.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Complaint from "./Complaint.ts"
import * as Program from "./Program.ts"
import type * as Session from "./Session.ts"
import * as RunCommand from "./RunCommand.ts"
import * as Waits from "./Waits.ts"

type Resume = (runId: string) => unknown

// What it gives is looked at when it has given it.
const isResume = (value: unknown): value is Resume => Predicate.isFunction(value)

const resuming: Program.Wanted<Resume> = {
  name: "resume",
  is: isResume,
  use: "resume",
  kind: "a function",
  example: "Write: export const resume = (runId: string) => Agent.resume(agent, runId)"
}

export const run: Session.Command = (session) =>
  Effect.gen(function* () {
    const { archive, json, terminal } = session
    const { positionals, rest } = session.arguments
    const [word = "", file = ""] = positionals
    const { runId } = yield* Waits.here(session, word)
    const resume = yield* Program.loadAs(resuming, file, rest)
    const program = yield* Effect.try({
      try: () => resume(runId),
      catch: (cause) =>
        Complaint.no(`The export "resume" failed: ${Program.reasonOf(cause)}`, resuming.example, { cause })
    })
    if (!Program.isProgram(program)) {
      return yield* Effect.fail(Complaint.usage('The export "resume" gives no Effect.', resuming.example))
    }
    if (json) terminal.json({ format: "wherefore.resume/1", runId, file, directory: archive.shown })
    return yield* RunCommand.perform(session, program, [runId])
  })
