import { assert, describe, it } from "@effect/vitest"
import * as Terminal from "../../src/cli/Terminal.ts"
import * as ScreenLine from "../../src/programs/ScreenLine.ts"

interface Shape {
  readonly isTTY?: boolean
  readonly columns?: number
}

/** What a terminal of a shape writes, in an environment in which these variables and no others of theirs are set. */
const written = (
  shape: Shape,
  set: { readonly [name: string]: string },
  use: (terminal: Terminal.Terminal) => void
) => {
  const names = ["NO_COLOR", "CI", "TERM", "TMUX"]
  const before = names.map((name) => [name, process.env[name]] as const)
  let stdout = ""
  let stderr = ""
  try {
    for (const name of names) delete process.env[name]
    Object.assign(process.env, set)
    const error = { write: (text: string) => (stderr += text) }
    use(Terminal.make({ ...shape, write: (text) => (stdout += text) }, Object.setPrototypeOf(error, shape)))
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
  return { stdout, stderr }
}

const line = [ScreenLine.span("good", "good"), ScreenLine.span(" plain")]
const print = (terminal: Terminal.Terminal) => terminal.out([line])

describe("Terminal", () => {
  it("has colour on a terminal only, and none with NO_COLOR, in CI or if it is dumb", () => {
    const tty = { isTTY: true, columns: 80 }
    assert.strictEqual(written(tty, {}, print).stdout, "\u001b[32mgood\u001b[0m plain\n")
    assert.strictEqual(written(tty, { NO_COLOR: "" }, print).stdout, "\u001b[32mgood\u001b[0m plain\n")
    for (const set of [{ NO_COLOR: "1" }, { CI: "true" }, { TERM: "dumb" }]) {
      assert.strictEqual(written(tty, set, print).stdout, "good plain\n")
    }
    assert.strictEqual(written({}, {}, print).stdout, "good plain\n")
  })

  it("is as wide as it says, never narrower than 60, and has no width as a pipe", () => {
    const width = (shape: Shape) => {
      let found: number | undefined
      written(shape, {}, ({ room }) => (found = room.width))
      return found
    }
    assert.strictEqual(width({ isTTY: true, columns: 132 }), 132)
    assert.strictEqual(width({ isTTY: true, columns: 20 }), 60)
    assert.strictEqual(width({ isTTY: true, columns: 0 }), 80)
    assert.strictEqual(width({}), undefined)
  })

  it("replaces its status line with spaces, and writes lines where it was", () => {
    const use = (terminal: Terminal.Terminal) => {
      terminal.status([ScreenLine.span("one")])
      terminal.status([ScreenLine.span("\u001b[2Jtwo")])
      terminal.progress([line])
      terminal.status(undefined)
    }
    const { stderr } = written({ isTTY: true, columns: 80 }, {}, use)
    const last = "\u001b[32mgood\u001b[0m plain\n"
    assert.strictEqual(stderr, `one\r   \r\\u001b[2Jtwo\r${" ".repeat(12)}\r${last}`)
    for (const set of [{ NO_COLOR: "1" }, { CI: "1" }, { TERM: "dumb" }]) {
      assert.strictEqual(written({ isTTY: true, columns: 80 }, set, use).stderr, "good plain\n")
    }
    assert.strictEqual(written({}, {}, use).stderr, "good plain\n")
  })

  it("keeps a status in one line of the terminal as it is then, also of one that is narrower than our lines", () => {
    for (const columns of [20, 40, 60, 200]) {
      const shape = { isTTY: true, columns: 200 }
      const { stderr } = written(shape, {}, (terminal) => {
        shape.columns = columns
        terminal.status([ScreenLine.span("漢字 👩‍👩‍👧 ".repeat(200))])
      })
      assert.isBelow(ScreenLine.width(stderr.replaceAll(/\u001b\[\d+m/g, "")), columns)
    }
  })

  it("writes a status over once a second in tmux, else eight times", () => {
    let every = 0
    const look = (terminal: Terminal.Terminal) => (every = terminal.everyMs)
    written({ isTTY: true }, {}, look)
    assert.strictEqual(every, 125)
    written({ isTTY: true }, { TMUX: "/tmp/tmux-0/default,1,0" }, look)
    assert.strictEqual(every, 1_000)
  })

  it("complains in two sentences, or in one object", () => {
    const complaint = { exit: 3, code: "WF-X", what: "It is \u0007 broken.", next: "Mend it." }
    assert.strictEqual(
      written({}, {}, (terminal) => Terminal.complain(terminal, false, complaint, "why")).stderr,
      "It is \\u0007 broken.\n  Mend it.\n"
    )
    const { stdout } = written({}, {}, (terminal) => Terminal.complain(terminal, true, complaint, "why"))
    assert.deepStrictEqual(JSON.parse(stdout), {
      format: "wherefore.error/1",
      verb: "why",
      exit: 3,
      code: "WF-X",
      what: "It is \\u0007 broken.",
      next: "Mend it."
    })
  })
})
