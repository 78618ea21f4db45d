/**
 * `AnchorCommand` signs how far the runs here have come, for a place that is not here, and later compares them with that.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as fs from "node:fs"
import * as Printable from "../kernel/Printable.ts"
import * as ScreenLine from "../programs/ScreenLine.ts"
import * as Checkpoint from "../services/Checkpoint.ts"
import type * as RecordProof from "../services/RecordProof.ts"
import * as Signer from "../services/Signer.ts"
import * as Complaint from "./Complaint.ts"
import * as Reference from "./Reference.ts"
import type * as Session from "./Session.ts"

type Command<A> = Effect.Effect<A, Complaint.Complaint>

const wanted = (session: Session.Session, name: string, next: string): Command<string> => {
  const text = session.arguments.options.get(name)
  return text === undefined
    ? Effect.fail(Complaint.usage(`"anchor ${session.arguments.positionals[0]}" needs --${name}.`, next))
    : Effect.succeed(text)
}

const ofKey = (error: Checkpoint.CheckpointError): Complaint.Complaint =>
  Complaint.ofProblem(error.reason === "InvalidKey" ? 2 : 3, error, error)

/** Writes a file that only its owner may read, and that was not there. */
const writeNew = (file: string, text: string): Command<void> =>
  Effect.try({
    try: () => fs.writeFileSync(file, text, { flag: "wx", mode: 0o600 }),
    catch: (cause) =>
      Complaint.unreadable(
        `${Reference.quote(file)} could not be written${fs.existsSync(file) ? ": it is there already" : ""}.`,
        "Name a file that is not there, in a directory that is. A key is never written over.",
        { cause }
      )
  })

/** A new key, in a file. What is shown is its public half. */
const keygen = (session: Session.Session, name: string | undefined): Command<number> =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const example = "Write: wherefore anchor keygen example.org/agents --key anchor.key"
    if (name === undefined) return yield* Effect.fail(Complaint.usage("A key needs a name.", example))
    const file = yield* wanted(session, "key", example)
    const { key, verifier } = yield* Effect.mapError(Signer.generate(name), ofKey)
    yield* writeNew(file, `${Redacted.value(key)}\n`)
    if (json) terminal.json({ format: "wherefore.key/1", file, trust: verifier })
    else {
      terminal.out([ScreenLine.plain(verifier)])
      terminal.progress([
        ScreenLine.plain(
          `The key is in ${Reference.quote(file)}: who has it can sign. The line above is what to trust.`
        )
      ])
    }
    return 0
  })

const tampered = (runId: string, error: RecordProof.Tampered): Complaint.Complaint => ({
  ...Complaint.ofProblem(1, error, error),
  next: `Nothing was signed. See what is wrong with it: wherefore verify ${runId}`
})

/** The runs that a word names, or all that are here. */
const idsOf = (session: Session.Session, word: string | undefined): Command<ReadonlyArray<string>> =>
  word !== undefined
    ? Effect.map(Reference.read(session, word), ({ reading }) => [reading.runId])
    : Effect.flatMap(Reference.ids(session), (ids) =>
        ids.length > 0
          ? Effect.succeed(ids.toSorted())
          : Effect.fail(
              Complaint.unreadable(
                `There are no runs in ${Printable.quote(session.archive.shown, 80)}.`,
                "Make one: wherefore run FILE.ts"
              )
            )
      )

const sign = (session: Session.Session, word: string | undefined): Command<number> =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const file = yield* wanted(session, "key", "Make one: wherefore anchor keygen example.org/agents --key anchor.key")
    const key = Redacted.make(new TextDecoder().decode(yield* Reference.readFile(file)).trim())
    const ids = yield* idsOf(session, word)
    const checkpoints = yield* Effect.forEach(ids, (runId) =>
      Effect.flatMap(Reference.read(session, runId), ({ reading }) =>
        Effect.mapError(Checkpoint.make(reading.entries), (error) => tampered(runId, error))
      )
    )
    const text = yield* Checkpoint.signAll(checkpoints).pipe(Effect.provide(Signer.layer(key)), Effect.mapError(ofKey))
    if (json) {
      terminal.json({ format: "wherefore.anchor/1", runs: checkpoints.length })
      for (const checkpoint of checkpoints) terminal.json(checkpoint)
      terminal.json({ anchor: text })
      return 0
    }
    terminal.raw(text)
    terminal.progress([
      ScreenLine.plain(`${ScreenLine.counted(checkpoints.length, "run")} signed. Keep this where the records are not.`)
    ])
    return 0
  })

