/**
 * A `Fixture` is the command, built into a directory of its own, as a user would have it installed: programs beside it
 * import "wherefore/Agent". It is run as a process with its output piped, or inside the process of the test.
 */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import * as path from "node:path"
import * as Arguments from "../../src/cli/Arguments.ts"
import * as Help from "../../src/cli/Help.ts"
import * as Session from "../../src/cli/Session.ts"
import * as Terminal from "../../src/cli/Terminal.ts"
import type * as Event from "../../src/kernel/Event.ts"
import * as Message from "../../src/kernel/Message.ts"
import type * as Piece from "../../src/kernel/Piece.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Record from "../../src/services/Record.ts"

const root = path.resolve(import.meta.dirname, "../..")

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Options {
  readonly input?: string
  readonly env?: NodeJS.ProcessEnv
  /** Interrupts it once it has said this on standard error. */
  readonly interruptAt?: string
}

export interface Fixture {
  readonly directory: string
  readonly main: string
  readonly command: (args: ReadonlyArray<string>, options?: Options) => Promise<Ended>
  /** Writes a file beside the records. */
  readonly write: (name: string, text: string) => string
  /** Writes events as a run's record, in two appends. */
  readonly record: (runId: string, events: ReadonlyArray<Event.Event>) => Promise<string>
  readonly remove: () => void
}

const spawned = (args: ReadonlyArray<string>, cwd: string, options: Options = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const { HOME, PATH, TMPDIR } = process.env
    const child = spawn(process.execPath, args, { cwd, env: { HOME, PATH, TMPDIR, ...options.env } })
    let stdout = ""
    let stderr = ""
    let told = options.interruptAt === undefined
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text
      if (!told && stderr.includes(options.interruptAt ?? "")) told = child.kill("SIGINT")
    })
    child.stdin.on("error", () => undefined).end(options.input ?? "")
    child.once("close", (code) => resolve({ code, stdout, stderr }))
  })

/** Runs the command in this process and directory, for a pipe or for a terminal of so many columns. */
export const inside = async (args: ReadonlyArray<string>, columns?: number): Promise<Ended> => {
  let stdout = ""
  let stderr = ""
  const shape = columns === undefined ? {} : { isTTY: true, columns }
  const terminal = Terminal.make(
    { ...shape, write: (text) => (stdout += text) },
    { ...shape, write: (text) => (stderr += text) }
  )
  const { debug, json, wants } = Arguments.parse(args)
  let code = 0
  if (wants._tag === "Wrong") {
    Terminal.complain(terminal, json, wants.complaint, wants.verb)
    code = wants.complaint.exit
  } else if (wants._tag === "Run") {
    code = await Effect.runPromise(Session.perform({ arguments: wants.arguments, debug, json, terminal }))
  } else terminal.out(Help.overview)
  return { code, stdout, stderr }
}

export const make = async (): Promise<Fixture> => {
  const directory = fs.realpathSync(fs.mkdtempSync(path.join(tmpdir(), "wherefore-cli-")))
  fs.symlinkSync(path.join(root, "node_modules"), path.join(directory, "node_modules"), "dir")
  fs.copyFileSync(path.join(root, "package.json"), path.join(directory, "package.json"))
  const options = {
    extends: path.join(root, "tsconfig.json"),
    include: [path.join(root, "src/**/*.ts")],
    files: [],
    references: [],
    compilerOptions: {
      composite: false,
      declarationMap: false,
      sourceMap: false,
      noCheck: true,
      noEmitOnError: false,
      rootDir: path.join(root, "src"),
      outDir: path.join(directory, "dist"),
      types: ["node"],
      typeRoots: [path.join(root, "node_modules/@types")]
    }
  }
  fs.writeFileSync(path.join(directory, "tsconfig.json"), JSON.stringify(options))
  const built = await spawned([path.join(root, "node_modules/typescript/bin/tsc"), "-p", directory], root)
  const main = path.join(directory, "dist/cli/main.js")
  if (!fs.existsSync(main)) throw new Error(`The command was not built. ${built.stdout}${built.stderr}`)
  const records = path.join(directory, ".wherefore")

  return {
    directory,
    main,
    command: (args, options) => spawned([main, ...args], directory, options),
    write: (name, text) => {
      const file = path.join(directory, name)
      fs.mkdirSync(path.dirname(file), { recursive: true })
      fs.writeFileSync(file, text)
      return file
    },
    record: (runId, events) => {
      const half = Math.floor(events.length / 2)
      const append = Effect.flatMap(Record.Record, (record) =>
        Effect.zipRight(record.append(runId, 0, events.slice(0, half)), record.append(runId, half, events.slice(half)))
      )
      return Effect.runPromise(
        append.pipe(
          Effect.provide(Record.layerFile({ directory: records, durability: "process-crash" })),
          Effect.as(path.join(records, `${runId}.ndjson`))
        )
      )
    },
    remove: () => fs.rmSync(directory, { recursive: true, force: true })
  }
}

