import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterEach, beforeEach, vi } from "vitest"
import * as Terminal from "../../src/cli/Terminal.ts"
import * as Watch from "../../src/cli/Watch.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Onlooker from "../../src/programs/Onlooker.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Shop from "../programs/Shop.ts"
import * as Fixture from "./Fixture.ts"

const agent = Agent.make({ name: "a", instructions: "Say it." })
const deltas = ["It is ", `4471 ${Fixture.hostile}`, "."]

/** What is written to a terminal while a run goes on, a moment passing after each part of the reply. */
const watched = (shape: { readonly isTTY?: boolean; readonly columns?: number }) =>
  Effect.gen(function* () {
    let written = ""
    const output = { ...shape, write: (text: string) => (written += text) }
    const terminal = Terminal.make(output, output)
    const record = yield* Record.Record
    const session = {
      arguments: { verb: "run" as const, positionals: [], rest: [], options: new Map<string, string>() },
      debug: false,
      json: false,
      terminal
    }
    const watch = Watch.make(session, record, () => "r.ndjson")
    const seen: Array<string> = []
    yield* Agent.run(agent, "Which?", { runId: "r" }).pipe(
      Effect.provideService(Record.Record, watch.record),
      Effect.provideService(Onlooker.Onlooker, (runId, progress) => {
        watch.see(runId, progress)
        const before = written.length
        vi.advanceTimersByTime(1_000)
        if (progress._tag === "Received") seen.push(written.slice(before))
      })
    )
    watch.stop()
    return { seen, written }
  }).pipe(Effect.provide([Shop.services, LLM.layerScripted([{ deltas }])]))

describe("A run that is watched", () => {
  const names = ["NO_COLOR", "CI", "TERM", "TMUX"]
  beforeEach(() => {
    for (const name of names) vi.stubEnv(name, "")
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllEnvs()
  })

  it.effect("shows the reply while it is written, and nothing of that once it is on the record", () =>
    Effect.gen(function* () {
      const { seen, written } = yield* watched({ isTTY: true, columns: 80 })
      assert.match(seen.join(""), /▸ pass 1 · says · [\d.]+s · (\u001b\[0m)?[^\r]* end\./)
      assert.notMatch(written.replaceAll(/\u001b\[(?:0|1|2|3[123]|1;36)m|\r/g, ""), Fixture.raw)
      // Every status is followed by what clears it.
      const [, after = ""] = /▸[^\r]*(\r +\r[^▸]*)$/.exec(written) ?? []
      assert.match(after, /said/)
    })
  )

  it.effect("shows a pipe its lines alone", () =>
    Effect.gen(function* () {
      const { seen, written } = yield* watched({})
      assert.strictEqual(seen.join(""), "")
      assert.notMatch(written, /▸|\r|\u001b/)
      assert.match(written, /said {6}It is 4471/)
    })
  )
})
