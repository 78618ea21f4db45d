/**
 * `ArtifactsCommand` lists the artifacts that a run may see, gives one of them, and proves all that a directory keeps. Whose
 * artifacts they are is asked before anything is looked for.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import * as Artifact from "../kernel/Artifact.ts"
import * as ArtifactState from "../kernel/ArtifactState.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Run from "../kernel/Run.ts"
import * as AgentArtifacts from "../programs/AgentArtifacts.ts"
import * as ScreenLine from "../programs/ScreenLine.ts"
import * as ScreenShelf from "../programs/ScreenShelf.ts"
import * as ScreenSummary from "../programs/ScreenSummary.ts"
import type { Problem, Report } from "../services/ArtifactReport.ts"
import type { ArtifactStore } from "../services/ArtifactStore.ts"
import type { ArtifactStoreError } from "../services/ArtifactStoreError.ts"
import * as FileSystemArtifactStore from "../services/FileSystemArtifactStore.ts"
import * as Complaint from "./Complaint.ts"
import * as Reference from "./Reference.ts"
import type * as Session from "./Session.ts"

type Result<A> = Effect.Effect<A, Complaint.Complaint>

const ofStore = (error: ArtifactStoreError): Complaint.Complaint =>
  Complaint.ofProblem(error.reason === "DigestMismatch" ? 1 : 3, error, error)

const asked = <A>(effect: Effect.Effect<A, ArtifactStoreError, FileSystem.FileSystem>): Result<A> =>
  Effect.mapError(Effect.provide(effect, NodeFileSystem.layer), ofStore)

/** The directory of the artifacts. Looking at it does not make it. */
const existing = (session: Session.Session): Result<string> => {
  const directory = Reference.artifactsOf(session)
  if (directory === undefined) {
    return Effect.fail(
      Complaint.usage(
        "Artifacts of a directory alone are shown: those in a database are the program's to read.",
        "Name the directory of the artifacts with --store."
      )
    )
  }
  return fs.existsSync(directory)
    ? Effect.succeed(directory)
    : Effect.fail(
        Complaint.unreadable(
          `There is no directory ${Printable.quote(directory, 80)}.`,
          "Name the directory of the artifacts with --store, or that of the records with --dir."
        )
      )
}

const opened = (session: Session.Session): Result<typeof ArtifactStore.Service> =>
  Effect.flatMap(existing(session), (directory) => asked(FileSystemArtifactStore.make({ directory })))

/** Whose artifacts are asked for: those of a run, as its record says, or of a conversation that is named. */
interface Whose {
  readonly scope: Artifact.Scope
  /** The events that stored them, by ref, as far as a record tells. */
  readonly mintedAt: (ref: Artifact.Ref) => number | undefined
  /** What to write after the verb to ask for the same again. */
  readonly name: string
}

const unscoped = Complaint.usage(
  "Artifacts are shown to those alone who say whose they are.",
  "Name a run, or a conversation with --conversation ID, and --tenant and --principal if it has them."
)

const whoseOf = (session: Session.Session, word: string | undefined): Result<Whose> =>
  Effect.gen(function* () {
    const { options } = session.arguments
    const [conversationId, tenant, principal] = ["conversation", "tenant", "principal"].map((name) => options.get(name))
    if (word === undefined) {
      if (conversationId === undefined) return yield* Effect.fail(unscoped)
      const scope = {
        conversationId,
        ...(tenant === undefined ? {} : { tenant }),
        ...(principal === undefined ? {} : { principal })
      }
      const words = Object.entries({ conversation: conversationId, tenant, principal }).flatMap(([name, value]) =>
        value === undefined ? [] : [`--${name} ${ScreenSummary.shell(value)}`]
      )
      return { scope, mintedAt: () => undefined, name: words.join(" ") }
    }
    if ((conversationId ?? tenant ?? principal) !== undefined) {
      return yield* Effect.fail(
        Complaint.usage("A run says whose its artifacts are; nothing else can.", "Leave the run or the options out.")
      )
    }
    const found = yield* Reference.read(session, word)
    Reference.notice(session, found)
    const { started, artifacts = ArtifactState.initial } = Run.fold(found.reading.entries.map(({ event }) => event))
    return {
      scope: AgentArtifacts.scopeOf(found.reading.runId, started),
      mintedAt: (ref) => ArtifactState.get(artifacts, ref)?.minted?.seq,
      name: found.name
    }
  })

const row = (meta: Artifact.Meta, seq: number | undefined, room: ScreenLine.Room): ScreenLine.Line => {
  const head = [
    ScreenLine.span(meta.ref, "strong"),
    ScreenLine.span(`  ${ScreenSummary.when(meta.createdAt)}  `, "faint")
  ]
  const closing = seq === undefined ? "" : `#${seq}`
  const taken = ScreenLine.widthOf(head) + closing.length + 2
  const line = [...head, ScreenLine.span(ScreenLine.fitIn(ScreenShelf.ticketText(meta), room, taken))]
  return seq === undefined ? line : ScreenLine.ending(line, ScreenLine.span(closing, "faint"), room)
}

