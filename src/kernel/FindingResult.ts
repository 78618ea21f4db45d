/**
 * A `FindingResult` is a result of the run as declarations and uses are compared with it. It is read when it is first
 * asked.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Coverage from "./Coverage.ts"
import * as FindingFiling from "./FindingFiling.ts"
import type * as FindingRow from "./FindingRow.ts"
import * as Json from "./Json.ts"
import type * as Message from "./Message.ts"
import type * as Wire from "./Wire.ts"

const limitsOf = (message: Message.Tool): FindingRow.Limits | undefined => {
  if (message.outcome !== "absent") return undefined
  const payload = Json.parse(message.content, FindingFiling.limits)
  const read = Coverage.read(Either.getOrUndefined(payload))
  const absence = read.declared.find(({ kind }) => kind === "absence")
  if (absence === undefined) return {}
  const { cannotCover, notChecked, tryInstead } = absence
  return {
    ...(notChecked.length === 0 ? {} : { notChecked }),
    ...(cannotCover.length === 0 ? {} : { cannotCover }),
    ...(tryInstead === undefined ? {} : { tryInstead })
  }
}

const none: ReadonlySet<string> = new Set()

/** A result, from its settlement. What is said in its place, as by a ticket, is ours: it holds no values of the tool's. */
export const make = (
  message: Message.Tool,
  { origin, placed }: Pick<Wire.MessagePiece, "origin" | "placed">
): FindingFiling.Result => {
  const isOurs = origin === "runtime"
  let values: ReadonlySet<string> | undefined = isOurs ? none : undefined
  const absence = isOurs ? undefined : limitsOf(message)
  return {
    toolCallId: message.toolCallId,
    toolName: message.toolName,
    ...(placed === undefined ? {} : { ref: placed.ref }),
    get values() {
      return (values ??= FindingFiling.valuesOf(message.content))
    },
    ...(absence === undefined ? {} : { absence })
  }
}
