/**
 * `HistoryAltered` says that a run is not the one of which a checkpoint was signed, however well its entries follow from
 * each other.
 *
 * @internal
 */
import * as Schema from "effect/Schema"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"

/**
 * The signed checkpoint: how many entries the run had, the hash of the last of them, and the name of the key.
 */
const Anchored = Schema.Struct({ entries: Schema.Int.pipe(Schema.positive()), hash: Schema.String, by: Schema.String })

/**
 * `seq` is the first entry that the checkpoint names and that is not there, or another: `tail` entries are gone from the
 * end, `rewritten` the entry is another one though its hash follows, `deleted` the run is gone, `fork` two checkpoints of
 * one key contradict each other. `lastProven` is the last entry that a signed checkpoint still covers, absent if none is.
 */
export class HistoryAltered extends Schema.TaggedError<HistoryAltered>()("HistoryAltered", {
  ...Problem.fields,
  kind: Schema.Literal("tail", "rewritten", "deleted", "fork"),
  runId: Schema.String,
  seq: Schema.NonNegativeInt,
  anchor: Anchored,
  lastProven: Schema.optionalWith(Schema.NonNegativeInt, { exact: true })
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

const said = {
  tail: { what: "has lost entries from its end", found: "fewer entries" },
  rewritten: { what: "was written anew", found: "another entry whose hash follows from those before it" },
  deleted: { what: "is gone", found: "no run" },
  fork: { what: "has two histories, both signed", found: "a second checkpoint that contradicts it" }
} as const

export const make = (
  kind: HistoryAltered["kind"],
  runId: string,
  seq: number,
  anchor: HistoryAltered["anchor"],
  proven: number
): HistoryAltered =>
  new HistoryAltered({
    code: "WF-REC-014",
    what: `Run ${Printable.quote(runId)} ${said[kind].what}.`,
    where: `entry ${seq}`,
    expected: `entries 0 to ${anchor.entries - 1} as ${Printable.quote(anchor.by)} has signed them`,
    found: said[kind].found,
    next:
      kind === "fork"
        ? "Trust neither of them. Ask those who hold the key."
        : proven === 0
          ? "Restore the run from a copy; nothing of it is proven."
          : `Restore the run from a copy; entries 0 to ${proven - 1} are still proven.`,
    outcome: "not-applied",
    retry: "never",
    kind,
    runId,
    seq,
    anchor,
    ...(proven === 0 ? {} : { lastProven: proven - 1 })
  })