export interface Reply {
  readonly say?: string
  readonly calls?: ReadonlyArray<{
    readonly tool: string
    readonly args: string
    readonly result: string
    readonly id?: string
  }>
  readonly fails?: string
}

export interface Setting {
  readonly runId?: string
  readonly agent?: string
  readonly input?: string
  readonly pieces?: ReadonlyArray<Piece.Piece>
  readonly limits?: Event.Limits
  readonly model?: string
}

/** The events of a run in which the model says what is written here, and the tools return what is written here. */
export const play = (replies: ReadonlyArray<Reply>, setting: Setting = {}): ReadonlyArray<Event.Event> => {
  const { agent = "a", input = "Go.", limits = {}, model, pieces = [], runId = "r" } = setting
  const events: Array<Event.Event> = []
  let state = Run.initial
  const happen = (...happened: ReadonlyArray<Event.Event>) => {
    for (const event of happened) {
      events.push(event)
      state = Run.step(state, event)
    }
  }
  const names = new Set(replies.flatMap(({ calls = [] }) => calls.map(({ tool }) => tool)))
  const tools = Array.from(names, (name) =>
    Run.declareTool({ name, description: name, schema: { type: "object" } }, "pure")
  )
  const spec: Run.Spec = {
    pieces: pieces.map((one) => Run.declarePiece(one)),
    tools,
    parameters: {},
    limits,
    elapsedMs: 1_500,
    ...(model === undefined ? {} : { provider: model, model })
  }
  happen({ _tag: "RunStarted", runId, agent, manifest: { limits }, input })
  for (;;) {
    const decision = Run.decide(spec, state)
    happen(...decision.events)
    const { command } = decision
    if (command._tag === "Finish") return events
    const reply = replies[state.iteration - 1] ?? { say: "Done." }
    if (command._tag === "CallModel") {
      const { iteration } = command.wire
      if (reply.fails !== undefined) {
        const { fails } = reply
        const problem = {
          code: fails,
          what: fails,
          where: fails,
          expected: fails,
          found: fails,
          next: fails,
          outcome: "unknown" as const,
          retry: "never" as const
        }
        happen({ _tag: "ModelFailed", iteration, reason: fails, problem })
        continue
      }
      const calls = (reply.calls ?? []).map(({ args, id = "", tool }) => ({ toolCallId: id, toolName: tool, args }))
      happen({
        _tag: "ModelReplied",
        iteration,
        content: reply.say ?? "",
        toolCalls: Message.identify(iteration, calls),
        durationMs: 900
      })
    } else if (command._tag === "RunTools") {
      command.calls.forEach(({ call: { toolCallId, toolName } }, index) => {
        const served = reply.calls?.[index]?.result ?? ""
        const named = { iteration: command.iteration, toolCallId, toolName }
        happen({ _tag: "ToolCalled", ...named, args: {}, replay: "pure" })
        happen({ _tag: "ToolSettled", ...named, outcome: "ran-ok", served, durationMs: 40 })
      })
    }
  }
}

/** A run with a long way from a question to a number, and a number from nowhere. */
export const airline = (runId = "airline"): ReadonlyArray<Event.Event> =>
  play(
    [
      {
        say: "I will downgrade both.",
        calls: [
          {
            tool: "update",
            args: '{"reservation":"JG7FMM","cabin":"economy"}',
            result: '{"id":"JG7FMM","payments":[{"amount":7001},{"amount":-6594}]}'
          },
          {
            tool: "update",
            args: '{"reservation":"2FBBAH","cabin":"economy"}',
            result: '{"id":"2FBBAH","payments":[{"amount":7002},{"amount":-3925}]}'
          }
        ]
      },
      { calls: [{ tool: "calculate", args: '{"expression":"6594 + 3925"}', result: "10519.0", id: "sum" }] },
      { say: "You have saved a total of $10,519 by downgrading JG7FMM and 2FBBAH. A voucher of $250 is on its way." }
    ],
    {
      runId,
      agent: "airline",
      input: "I need to downgrade JG7FMM and 2FBBAH to economy. How much have I saved in total?",
      limits: { passes: 20 }
    }
  )

/** Every kind of character that could do more than be seen, one of each way to write it. */
export const hostile =
  "\u001b[31mred\u001b[0m \u001b]8;;http://evil\u0007link\u001b]8;;\u0007 \u001b]52;c;aGk=\u001b\\ \u0007 \rover \u0008 " +
  "\u009b31m \u007f \u202eevil\u202c \u2066x\u2069 \u200bzero\u200d\ufeff \u2028line\u2029para \u{e0041}\u{e007f} \u0000 \u0085 end"

/** Characters that may not reach a terminal, line feeds apart. */
export const raw =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\ud800-\udbff](?![\udc00-\udfff])/u