const listed = (session: Session.Session, word: string | undefined): Result<number> =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const { mintedAt, name, scope } = yield* whoseOf(session, word)
    const store = yield* opened(session)
    if (json) terminal.json({ format: "wherefore.artifacts/1", directory: Reference.artifactsOf(session) })
    let cursor: string | undefined
    let count = 0
    do {
      const page = yield* asked(store.list(scope, cursor === undefined ? {} : { cursor }))
      count += page.artifacts.length
      cursor = page.cursor
      for (const meta of page.artifacts) {
        const seq = mintedAt(meta.ref)
        if (json) terminal.json(seq === undefined ? meta : { ...meta, seq })
        else terminal.out([row(meta, seq, terminal.room)])
      }
    } while (cursor !== undefined)
    if (json) return 0
    terminal.progress([
      ScreenLine.plain(
        count === 0 ? "There are no artifacts of it here." : `Give one: wherefore artifacts get ${name} REF`
      )
    ])
    return 0
  })

const noText = (ref: string, bytes: number): Complaint.Complaint =>
  Complaint.usage(
    `${ref} is ${ScreenLine.counted(bytes, "byte")} that are no text.`,
    "Write them to a file: wherefore artifacts get … > FILE"
  )

const given = (session: Session.Session, word: string | undefined, ref: string): Result<number> =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const { scope } = yield* whoseOf(session, word)
    const store = yield* opened(session)
    const found = yield* asked(store.get(scope, ref))
    if (Option.isNone(found)) {
      const what = `There is no artifact ${Printable.quote(ref, 48)} for them.`
      return yield* Effect.fail(Complaint.unreadable(what, "See those that are there: wherefore artifacts list RUN"))
    }
    const { data, meta } = found.value
    if (json) {
      const shown = data instanceof Uint8Array ? { base64: Buffer.from(data).toString("base64") } : { data }
      terminal.json({ format: "wherefore.artifact/1", ...meta, ...shown })
      return 0
    }
    const text = typeof data === "string" ? data : data instanceof Uint8Array ? undefined : JSON.stringify(data)
    // What a tool or a model wrote may steer a terminal; a file or a program gets it as it is.
    if (terminal.room.width === undefined) terminal.raw(data instanceof Uint8Array ? data : (text ?? ""))
    else if (text === undefined) return yield* Effect.fail(noText(meta.ref, meta.bytes))
    else terminal.out(ScreenLine.paragraph(text, undefined, Infinity).map(ScreenLine.plain))
    return 0
  })

const leftovers = new Set<Problem["kind"]>(["staged", "no-ticket", "no-bytes"])

/** 1 if something is not what was put, 3 if there is only what a crash left, which can be removed. */
const exitOf = ({ problems }: Report): number => {
  const standing = problems.filter(({ removed }) => !removed)
  if (standing.length === 0) return 0
  return standing.every(({ kind }) => leftovers.has(kind)) ? 3 : 1
}

const problemLine = ({ kind, removed, what, where }: Problem): ScreenLine.Line => [
  ScreenLine.span(`  ${ScreenLine.pad(kind, 15)}`, "faint"),
  ScreenLine.span(
    ScreenLine.pad(removed ? "removed" : leftovers.has(kind) ? "left" : "BAD", 9),
    removed ? "good" : "bad"
  ),
  ScreenLine.span(`${what} ${where}`)
]

const proven = (session: Session.Session): Result<number> =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const repair = session.arguments.options.has("repair")
    const directory = yield* existing(session)
    const report = yield* asked(FileSystemArtifactStore.verify({ directory, repair }))
    const { artifacts, bytes, problems, scopes } = report
    const exit = exitOf(report)
    if (json) {
      terminal.json({ format: "wherefore.artifact-report/1", directory, scopes, artifacts, bytes, whole: exit === 0 })
      for (const problem of problems) terminal.json(problem)
      return exit
    }
    const size = `${ScreenLine.counted(artifacts, "artifact")} whole, ${ScreenLine.bytes(bytes)}, in ${ScreenLine.counted(scopes, "scope")}`
    const title = exit === 0 ? "whole" : exit === 1 ? "FAILS" : "WHOLE, WITH LEFTOVERS"
    terminal.out([
      [ScreenLine.span(size), ScreenLine.span(` · ${title}`, exit === 0 ? "good" : "bad")],
      ...problems.map(problemLine)
    ])
    if (exit === 3 && !repair)
      terminal.progress([ScreenLine.plain("Remove what is left: wherefore artifacts verify --repair")])
    return exit
  })

const misused = (what: string, next: string): Result<number> => Effect.fail(Complaint.usage(what, next))

export const run: Session.Command = (session) => {
  const [action = "", ...words] = session.arguments.positionals
  const [first, second] = words
  const { options } = session.arguments
  if (options.has("repair") && action !== "verify") return misused("Only verify repairs.", "Leave --repair out.")
  switch (action) {
    case "list":
      return words.length <= 1
        ? listed(session, first)
        : misused("list takes a run.", "Write: wherefore artifacts list RUN")
    case "get": {
      const ref = second ?? first
      if (ref !== undefined) return given(session, second === undefined ? undefined : first, ref)
      return misused("get needs an artifact.", "Write: wherefore artifacts get RUN REF")
    }
    case "verify":
      return words.length === 0
        ? proven(session)
        : misused("verify looks at all artifacts of a directory.", "Write: wherefore artifacts verify")
    default:
      return misused(
        `Artifacts have no ${Printable.quote(action, 48)}.`,
        "Write: wherefore artifacts list, get or verify."
      )
  }
}
