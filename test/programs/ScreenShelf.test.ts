import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type * as Event from "../../src/kernel/Event.ts"
import * as Artifacts from "../../src/programs/Artifacts.ts"
import * as Screen from "../../src/programs/Screen.ts"
import * as ScreenShelf from "../../src/programs/ScreenShelf.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Atelier from "./Atelier.ts"

const text = (lines: ReadonlyArray<Screen.Line>) => Screen.print(lines, { colour: false })

const ref = `art_${"a".repeat(22)}`
const evil = `\u001b[2Jx\n# Section ${"y".repeat(5_000)}\u202e`

/** The lines that a display shows of a run, and those of its summary. */
const see = (events: ReadonlyArray<Event.Event>, room: Screen.Room) => {
  const account = Screen.account(events, room)
  return {
    live: text(account.lines),
    show: text(Screen.show(account, { room, name: "r" })),
    final: text(Screen.final(account, { room, name: "r" }))
  }
}

const played = (label: string) =>
  Atelier.play(
    LLM.byPass([LLM.call("make", { what: "x" }, "c"), LLM.call("make", { what: "y" }, "d"), "Done."]),
    (what) =>
      Effect.gen(function* () {
        const { delete: remove, get, list, put } = yield* Artifacts.Artifacts
        if (what === "x")
          return (yield* put({ ...Atelier.csv("a,b"), kind: label === "" ? "table/csv" : label.slice(0, 200), label }))
            .meta.ref
        const [first] = (yield* list()).artifacts
        yield* get(first?.ref ?? "")
        yield* put({ ...Atelier.csv("child"), parentRefs: [first?.ref ?? ""] })
        yield* get("no ref")
        return yield* remove(first?.ref ?? "")
      }).pipe(Effect.orDie)
  ).pipe(Effect.provide(Atelier.services()))

describe("ScreenShelf", () => {
  it.effect("shows what was stored, read, missed and deleted, as it happens and after", () =>
    Effect.gen(function* () {
      const { events } = yield* played("")
      const { live, show } = see(events, {})
      const names = Array.from(new Set(live.match(/art_\w{22}/g)))
      assert.lengthOf(names, 2)
      const [first = "", second = ""] = names
      for (const line of [
        `stored    ${first} table/csv · 3 B  #`,
        `read      ${first} table/csv · 3 B`,
        `stored    ${second} table/csv · 5 B`,
        "missed    get: missing-or-expired",
        `deleted   ${first}`
      ]) {
        assert.include(live, line)
      }
      assert.include(
        show,
        `shelf    ${first} table/csv · 3 B · by make, pass 1 · read by make, pass 2 · gone: deleted (#`
      )
      assert.include(show, `${second} table/csv · 5 B · by make, pass 2 · from ${first}`)
    })
  )

  it("shows what the model showed first, and says of what is gone that it is", () => {
    const place = { iteration: 1, toolCallId: "c", toolName: "present" }
    const snapshot = { kind: "chart/png", mediaType: "image/png", bytes: 1_204, label: evil }
    const events: ReadonlyArray<Event.Event> = [
      { _tag: "RunStarted", runId: "r", agent: "a", manifest: { limits: {} }, input: "Go." },
      { _tag: "ModelCalled", iteration: 1, wireHash: "h", messagesCount: 1 },
      {
        _tag: "ModelReplied",
        iteration: 1,
        content: "",
        toolCalls: [{ toolCallId: "c", toolName: "present", args: "{}" }]
      },
      { _tag: "ArtifactResolved", ...place, ref, via: "head", kind: "chart/png", bytes: 1_204 },
      { _tag: "ArtifactPresented", ...place, ref, as: evil, snapshot },
      { _tag: "ArtifactPresented", ...place, ref, as: "chart", snapshot: { kind: "k", mediaType: "m", bytes: 1 } },
      { _tag: "ArtifactExpired", ...place, ref, reason: "ttl", kind: "chart/png", bytes: 1_204 }
    ]
    for (const room of [{}, { width: 80 }, { width: 80, full: true }, { width: 24 }]) {
      const { final, live, show } = see(events, room)
      for (const shown of [final, live, show]) {
        assert.notMatch(shown, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]|^#/mu)
        assert.match(shown, /showed/)
      }
      if ("width" in room && room.width > 24 && !("full" in room)) {
        for (const line of [...final.split("\n"), ...show.split("\n")]) assert.isAtMost(line.length, 80)
      }
    }
    const wide = see(events, { full: true }).show
    assert.include(wide, "gone since #6")
    assert.include(see(events, { width: 100 }).final, "1 more that was shown")
    const json = ScreenShelf.toJson(Screen.account(events, {}).ticker.state)
    assert.strictEqual(json.presented?.length, 2)
    assert.deepStrictEqual(ScreenShelf.toJson({}), {})
  })

  it.effect("prints foreign words as data, whoever chose them", () =>
    Effect.gen(function* () {
      const { events } = yield* played(evil)
      for (const room of [{}, { width: 60 }, { width: 80, full: true }]) {
        const { live, show } = see(events, room)
        assert.notMatch(live + show, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]|^#/mu)
      }
    })
  )
})
