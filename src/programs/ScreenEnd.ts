/**
 * A `ScreenEnd` is how a run stands that has no answer: what ended it, what it waits for, and which calls may have acted.
 *
 * @internal
 */
import type * as Outcome from "../kernel/Outcome.ts"
import type * as State from "../kernel/State.ts"
import * as Waiting from "../kernel/Waiting.ts"
import * as ScreenLine from "./ScreenLine.ts"

/** In one word. `open`: it goes on, or its process is gone, or it is to be resumed. */
export const statusOf = (state: State.State): string =>
  state.ended?.status ?? (Waiting.isWaiting(state) ? "waiting" : "open")

/** What it waits for, if it waits for something. */
export const toJson = (state: State.State): { readonly pending?: ReadonlyArray<Outcome.Pending> } => {
  const pending = Waiting.pending(state)
  return pending.length === 0 ? {} : { pending }
}

const margin = 9

const forWhat = (one: Outcome.Pending): string =>
  one.kind === "approval"
    ? `${one.toolCallId}: ${one.toolName} ${JSON.stringify(one.args) ?? ""} needs an approval.`
    : `${one.toolCallId}: ${one.reason.what} ${one.reason.next}`

const labelOf = (one: Outcome.Pending): string => (one.kind === "approval" ? "waits" : "lost")

/** The run whose call started this one, and those that its calls started. */
const kin = ({ children = [], started }: State.State, full: boolean): ReadonlyArray<readonly [string, string]> => {
  const parent = started?.parent
  const shown = full ? children : children.slice(0, 8)
  const more = children.length - shown.length
  return [
    ...(parent === undefined
      ? []
      : [["parent", `${parent.runId}, call ${parent.toolCallId} of pass ${parent.iteration}`] as const]),
    ...shown.map(
      ({ iteration, runId, spent }) =>
        [
          "child",
          `${runId}, of pass ${iteration}: ${spent === undefined ? "open" : ScreenLine.counted(spent.passes, "pass", "passes")}`
        ] as const
    ),
    ...(more === 0 ? [] : [["", `and ${ScreenLine.counted(more, "more child", "more children")}`] as const])
  ]
}

export const lines = (
  state: State.State,
  { full = false, room }: { readonly full?: boolean; readonly room: ScreenLine.Room }
): ReadonlyArray<ScreenLine.Line> => {
  const { answered, ended } = state
  const told = (label: string, text: string): ReadonlyArray<ScreenLine.Line> =>
    ScreenLine.paragraph(text, room.width === undefined ? undefined : room.width - margin, full ? Infinity : 3).map(
      (part, index) => [
        ScreenLine.span(index === 0 ? ScreenLine.pad(label, margin) : " ".repeat(margin), "warn"),
        ScreenLine.span(part)
      ]
    )
  const reason = ended?.reason
  const pending = Waiting.pending(state)
  const shown = full ? pending : pending.slice(0, 3)
  const more = pending.length - shown.length
  return [
    ...(reason === undefined || answered !== undefined
      ? []
      : told(ended?.status ?? "", `${reason.what} ${reason.next}`)),
    ...(statusOf(state) === "open" ? told("open", "The run has not ended: it goes on, or its process is gone.") : []),
    ...(answered?.stoppedEarly === undefined ? [] : told("early", answered.stoppedEarly.what)),
    ...kin(state, full).flatMap(([label, text]) => told(label, text)),
    ...shown.flatMap((one) => told(labelOf(one), forWhat(one))),
    ...(more === 0 ? [] : told("", `and ${ScreenLine.counted(more, "more call")}`))
  ]
}

/** What a person types next of a run that waits. `name` is how the run is written in a command. */
export const commands = (state: State.State, name: string): ReadonlyArray<string> =>
  Waiting.isWaiting(state) ? [`wherefore approvals ${name}`] : []