interface Standing {
  readonly runId: string
  readonly exit: 0 | 1 | 3
  readonly what: string
  readonly proven?: number
}

/** What the anchor says of one run that is here. */
const standingOf = (session: Session.Session, anchor: Checkpoint.Anchor, runId: string): Effect.Effect<Standing> =>
  Reference.read(session, runId).pipe(
    Effect.mapError(({ what }): Standing => ({ runId, exit: 3, what })),
    Effect.flatMap(({ reading }) =>
      Effect.mapError(Checkpoint.verify(reading.entries, anchor), ({ what, where }): Standing => ({
        runId,
        exit: 1,
        what: where === undefined ? what : `${what} At ${where}.`
      }))
    ),
    Effect.map(({ entries, notice, proven }): Standing => {
      const more = entries - proven
      const said = `${ScreenLine.counted(proven, "event")} as signed${more === 0 ? "" : `, ${more} since`}`
      return { runId, exit: 0, proven, what: proven === 0 ? notice.what : `${said}. ${notice.what}` }
    }),
    Effect.merge
  )

const row =
  (cells: number) =>
  ({ exit, runId, what }: Standing): ScreenLine.Line => [
    ScreenLine.span(`${ScreenLine.pad(runId, cells)}  `, "strong"),
    ScreenLine.span(exit === 0 ? "ok   " : "BAD  ", exit === 0 ? "good" : "bad"),
    ScreenLine.span(what)
  ]

const check = (session: Session.Session, file: string | undefined): Command<number> =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const example = "Write: wherefore anchor check FILE --trust example.org/agents+1a2b3c4d+…"
    if (file === undefined) return yield* Effect.fail(Complaint.usage("An anchor is needed to check by.", example))
    const trust = yield* wanted(session, "trust", example)
    const bytes = yield* file === "-" ? Reference.readInput : Reference.readFile(file)
    const anchor = yield* Effect.mapError(Checkpoint.open(bytes, trust), ofKey)
    const ids = (yield* Reference.ids(session)).toSorted()
    const here = yield* Effect.forEach(ids, (runId) => standingOf(session, anchor, runId))
    const gone = Checkpoint.missing(anchor, ids).map(({ runId, what }): Standing => ({ runId, exit: 1, what }))
    const all = [...here, ...gone]
    const exit = all.some((one) => one.exit === 1) ? 1 : all.some((one) => one.exit === 3) ? 3 : 0
    if (json) {
      terminal.json({ format: "wherefore.anchored/1", by: anchor.by, whole: anchor.whole, exit, ok: exit === 0 })
      for (const standing of all) terminal.json(standing)
      return exit
    }
    const cells = all.reduce((widest, { runId }) => Math.max(widest, ScreenLine.width(runId)), 0)
    terminal.out(all.map(row(cells)))
    if (!anchor.whole) {
      terminal.progress([
        ScreenLine.plain("The anchor is one checkpoint, and no list: a run that is gone would not show.")
      ])
    }
    return exit
  })

const actions: { readonly [name: string]: (session: Session.Session, word: string | undefined) => Command<number> } = {
  keygen,
  sign,
  check
}

export const run: Session.Command = (session) => {
  const [action = "", word] = session.arguments.positionals
  return Either.match(
    Either.fromNullable(Object.hasOwn(actions, action) ? actions[action] : undefined, () =>
      Complaint.usage(`"anchor" cannot ${Reference.quote(action)}.`, "Write keygen, sign or check.")
    ),
    { onLeft: Effect.fail, onRight: (perform) => perform(session, word) }
  )
}
