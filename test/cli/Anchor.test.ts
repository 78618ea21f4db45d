import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import * as path from "node:path"
import { afterAll, beforeAll } from "vitest"
import * as Record from "../../src/services/Record.ts"
import * as Fixture from "./Fixture.ts"

const base = fs.mkdtempSync(path.join(tmpdir(), "anchor-"))
const dir = path.join(base, "records")
const key = path.join(base, "anchor.key")
const kept = path.join(base, "runs.anchor")
const fileOf = (runId: string): string => path.join(dir, `${runId}.ndjson`)

const command = (...args: ReadonlyArray<string>): Promise<Fixture.Ended> => Fixture.inside([...args, "--dir", dir])

const write = (runId: string): Promise<unknown> =>
  Effect.gen(function* () {
    const record = yield* Record.Record
    const events = Fixture.airline(runId)
    yield* record.append(runId, 0, events.slice(0, 2))
    yield* record.append(runId, 2, events.slice(2))
  }).pipe(Effect.provide(Record.layerFile({ directory: dir })), Effect.runPromise)

const lines = (text: string): ReadonlyArray<string> => text.trimEnd().split("\n")

describe("wherefore anchor", () => {
  let trust = ""
  beforeAll(async () => {
    await write("one")
    await write("two")
    const made = await command("anchor", "keygen", "example.org/agents", "--key", key)
    assert.deepStrictEqual([made.code, lines(made.stdout).length], [0, 1])
    trust = made.stdout.trim()
    const signed = await command("anchor", "sign", "--key", key)
    assert.strictEqual(signed.code, 0, signed.stderr)
    assert.match(signed.stderr, /^2 runs signed\. Keep this where the records are not\.$/m)
    fs.writeFileSync(kept, signed.stdout)
  })
  afterAll(() => fs.rmSync(base, { recursive: true, force: true }))

  const check = (file = kept): Promise<Fixture.Ended> => command("anchor", "check", file, "--trust", trust)
  /** What is said while the file of a run is another, or none. */
  const meanwhile = async (runId: string, text: string | undefined): Promise<Fixture.Ended> => {
    const before = fs.readFileSync(fileOf(runId))
    if (text === undefined) fs.rmSync(fileOf(runId))
    else fs.writeFileSync(fileOf(runId), text)
    const said = await check()
    fs.writeFileSync(fileOf(runId), before)
    return said
  }

  it("makes a key that only its owner reads, shows its public half, and writes over nothing", async () => {
    assert.match(trust, /^example\.org\/agents\+[0-9a-f]{8}\+/)
    assert.strictEqual(fs.statSync(key).mode & 0o777, 0o600)
    const secret = fs.readFileSync(key, "utf8")
    const again = await command("anchor", "keygen", "example.org/agents", "--key", key)
    assert.strictEqual(again.code, 3)
    assert.match(again.stderr, /it is there already/)
    assert.strictEqual(fs.readFileSync(key, "utf8"), secret)
  })

  it("finds nothing to say of runs that are as they were signed", async () => {
    const { code, stdout } = await check()
    assert.strictEqual(code, 0)
    assert.match(stdout, /^one  ok   \d+ events as signed\. /m)
    assert.match(stdout, /^two  ok   /m)
  })

  it("finds a cut end, which verify alone cannot", async () => {
    const whole = lines(fs.readFileSync(fileOf("two"), "utf8"))
    const cut = `${whole.slice(0, -1).join("\n")}\n`
    const { code, stdout } = await meanwhile("two", cut)
    assert.strictEqual(code, 1)
    assert.match(stdout, /^two  BAD  Run "two" has lost entries from its end\. At entry 2\.$/m)
    assert.match(stdout, /^one  ok /m)
    const before = fs.readFileSync(fileOf("two"))
    fs.writeFileSync(fileOf("two"), cut)
    const verified = await command("verify", "two")
    fs.writeFileSync(fileOf("two"), before)
    assert.strictEqual(verified.code, 0)
    assert.match(verified.stdout, /removed/)
  })

  it("finds a run that is gone, and one that is not as it was written", async () => {
    const gone = await meanwhile("two", undefined)
    assert.strictEqual(gone.code, 1)
    assert.match(gone.stdout, /^two  BAD  Run "two" is gone\.$/m)
    const damaged = await meanwhile("two", fs.readFileSync(fileOf("two"), "utf8").replace("JG7FMM", "JG7FMN"))
    assert.notStrictEqual(damaged.code, 0)
    assert.match(damaged.stdout, /^two  BAD  /m)
  })

  it("says what came after it was signed, and of a run that it does not name that nothing is proven", async () => {
    const alone = await command("anchor", "sign", "one", "--key", key)
    assert.match(alone.stderr, /^1 run signed/)
    const file = path.join(base, "one.anchor")
    fs.writeFileSync(file, alone.stdout)
    const { code, stdout } = await check(file)
    assert.strictEqual(code, 0)
    assert.match(stdout, /^two  ok   The anchor does not name this run/m)
  })

  it("signs nothing if a run is not as it was written", async () => {
    const before = fs.readFileSync(fileOf("one"))
    fs.writeFileSync(fileOf("one"), fs.readFileSync(fileOf("one"), "utf8").replace("JG7FMM", "JG7FMN"))
    const { code, stderr, stdout } = await command("anchor", "sign", "--key", key)
    fs.writeFileSync(fileOf("one"), before)
    assert.notStrictEqual(code, 0)
    assert.strictEqual(stdout, "")
    assert.match(stderr, /wherefore verify one/)
  })

  it("believes no other key, no changed anchor, and shows no key", async () => {
    const other = path.join(base, "other.key")
    const made = await command("anchor", "keygen", "example.org/others", "--key", other)
    const strange = await command("anchor", "check", kept, "--trust", made.stdout.trim())
    assert.strictEqual(strange.code, 3)
    assert.match(strange.stderr, /not signed by the key that is trusted/)
    const text = fs.readFileSync(kept, "utf8")
    const part = path.join(base, "part.anchor")
    fs.writeFileSync(part, text.slice(text.indexOf("wherefore.record/1/two")))
    const cut = await check(part)
    assert.strictEqual(cut.code, 3)
    assert.match(cut.stderr, /not the one that was signed/)
    const swapped = await command("anchor", "sign", "--key", kept)
    assert.strictEqual(swapped.code, 2)
    const secret = fs.readFileSync(key, "utf8").trim()
    const asTrust = await command("anchor", "check", kept, "--trust", secret)
    assert.strictEqual(asTrust.code, 2)
    assert.notInclude(asTrust.stderr + asTrust.stdout, secret.split("+").at(-1) ?? secret)
  })

  it("says what it lacks", async () => {
    for (const [words, said] of [
      [["anchor", "sing"], /Write keygen, sign or check/],
      [["anchor", "keygen"], /A key needs a name/],
      [["anchor", "keygen", "a.b"], /needs --key/],
      [["anchor", "keygen", "a+b", "--key", path.join(base, "x")], /no key/],
      [["anchor", "sign"], /needs --key/],
      [["anchor", "check"], /An anchor is needed/],
      [["anchor", "check", kept], /needs --trust/]
    ] as const) {
      const { code, stderr } = await command(...words)
      assert.strictEqual(code, 2, words.join(" "))
      assert.match(stderr, said)
    }
    const empty = await Fixture.inside(["anchor", "sign", "--key", key, "--dir", base])
    assert.strictEqual(empty.code, 3)
    assert.match(empty.stderr, /There are no runs in/)
  })

  it("gives JSON", async () => {
    const { stdout } = await command("anchor", "check", kept, "--trust", trust, "--json")
    const [head, one] = lines(stdout).map((line) => JSON.parse(line))
    assert.deepStrictEqual(head, {
      format: "wherefore.anchored/1",
      by: "example.org/agents",
      whole: true,
      exit: 0,
      ok: true
    })
    assert.deepStrictEqual([one.runId, one.exit], ["one", 0])
    const signed = lines((await command("anchor", "sign", "one", "--key", key, "--json")).stdout).map((line) =>
      JSON.parse(line)
    )
    assert.deepStrictEqual(signed[0], { format: "wherefore.anchor/1", runs: 1 })
    assert.match(signed[2].anchor, /^wherefore\.record\/1\/one\n/)
  })
})
