import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import * as Fixture from "./Fixture.ts"

describe("wherefore replay", () => {
  let fixture: Fixture.Fixture
  let home: string

  beforeAll(async () => {
    fixture = await Fixture.make()
    home = process.cwd()
    process.chdir(fixture.directory)
    const events = Fixture.airline()
    await fixture.record("airline", events)
    const other = Fixture.airline("other").map((event) =>
      event._tag === "ToolSettled" && event.iteration === 2 ? { ...event, served: "Nothing." } : event
    )
    await fixture.record("other", other)
  })
  afterAll(() => {
    process.chdir(home)
    fixture.remove()
  })

  it("says that each wire is what it was, and exits with 0", async () => {
    const { code, stderr, stdout } = await fixture.command(["replay", "airline"])
    assert.strictEqual(code, 0, stderr)
    assert.match(stdout, /^airline {2}the same {2}\d+ events · \d+ wires · answered\n$/)
    const json = await Fixture.inside(["replay", "airline", "--json"])
    assert.deepInclude(JSON.parse(json.stdout), { format: "wherefore.replay/1", same: true, runId: "airline" })
  })

  it("names the pass that differs, and exits with 1", async () => {
    const { code, stdout } = await Fixture.inside(["replay", "other"])
    assert.strictEqual(code, 1)
    assert.match(stdout, /^other {2}DIFFERS at pass 3 {2}#\d+\nPass 3 was sent another wire than its events make now\./)
    const json = await Fixture.inside(["replay", "other", "--json"])
    assert.strictEqual(json.code, 1)
    assert.deepInclude(JSON.parse(json.stdout), { same: false, kind: "changed", pass: 3 })
  })
})
