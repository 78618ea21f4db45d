/**
 * `VerifyCommand` proves that a record is as it was written, as far as a record can prove that by itself.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Event from "../kernel/Event.ts"
import * as Run from "../kernel/Run.ts"
import * as WindowState from "../kernel/WindowState.ts"
import * as ScreenLine from "../programs/ScreenLine.ts"
import * as Record from "../services/Record.ts"
import * as Complaint from "./Complaint.ts"
import * as Reference from "./Reference.ts"
import type * as Session from "./Session.ts"

/** One thing that was looked at. `seq` is the first event that is not good. */
interface Check {
  readonly name: "entries" | "chain" | "order" | "wires" | "tail" | "end" | "anchor"
  readonly ok: boolean
  readonly what: string
  readonly seq?: number
}

const anchorOf = ({
  arguments: { options }
}: Session.Session): Effect.Effect<Record.Anchor | undefined, Complaint.Complaint> => {
  const text = options.get("anchor")
  const [, seq, hash] = /^#?(\d{1,9}):([\w-]{16,128})$/.exec(text ?? "") ?? []
  if (text === undefined) return Effect.succeed(undefined)
  if (seq !== undefined && hash !== undefined) return Effect.succeed({ seq: Number(seq), hash })
  return Effect.fail(
    Complaint.usage(
      "--anchor needs an event's number and its hash.",
      "Write --anchor N:HASH, as verify prints them for the head."
    )
  )
}

const bad = (name: Check["name"], what: string, seq: number): Check => ({ name, ok: false, what, seq })

/** What the fold says of entries that follow from each other. */
const folded = (entries: ReadonlyArray<Event.Entry>): ReadonlyArray<Check> => {
  const state = Run.fold(entries.map(({ event }) => event))
  const [violation] = state.violations
  const more = state.violations.length > 1 ? ` (and ${state.violations.length - 1} more)` : ""
  const wires = WindowState.wires(state)
  const drifted = wires.find(({ projectedHash, recordedHash }) => projectedHash !== recordedHash)
  return [
    violation === undefined
      ? { name: "order", ok: true, what: "every event follows from those before it" }
      : bad("order", `#${violation.seq} breaks a law: ${violation.law}${more}`, violation.seq),
    drifted === undefined
      ? { name: "wires", ok: true, what: `${ScreenLine.counted(wires.length, "wire")}, each what its events say` }
      : bad(
          "wires",
          `#${drifted.seq} names another wire than its events make, in pass ${drifted.iteration}`,
          drifted.seq
        ),
    { name: "end", ok: true, what: state.ended === undefined ? "open: there is no terminal event" : state.ended.status }
  ]
}

const report = (checks: ReadonlyArray<Check>): ReadonlyArray<ScreenLine.Line> =>
  checks.map(({ name, ok, what }) => [
    ScreenLine.span(`  ${ScreenLine.pad(name, 8)}`, "faint"),
    ScreenLine.span(ScreenLine.pad(ok ? "ok" : "BAD", 5), ok ? "good" : "bad"),
    ScreenLine.span(what)
  ])

/** The record does not hold together: what is damaged, and what is good before it. */
const damaged = (error: Record.RecordError): ReadonlyArray<Check> => {
  const seq = error.seq ?? 0
  const before =
    seq === 0 ? "nothing before it is good" : `events before #${seq} are good, up to the append that it is in`
  return [
    bad("chain", `#${seq} is not as it was written: ${error.found ?? ""}`, seq),
    { name: "entries", ok: true, what: before }
  ]
}

/** What a proof came to. `exit` is 1 if the record was changed, and 3 if an append was not finished. */
export interface Verdict {
  readonly exit: 0 | 1 | 3
  readonly title: string
  readonly checks: ReadonlyArray<Check>
  readonly notices: ReadonlyArray<string>
}

const judge = (reading: Record.Reading, anchor: Record.Anchor | undefined): Effect.Effect<Verdict> =>
  Effect.map(
    Effect.either(Record.verify(reading.entries, anchor === undefined ? {} : { anchor })),
    (verified): Verdict => {
      const { bytesDropped, entries, hash } = reading
      const last = entries.length - 1
      const chain: Check = Either.isLeft(verified)
        ? bad(
            verified.left.kind === "tail" ? "anchor" : "chain",
            `${verified.left.what} Expected ${verified.left.expected}, found ${verified.left.found}.`,
            verified.left.seq
          )
        : { name: "chain", ok: true, what: `every hash follows; --anchor ${last}:${hash}` }
      const torn: ReadonlyArray<Check> =
        bytesDropped === 0
          ? []
          : [
              bad(
                "tail",
                `${ScreenLine.counted(bytesDropped, "byte")} of an event that was never finished follow #${last}`,
                last
              )
            ]
      const checks = [
        { name: "entries" as const, ok: true, what: ScreenLine.counted(entries.length, "event") },
        chain,
        ...folded(entries),
        ...torn
      ]
      const fails = checks.find(({ name, ok }) => !ok && name !== "tail")
      const notice = Either.isRight(verified) ? verified.right.notice : undefined
      return {
        exit: fails !== undefined ? 1 : torn.length > 0 ? 3 : 0,
        title: fails !== undefined ? `FAILS at #${fails.seq ?? 0}` : torn.length > 0 ? "READABLE, NOT WHOLE" : "whole",
        checks,
        notices:
          notice === undefined
            ? []
            : [notice.what, notice.next, "A chain proves order and integrity from its first hash on, not who wrote it."]
      }
    }
  )

/** A record that is whole, and not the one that its file is named for. */
const misplaced: Verdict = {
  exit: 1,
  title: "FAILS at #0",
  checks: [bad("chain", "#0 is the start of another run than its file is named for", 0)],
  notices: []
}

/** Whether a record is whole, and that of `runId` if its file is named for one. Fails if it is no record of a run. */
export const prove = (
  record: Reference.Located["record"],
  { anchor, runId }: { readonly anchor?: Record.Anchor | undefined; readonly runId?: string | undefined }
): Effect.Effect<Verdict, Record.RecordError> =>
  record.pipe(
    Effect.flatMap((reading) =>
      runId === undefined || reading.runId === runId ? judge(reading, anchor) : Effect.succeed(misplaced)
    ),
    Effect.catchIf(
      (error) => error.reason === "Corrupt" && error.runId !== undefined,
      (error): Effect.Effect<Verdict> =>
        Effect.succeed({ exit: 1, title: `FAILS at #${error.seq ?? 0}`, checks: damaged(error), notices: [] })
    )
  )

export const run: Session.Command = (session) =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const anchor = yield* anchorOf(session)
    const located = yield* Reference.locate(session, session.arguments.positionals[0] ?? "@")
    const verdict = yield* Effect.mapError(prove(located.record, { anchor, runId: located.runId }), (error) =>
      Reference.unread(located, error)
    )
    const { checks, exit, notices, title } = verdict
    if (json) {
      terminal.json({ format: "wherefore.verify/1", record: located.label, exit, title, ok: exit === 0 })
      for (const check of checks) terminal.json({ check })
      for (const notice of notices) terminal.json({ notice })
      return exit
    }
    terminal.out([
      [
        ScreenLine.span(ScreenLine.fit(located.label, 48), "strong"),
        ScreenLine.span("  "),
        ScreenLine.span(title, exit === 0 ? "good" : "bad")
      ],
      ...report(checks),
      ...notices.flatMap((notice) =>
        ScreenLine.paragraph(notice, terminal.room.width, 4).map((text) => [ScreenLine.span(text, "faint")])
      )
    ])
    return exit
  })
