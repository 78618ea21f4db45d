/**
 * A `Session` is one run of a verb: its program, what it says when that fails, and the exit code.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as ScreenLine from "../programs/ScreenLine.ts"
import type * as Arguments from "./Arguments.ts"
import * as Archive from "./Archive.ts"
import * as Complaint from "./Complaint.ts"
import * as DatabaseUrl from "./DatabaseUrl.ts"
import * as Terminal from "./Terminal.ts"
import type * as Verb from "./Verb.ts"

export interface Asked {
  readonly arguments: Arguments.Arguments
  readonly json: boolean
  readonly debug: boolean
  readonly terminal: Terminal.Terminal
}

export interface Session extends Asked {
  /** Where the runs are. */
  readonly archive: Archive.Archive
}

/** The code of a verb. It succeeds with the exit code. */
export type Command = (session: Session) => Effect.Effect<number, Complaint.Complaint>

type Module = Promise<{ readonly run: Command }>

const code: { readonly [N in Exclude<Verb.Name, "help">]: () => Module } = {
  run: () => import("./RunCommand.ts"),
  resume: () => import("./ResumeCommand.ts"),
  runs: () => import("./RunsCommand.ts"),
  show: () => import("./ShowCommand.ts"),
  why: () => import("./WhyCommand.ts"),
  findings: () => import("./FindingsCommand.ts"),
  artifacts: () => import("./ArtifactsCommand.ts"),
  approvals: () => import("./ApprovalsCommand.ts"),
  approve: () => import("./DecideCommand.ts"),
  deny: () => import("./DecideCommand.ts"),
  resolve: () => import("./ResolveCommand.ts"),
  verify: () => import("./VerifyCommand.ts"),
  replay: () => import("./ReplayCommand.ts"),
  anchor: () => import("./AnchorCommand.ts"),
  import: () => import("./ImportCommand.ts"),
  serve: () => import("./ServeCommand.ts")
}

/** Verbs that go on until they are told to end: to be told so is no failure. */
const lasting: ReadonlySet<Verb.Name> = new Set(["serve"])

/** Log lines of programs and of our own layers: cleaned, on standard error. */
export const logger = ({ progress }: Terminal.Terminal) =>
  Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ cause, logLevel, message }) => {
      const parts: ReadonlyArray<unknown> = Array.isArray(message) ? message : [message]
      const said = parts
        .map((part) => (typeof part === "string" ? part : (ScreenLine.json(part) ?? String(part))))
        .join(" ")
      const why = Cause.isEmpty(cause) ? "" : ` ${Cause.pretty(cause)}`
      progress([ScreenLine.plain(`${logLevel.label.toLowerCase()}: ${ScreenLine.fit(said + why, 2_000)}`)])
    })
  )

const debugLines = (cause: unknown): ReadonlyArray<ScreenLine.Line> => {
  const text = Cause.isCause(cause)
    ? Cause.pretty(cause, { renderErrorCause: true })
    : cause instanceof Error
      ? (cause.stack ?? cause.message)
      : String(cause)
  return ScreenLine.paragraph(text, undefined, 60).map((line) => [ScreenLine.span(line, "faint")])
}

const unexpected = (cause: unknown): Complaint.Complaint =>
  Complaint.unreadable(
    "Something happened that should not be able to.",
    "Run it again with --debug, and report what it prints.",
    { cause }
  )

const conclude = (
  { arguments: { verb }, debug, json, terminal }: Asked,
  exit: Exit.Exit<number, Complaint.Complaint>
): number => {
  if (Exit.isSuccess(exit)) return exit.value
  const { cause } = exit
  const complaint = Option.getOrUndefined(Cause.failureOption(cause))
  if (complaint === undefined && Cause.isInterrupted(cause)) return 130
  const said = complaint ?? unexpected(cause)
  Terminal.complain(terminal, json, said, verb)
  if (debug && said.cause !== undefined) terminal.progress(debugLines(said.cause))
  return said.exit
}

const stuck = Complaint.no("The program waits for something that never comes.", "Look for an effect that never ends.")

/** Runs a verb, says what went wrong with it, and succeeds with the exit code. An interrupt stays one. */
export const perform = (asked: Asked): Effect.Effect<number> => {
  const { options, verb } = asked.arguments
  if (verb === "help") return Effect.succeed(0)
  const dir = options.get("dir")
  const secrets = dir === undefined ? [] : Archive.secretsOf(dir)
  const hide = DatabaseUrl.hide(secrets)
  const program = Effect.gen(function* () {
    const archive = yield* Archive.open(dir)
    const { run } = yield* Effect.promise(() => code[verb]())
    return yield* run({ ...asked, archive })
  })
  return program.pipe(
    Effect.scoped,
    Effect.mapError((complaint) => (secrets.length === 0 ? complaint : DatabaseUrl.hidden(hide, complaint))),
    Effect.provide(logger(secrets.length === 0 ? asked.terminal : DatabaseUrl.hiding(hide, asked.terminal))),
    Effect.exit,
    Effect.map((exit) => conclude(asked, exit))
  )
}

/** Performs it as the process: an interrupt lets it settle what it has begun, a second one does not. */
export const start = (asked: Asked): void => {
  const { arguments: words, json, terminal } = asked
  const fiber = Effect.runFork(perform(asked))
  let interrupted = false
  const interrupt = (): void => {
    if (interrupted) {
      terminal.status(undefined)
      process.exit(130)
    }
    interrupted = true
    fiber.unsafeInterruptAsFork(fiber.id())
  }
  const drained = (): void => {
    Terminal.complain(terminal, json, stuck, words.verb)
    process.exitCode = stuck.exit
  }
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, interrupt)
  process.once("beforeExit", drained)
  fiber.addObserver((exit) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.removeListener(signal, interrupt)
    process.removeListener("beforeExit", drained)
    terminal.status(undefined)
    const ended = lasting.has(words.verb) && Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause) ? 0 : 130
    process.exitCode = interrupted || Exit.isFailure(exit) ? ended : exit.value
    // What a program left open keeps the process, unless it was told to stop.
    if (interrupted) process.exit()
  })
}
