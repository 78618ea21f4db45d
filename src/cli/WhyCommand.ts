/**
 * `WhyCommand` walks what was said back to what caused it.
 */
import * as Effect from "effect/Effect"
import type * as Event from "../kernel/Event.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Why from "../kernel/Why.ts"
import * as ScreenExcerpt from "../programs/ScreenExcerpt.ts"
import * as ScreenMaps from "../programs/ScreenMaps.ts"
import * as ScreenLine from "../programs/ScreenLine.ts"
import * as ScreenSummary from "../programs/ScreenSummary.ts"
import * as ScreenTrail from "../programs/ScreenTrail.ts"
import * as ScreenVerdict from "../programs/ScreenVerdict.ts"
import * as Complaint from "./Complaint.ts"
import * as Reference from "./Reference.ts"
import type * as Session from "./Session.ts"
import * as ShowCommand from "./ShowCommand.ts"

type Ask = (events: ReadonlyArray<Event.Event>) => Why.Chain

/** What is asked: one of the options, or a value as a second argument. */
const askOf = ({ arguments: { options, positionals } }: Session.Session): Effect.Effect<Ask, Complaint.Complaint> =>
  Effect.suspend((): Effect.Effect<Ask, Complaint.Complaint> => {
    const value = options.get("value") ?? positionals[1]
    const call = options.get("call")
    const pass = options.get("pass")
    const isCalls = call !== undefined && pass !== undefined
    const asked = [options.get("value"), positionals[1], call, isCalls ? undefined : pass]
    if (asked.filter((one) => one !== undefined).length > 1) {
      return Effect.fail(
        Complaint.usage("One thing can be asked at a time.", "Write one of --value TEXT, --call ID, --pass N.")
      )
    }
    if (pass !== undefined && !/^[1-9]\d{0,8}$/.test(pass)) {
      return Effect.fail(
        Complaint.usage(
          `--pass needs a number from 1, not ${Printable.quote(pass, 32)}.`,
          "Passes are counted in: wherefore show RUN"
        )
      )
    }
    const number = pass === undefined ? undefined : Number(pass)
    if (value !== undefined) return Effect.succeed((events) => Why.value(events, value))
    if (call !== undefined) return Effect.succeed((events) => Why.tool(events, call, number))
    return Effect.succeed(number === undefined ? Why.answer : (events) => Why.call(events, number))
  })

/** The reply that holds the values that were asked about, with each of them marked. */
const marked = (
  events: ReadonlyArray<Event.Event>,
  verdicts: ReadonlyArray<ScreenVerdict.Verdict>,
  room: ScreenLine.Room,
  most: number
): ReadonlyArray<ScreenLine.Line> => {
  const first = verdicts.find(({ node }) => node.place !== "arguments")?.node
  if (first === undefined) return []
  const reply = events[first.seq]
  if (reply?._tag !== "ModelReplied" && reply?._tag !== "Answered") return []
  const answer = events.find((event) => event._tag === "Answered" && event.iteration === reply.iteration)
  // What the answer was given with comes after the reply's own words.
  const { content } = answer?._tag === "Answered" ? answer : reply
  const isBeside = ({ place, seq }: Why.ValueNode): boolean =>
    place === "boundary" || (place === "reply" && seq === first.seq)
  let at = 0
  let text = ""
  const places = verdicts.flatMap(({ node }) => (isBeside(node) ? [node] : []))
  for (const { end, start } of places.toSorted((a, b) => a.start - b.start)) {
    if (start < at) continue
    text += `${content.slice(at, start)}«${content.slice(start, end)}»`
    at = end
  }
  const label = answer === undefined ? "reply" : "answer"
  return [
    ...ScreenSummary.told(label, text + content.slice(at), first.seq, most, room).map((line) =>
      line.flatMap((span) => (span.style === undefined ? highlighted(span.text) : [span]))
    ),
    []
  ]
}

const highlighted = (text: string): ReadonlyArray<ScreenLine.Span> =>
  text.split(/(«[^»]*»)/).map((part) => (part.startsWith("«") ? ScreenLine.span(part, "mark") : ScreenLine.span(part)))

const mostNext = 4

/** What to ask of the runs that the chain goes on in, as far as their records are here. */
const elsewhere = (
  session: Session.Session,
  chain: Why.Chain,
  here: ReadonlyArray<string>
): ReadonlyArray<ScreenLine.Line> => {
  const commands = chain.gaps.flatMap(({ next }) => {
    if (next === undefined || !here.includes(next.runId)) return []
    return ScreenSummary.command(Reference.named(session, next.runId), next.question) ?? []
  })
  const distinct = Array.from(new Set(commands))
  const more = distinct.length - mostNext
  const note = `… ${ScreenLine.counted(more, "more command")} (--full)`
  const full = session.arguments.options.has("full")
  return [
    ...ScreenSummary.nextOf(full ? distinct : distinct.slice(0, mostNext)),
    ...(full || more <= 0 ? [] : [[ScreenLine.span(note, "faint")]])
  ]
}

export const run: Session.Command = (session) =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const ask = yield* askOf(session)
    const found = yield* Reference.read(session, session.arguments.positionals[0] ?? "@")
    Reference.notice(session, found)
    const events = found.reading.entries.map(({ event }) => event)
    const chain = ask(events)
    const verdicts = ScreenVerdict.of(chain)
    const supported = ScreenVerdict.supported(chain)
    if (json) {
      terminal.json({ format: "wherefore.why/1", runId: found.reading.runId, question: chain.question })
      for (const node of chain.nodes) terminal.json({ node })
      for (const edge of chain.edges) terminal.json({ edge })
      for (const gap of chain.gaps) terminal.json({ gap })
      for (const verdict of verdicts) terminal.json({ value: ShowCommand.verdictJson(verdict) })
      terminal.json({ supported })
      return supported ? 0 : 1
    }
    const full = session.arguments.options.has("full")
    const options = { room: terminal.room, full }
    // A run that is read from elsewhere needs no archive.
    const here = chain.gaps.some(({ next }) => next !== undefined)
      ? yield* Effect.orElseSucceed(Reference.ids(session), () => [])
      : []
    const blocks = [
      ScreenTrail.tree(chain, options),
      ScreenMaps.lines(chain, options),
      ScreenExcerpt.sent(chain, options),
      ScreenTrail.gaps(chain, options),
      [ScreenTrail.conclusion(chain)],
      elsewhere(session, chain, here)
    ]
    terminal.out([
      ...marked(events, verdicts, terminal.room, full ? Infinity : 8),
      ...blocks.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : [[], ...lines]))
    ])
    return supported ? 0 : 1
  })
