/**
 * A `RecordProof` is what the hash chain of a run proves about its entries, and where it stops proving.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type * as Event from "../kernel/Event.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"
import * as EventText from "./EventText.ts"
import * as RecordChain from "./RecordChain.ts"

const count = Schema.optionalWith(Schema.NonNegativeInt, { exact: true })

/**
 * The entries are not what was appended. `seq` is the first that is not good: `format` is a value that no record holds,
 * `seq` a gap, a repetition or another order, `run-id` an entry of another run, `hash` a changed entry, `tail` an entry
 * that the anchor names and that is gone or another. `firstGood` and `lastGood` are absent if none is good.
 */
export class Tampered extends Schema.TaggedError<Tampered>()("Tampered", {
  ...Problem.fields,
  runId: Schema.String,
  seq: Schema.NonNegativeInt,
  kind: Schema.Literal("format", "seq", "run-id", "hash", "tail"),
  firstGood: count,
  lastGood: count
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

/** Beyond an anchor that was kept outside the store, nobody can see that the last entries were removed. */
export const TailNotProvable = Schema.TaggedStruct("TailNotProvable", {
  code: Schema.String,
  what: Schema.String,
  next: Schema.String
})
export type TailNotProvable = typeof TailNotProvable.Type

/** What an append gave back: kept elsewhere, it proves later that the run still has all up to there. */
export interface Anchor {
  readonly seq: number
  readonly hash: string
}

/** The entries follow from each other. `hash` is the last one's, `notice` what they cannot prove by themselves. */
export interface Verified {
  readonly runId: string
  readonly entries: number
  readonly hash: string
  readonly notice?: TailNotProvable
}

const notice = (entries: number, anchor: Anchor | undefined): TailNotProvable => ({
  _tag: "TailNotProvable",
  code: "WF-REC-012",
  what:
    anchor === undefined
      ? `The ${entries} entries follow from each other; entries removed from the end would not show.`
      : `The entries after #${anchor.seq} follow from it; entries removed from behind them would not show.`,
  next: "Compare with a sequence number and hash that an append returned and that was kept elsewhere."
})

const tampered = (
  runId: string,
  seq: number,
  kind: Tampered["kind"],
  { expected, found }: { readonly expected: string; readonly found: string }
) =>
  new Tampered({
    code: "WF-REC-011",
    what: `Run ${Printable.quote(runId)} is not as it was recorded: entry ${seq} is the first that is not good.`,
    expected,
    found,
    next: seq === 0 ? "Restore it from a copy." : `Trust entries 0 to ${seq - 1} only, or restore the run from a copy.`,
    outcome: "not-applied",
    retry: "never",
    runId,
    seq,
    kind,
    ...(seq === 0 ? {} : { firstGood: 0, lastGood: seq - 1 })
  })

/** Whether entries are, in order and without a gap from the first, one run's as they were appended. */
export const verify = (
  entries: Iterable<Event.Entry>,
  options?: { readonly anchor?: Anchor }
): Effect.Effect<Verified, Tampered> =>
  Effect.suspend(() => {
    const anchor = options?.anchor
    let position: RecordChain.Position | undefined
    for (const { at, event, hash, runId, seq } of entries) {
      position ??= RecordChain.start(runId)
      const expected = position.seq
      const bad = (kind: Tampered["kind"], expected: string, found: string) =>
        tampered(position?.runId ?? runId, position?.seq ?? 0, kind, { expected, found })
      if (runId !== position.runId) return bad("run-id", "an entry of this run", "an entry of another run")
      if (seq !== expected) return bad("seq", `entry ${expected}`, `entry ${seq}`)
      const text = EventText.ofValue(event)
      if (Either.isLeft(text)) return bad("format", text.left.expected, text.left.found)
      if (hash !== RecordChain.link(position.hash, seq, at, text.right)) {
        return bad("hash", "a hash that follows from the entry before", "another hash")
      }
      if (seq === 0 && event._tag === "RunStarted" && event.runId !== runId) {
        return bad("run-id", "the start of this run", "the start of another run")
      }
      if (seq === anchor?.seq && hash !== anchor.hash)
        return bad("tail", "the entry that the anchor names", "another entry")
      position = { runId, seq: seq + 1, hash }
    }
    if (position === undefined) return tampered("", 0, "seq", { expected: "entry 0", found: "no entries" })
    if (anchor !== undefined && anchor.seq >= position.seq) {
      return tampered(position.runId, position.seq, "tail", {
        expected: `entries up to ${anchor.seq}, which the anchor names`,
        found: `entries up to ${position.seq - 1}`
      })
    }
    return Effect.succeed({
      runId: position.runId,
      entries: position.seq,
      hash: position.hash,
      ...(anchor?.seq === position.seq - 1 ? {} : { notice: notice(position.seq, anchor) })
    })
  })
