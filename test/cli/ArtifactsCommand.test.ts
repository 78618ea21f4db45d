import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { afterAll, beforeAll } from "vitest"
import type * as Artifact from "../../src/kernel/Artifact.ts"
import type * as Event from "../../src/kernel/Event.ts"
import * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import * as Directory from "../services/ArtifactDirectory.ts"
import * as Fixture from "./Fixture.ts"

const lines = (text: string): ReadonlyArray<string> => text.trimEnd().split("\n")

/** The run as one whose artifacts are those of a session. */
const inSession = (events: ReadonlyArray<Event.Event>, scope: Artifact.Scope): ReadonlyArray<Event.Event> =>
  events.map((event) =>
    event._tag === "RunStarted" ? { ...event, manifest: { ...event.manifest, artifacts: { scope } } } : event
  )

describe("wherefore artifacts", () => {
  let fixture: Fixture.Fixture
  let home: string
  let store: string
  const refs = new Map<string, string>()

  const put = (name: string, scope: Artifact.Scope, data: unknown, more: Partial<Artifact.PutInput> = {}) =>
    Effect.gen(function* () {
      const { put } = yield* ArtifactStore.ArtifactStore
      const { meta } = yield* put(scope, { kind: "note", mediaType: "text/plain", data, ...more })
      refs.set(name, meta.ref)
    })

  const ref = (name: string) => refs.get(name) ?? ""

  beforeAll(async () => {
    fixture = await Fixture.make()
    home = process.cwd()
    process.chdir(fixture.directory)
    store = path.join(fixture.directory, ".wherefore/artifacts")
    const session = { conversationId: "session", tenant: "acme", principal: "ann" }
    await fixture.record("airline", Fixture.airline())
    await fixture.record("session", inSession(Fixture.airline("session"), session))
    const filled = Effect.gen(function* () {
      yield* put("text", { conversationId: "airline" }, "Zone a.\u001b[2J\nline two", { label: "a\nb\u001b[31m" })
      yield* put("bytes", { conversationId: "airline" }, new Uint8Array([0, 255, 10]))
      yield* put("json", session, { a: [1, 2] }, { mediaType: "application/json" })
    })
    const layer = ArtifactStore.layerFileSystem({ directory: store })
    await Effect.runPromise(filled.pipe(Effect.provide(layer), Effect.provide(NodeFileSystem.layer)))
  })
  afterAll(() => {
    process.chdir(home)
    fixture.remove()
  })

  it("lists what a run may see, and nothing else", async () => {
    const { code, stdout } = await Fixture.inside(["artifacts", "list", "airline"])
    assert.strictEqual(code, 0)
    assert.deepStrictEqual(
      new Set(lines(stdout).map((line) => line.split(" ")[0])),
      new Set([ref("text"), ref("bytes")])
    )
    assert.include(stdout, "note · 3 B")
    assert.lengthOf(lines(stdout), 2)
    assert.notInclude(stdout, "\u001b")
    const other = await Fixture.inside(["artifacts", "list", "session", "--json"])
    const [head, ...rows] = lines(other.stdout).map((line) => JSON.parse(line))
    assert.deepStrictEqual(head, { format: "wherefore.artifacts/1", directory: ".wherefore/artifacts" })
    assert.deepStrictEqual(
      rows.map((row) => [row.ref, row.mediaType, row.bytes]),
      [[ref("json"), "application/json", 11]]
    )
  })

  it("gives what was stored as it is to a file, and as text to a terminal", async () => {
    const { code, stderr, stdout } = await fixture.command(["artifacts", "get", "airline", ref("text")])
    assert.deepStrictEqual([code, stderr, stdout], [0, "", "Zone a.\u001b[2J\nline two"])
    const shown = await Fixture.inside(["artifacts", "get", "airline", ref("text")], 80)
    assert.strictEqual(shown.code, 0)
    assert.match(shown.stdout, /^Zone a\.\\u001b\[2J\nline two\n$/)
    const bytes = await Fixture.inside(["artifacts", "get", "airline", ref("bytes")], 80)
    assert.strictEqual(bytes.code, 2)
    assert.include(bytes.stderr, "3 bytes that are no text")
    const encoded = await Fixture.inside(["artifacts", "get", "airline", ref("bytes"), "--json"])
    assert.deepInclude(JSON.parse(encoded.stdout), {
      format: "wherefore.artifact/1",
      ref: ref("bytes"),
      base64: "AP8K"
    })
    const json = await Fixture.inside(["artifacts", "get", "@", ref("json"), "--dir", "nowhere"])
    assert.strictEqual(json.code, 3)
  })

  it("gives the artifacts of a session to all who name it, and to no other run", async () => {
    const named = ["--conversation", "session", "--tenant", "acme", "--principal", "ann"]
    for (const whose of [["session"], []]) {
      const options = whose.length === 0 ? named : []
      const { code, stdout } = await Fixture.inside(["artifacts", "get", ...whose, ref("json"), ...options])
      assert.deepStrictEqual([code, stdout], [0, '{"a":[1,2]}'])
    }
    for (const words of [
      ["airline", ref("json")],
      [ref("json"), "--conversation", "session"],
      ["airline", "art_x"]
    ]) {
      const { code, stdout, stderr } = await Fixture.inside(["artifacts", "get", ...words])
      assert.deepStrictEqual([code, stdout], [3, ""])
      assert.include(stderr, "There is no artifact")
    }
  })

  it("shows nothing to those who do not say whose it is", async () => {
    for (const words of [
      ["list"],
      ["get", ref("text")],
      ["list", "--tenant", "acme"],
      ["list", "airline", "--conversation", "session"]
    ]) {
      const { code, stderr, stdout } = await Fixture.inside(["artifacts", ...words])
      assert.deepStrictEqual([code, stdout], [2, ""], stderr)
    }
  })

  it("says what it does not know", async () => {
    for (const [words, said] of [
      [["lst"], 'Artifacts have no "lst"'],
      [["get"], "get needs an artifact"],
      [["list", "a", "b"], "list takes a run"],
      [["verify", "airline"], "verify looks at all"],
      [["list", "airline", "--repair"], "Only verify repairs"]
    ] as const) {
      const { code, stderr } = await Fixture.inside(["artifacts", ...words])
      assert.strictEqual(code, 2)
      assert.include(stderr, said)
    }
  })

  it("proves what is kept, tells a leftover from damage, and removes the leftover alone", async () => {
    const whole = await Fixture.inside(["artifacts", "verify"])
    assert.deepStrictEqual([whole.code, whole.stdout], [0, "3 artifacts whole, 34 B, in 2 scopes · whole\n"])
    const left = path.join(store, "t-_/p-_/c-airline", `art_${"0".repeat(22)}.bytes`)
    fs.writeFileSync(left, "x")
    const unclean = await Fixture.inside(["artifacts", "verify", "--store", store])
    assert.strictEqual(unclean.code, 3)
    assert.match(
      unclean.stdout,
      /\n {2}no-ticket +left +These are bytes without their ticket\. t-_\/p-_\/c-airline\/art_0/
    )
    assert.isTrue(fs.existsSync(left))
    const repaired = await Fixture.inside(["artifacts", "verify", "--repair", "--json"])
    assert.strictEqual(repaired.code, 0)
    const [report, ...problems] = lines(repaired.stdout).map((line) => JSON.parse(line))
    assert.deepInclude(report, { format: "wherefore.artifact-report/1", artifacts: 3, whole: true })
    assert.deepStrictEqual(
      problems.map(({ kind, removed }) => [kind, removed]),
      [["no-ticket", true]]
    )
    assert.isFalse(fs.existsSync(left))
    const file = Directory.fileOf(store, ref("json"), "bytes")
    fs.writeFileSync(file, '{"a":[1,3]}')
    const damaged = await Fixture.inside(["artifacts", "verify", "--repair"])
    assert.strictEqual(damaged.code, 1)
    assert.match(damaged.stdout, /^2 artifacts whole, 23 B, in 2 scopes · FAILS\n {2}bytes-changed +BAD +Its 11 bytes/)
    assert.isTrue(fs.existsSync(file))
    const got = await Fixture.inside(["artifacts", "get", "session", ref("json")])
    assert.deepStrictEqual([got.code, got.stdout], [1, ""])
  })

  it("shows what a program stored that wherefore ran", async () => {
    const file = fixture.write(
      "stores.ts",
      `import * as Effect from "effect/Effect"
import { ArtifactStore } from "wherefore/ArtifactStore"
const input = { kind: "note", mediaType: "text/plain", data: "made" }
export default Effect.flatMap(ArtifactStore, (store) => store.put({ conversationId: "made" }, input))
`
    )
    const ran = await fixture.command(["run", file, "--dir", "elsewhere"])
    assert.strictEqual(ran.code, 0, ran.stderr)
    const { stdout } = await Fixture.inside(["artifacts", "list", "--conversation", "made", "--dir", "elsewhere"])
    assert.match(stdout, /^art_\w{22} {2}\d{4}-.* note · 4 B\n$/)
  })

  it("makes no directory by looking for one", async () => {
    for (const words of [["list", "airline"], ["verify"]]) {
      const { code, stderr } = await Fixture.inside(["artifacts", ...words, "--store", "nowhere"])
      assert.strictEqual(code, 3)
      assert.include(stderr, 'There is no directory "nowhere"')
    }
    assert.isFalse(fs.existsSync("nowhere"))
  })
})
