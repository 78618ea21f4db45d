/**
 * `ReplayCommand` goes through a recorded run again: each request is made anew from what the record holds, and compared with
 * what was sent. Nothing is called.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Replay from "../programs/Replay.ts"
import * as ScreenLine from "../programs/ScreenLine.ts"
import * as Reference from "./Reference.ts"
import type * as Session from "./Session.ts"

const same = ({ events, runId, status, wires }: Replay.Replayed): ReadonlyArray<ScreenLine.Line> => [
  [
    ScreenLine.span(ScreenLine.fit(runId, 48), "strong"),
    ScreenLine.span("  "),
    ScreenLine.span("the same", "good"),
    ScreenLine.span(`  ${ScreenLine.counted(events, "event")} · ${ScreenLine.counted(wires, "wire")} · ${status}`)
  ]
]

const other = (drift: Replay.Drift, { width }: ScreenLine.Room): ReadonlyArray<ScreenLine.Line> => {
  const rows: ReadonlyArray<readonly [string, string]> = [
    ["recorded", drift.recordedHash ?? ""],
    ["now", drift.projectedHash ?? ""],
    ["piece", drift.suspects.length === 1 ? (drift.suspects[0] ?? "") : ""]
  ]
  return [
    [
      ScreenLine.span(ScreenLine.fit(drift.runId, 48), "strong"),
      ScreenLine.span("  "),
      ScreenLine.span(`DIFFERS at pass ${drift.pass}`, "bad"),
      ScreenLine.span(`  #${drift.seq}`, "faint")
    ],
    ...ScreenLine.paragraph(drift.what, width, 6).map((text) => ScreenLine.plain(text)),
    ...rows.flatMap(([name, value]) =>
      value === "" ? [] : [[ScreenLine.span(`  ${ScreenLine.pad(name, 10)}`, "faint"), ScreenLine.span(value)]]
    ),
    ...ScreenLine.paragraph(drift.next, width, 4).map((text) => [ScreenLine.span(text, "faint")])
  ]
}

/** Says how a replay went, and gives the exit code: 1 if it differs. */
export const report = (
  { json, terminal }: Session.Session,
  runId: string,
  replayed: Either.Either<Replay.Replayed, Replay.Drift>
): number => {
  if (Either.isRight(replayed)) {
    if (json) terminal.json({ format: "wherefore.replay/1", same: true, ...replayed.right })
    else terminal.out(same(replayed.right))
    return 0
  }
  const { instead, kind, now, pass, projectedHash, recorded, recordedHash, seq, slot, suspects, what } = replayed.left
  if (json) {
    const hashes = { recordedHash, projectedHash }
    const pieces = { slot, index: replayed.left.index, recorded, now, suspects }
    terminal.json({
      format: "wherefore.replay/1",
      same: false,
      runId,
      kind,
      pass,
      seq,
      ...hashes,
      ...pieces,
      instead,
      what
    })
  } else terminal.out(other(replayed.left, terminal.room))
  return 1
}

export const run: Session.Command = (session) =>
  Effect.gen(function* () {
    const found = yield* Reference.read(session, session.arguments.positionals[0] ?? "@")
    Reference.notice(session, found)
    const { entries, runId } = found.reading
    const replayed = yield* Effect.either(
      Replay.events(
        runId,
        entries.map(({ event }) => event)
      )
    )
    return report(session, runId, replayed)
  })
