/**
 * A `ScreenApprovals` is what a person reads before they say yes or no to a call: all of its arguments, nothing cut, and
 * everything in them that the eye would miss written as an escape.
 *
 * @internal
 */
import * as Either from "effect/Either"
import type * as Outcome from "../kernel/Outcome.ts"
import * as Json from "../kernel/Json.ts"
import * as Printable from "../kernel/Printable.ts"
import * as ScreenLine from "./ScreenLine.ts"
import * as ScreenSummary from "./ScreenSummary.ts"

const indent = "    "

/** Ends a line that goes on in the next one, so that spaces at its end are seen. */
const onward = "⏎"

/** A line in pieces that fit, cut anywhere and none left out. */
const cut = (text: string, { width }: ScreenLine.Room): ReadonlyArray<ScreenLine.Line> => {
  const max = width === undefined ? Infinity : width - indent.length - 1
  if (ScreenLine.width(text) <= max) return [[ScreenLine.span(indent + text)]]
  const { chars, text: head } = ScreenLine.first(text, max)
  if (chars === 0) return [[ScreenLine.span(indent + text)]]
  const lines: Array<ScreenLine.Line> = []
  let rest = text
  let part = { chars, text: head }
  while (part.chars > 0 && part.chars < rest.length) {
    lines.push([ScreenLine.span(indent + part.text), ScreenLine.span(onward, "faint")])
    rest = rest.slice(part.chars)
    part = ScreenLine.first(rest, max)
  }
  return [...lines, [ScreenLine.span(indent + rest)]]
}

/** The arguments as JSON of several lines, keys sorted, in printable characters only. */
const argumentLines = (args: unknown, room: ScreenLine.Room) => {
  const canonical = Either.getOrElse(Json.canonical(args), () => "")
  const text = JSON.stringify(canonical === "" ? null : JSON.parse(canonical), null, 2)
  return { chars: canonical.length, lines: text.split("\n").flatMap((line) => cut(Printable.exact(line), room)) }
}

const labelled = (label: string, text: string, room: ScreenLine.Room): ReadonlyArray<ScreenLine.Line> =>
  ScreenLine.paragraph(Printable.exact(text), room.width === undefined ? undefined : room.width - 13, Infinity).map(
    (part, index) => [
      ScreenLine.span(`  ${ScreenLine.pad(index === 0 ? label : "", 9)}  `, "faint"),
      ScreenLine.span(part)
    ]
  )

const command = (words: string): ScreenLine.Line => [ScreenLine.span("  next       ", "faint"), ScreenLine.span(words)]

/** How a call is named in a command to type, if its id can be. */
const callWord = (toolCallId: string): string =>
  Printable.exact(toolCallId) === toolCallId && !toolCallId.startsWith("-") ? ScreenSummary.shell(toolCallId) : "CALL"

/** So much of a ticket names it. */
export const shortTicket = (ticket: string): string => ticket.slice(0, 16)

/** The call that was decided, with all of its arguments. */
export const what = (one: Outcome.Pending, room: ScreenLine.Room): ReadonlyArray<ScreenLine.Line> => [
  [ScreenLine.span(Printable.exact(one.toolName), "strong")],
  ...labelled("call", `${one.toolCallId}, pass ${one.iteration}`, room),
  ...(one.kind === "approval" ? argumentLines(one.args, room).lines : [])
]

/** One thing that a run waits for. `name` is how the run is written in a command. */
export const lines = (one: Outcome.Pending, name: string, room: ScreenLine.Room): ReadonlyArray<ScreenLine.Line> => {
  const head: ScreenLine.Line = [
    ScreenLine.span(Printable.exact(one.toolName), "strong"),
    ScreenLine.span(`  ${one.kind === "approval" ? "needs an approval" : "may have acted"}`, "warn")
  ]
  const call = labelled("call", `${one.toolCallId}, pass ${one.iteration}`, room)
  if (one.kind === "unknown") {
    const word = callWord(one.toolCallId)
    return [
      head,
      ...call,
      ...labelled("lost", `${one.reason.what} ${one.reason.where ?? ""}`.trim(), room),
      command(`wherefore resolve ${name} ${word} applied --because "…"`),
      command(`wherefore resolve ${name} ${word} not-applied --because "…"`)
    ]
  }
  const { chars, lines } = argumentLines(one.args, room)
  const { rule } = one
  const named = rule?.name === undefined ? "" : ` (${rule.name})`
  const ticket = shortTicket(one.ticket)
  return [
    head,
    ...call,
    ...labelled("asked by", rule === undefined ? "the tool itself" : `rule ${rule.index}${named} of the agent`, room),
    ...labelled("ticket", one.ticket, room),
    ...labelled("digest", one.argsDigest, room),
    ...labelled("arguments", ScreenLine.counted(chars, "character"), room),
    ...lines,
    command(`wherefore approve ${name} ${ticket}`),
    command(`wherefore deny ${name} ${ticket} --note "…"`)
  ]
}
