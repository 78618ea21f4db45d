/**
 * A `ScreenFindings` is a board of findings as lines: a section for each standing, for what follows from them by the
 * record, for what was dropped, and for what wires were served of it.
 *
 * @internal
 */
import * as Either from "effect/Either"
import type * as FindingEvent from "../kernel/FindingEvent.ts"
import type * as FindingRow from "../kernel/FindingRow.ts"
import * as Json from "../kernel/Json.ts"
import * as FindingsBoard from "./FindingsBoard.ts"
import * as ScreenFiled from "./ScreenFiled.ts"
import * as ScreenLine from "./ScreenLine.ts"
import * as ScreenTicker from "./ScreenTicker.ts"

type Lines = ReadonlyArray<ScreenLine.Line>

export interface Options {
  readonly room: ScreenLine.Room
  /** How the run is called. */
  readonly name: string
  /** Nothing is left out to save lines. */
  readonly full?: boolean
}

/** Of a section this many, and of a result this many assertions, unless nothing is left out. */
const mostRows = 12
const mostParts = 6

const valueText = (value: unknown): string => Either.getOrElse(Json.canonical(value), () => "null")

/** What a call did, as far as the record knows. */
const callText = ({ args = "", toolCallId, toolName }: FindingsBoard.Thing): string =>
  toolName === undefined
    ? ScreenFiled.named(toolCallId)
    : `${ScreenFiled.named(toolName)} ${ScreenTicker.argumentsText(args)}`.trimEnd()

const thingText = (thing: FindingsBoard.Thing): string =>
  [...(thing.handle === undefined ? [] : [thing.handle]), callText(thing)].join(" ")

const whereText = (on: FindingsBoard.Where): string => (on === "answer" ? "in the answer" : `on ${callText(on)}`)

/** `head` and `label` are ours, `text` is fitted to what they leave. */
const line = (
  head: ReadonlyArray<ScreenLine.Span>,
  text: string,
  seq: number | undefined,
  room: ScreenLine.Room,
  tail: ReadonlyArray<ScreenLine.Span> = []
): ScreenLine.Line => {
  const ref = seq === undefined ? undefined : ScreenLine.span(`#${seq}`, "faint")
  const taken = ScreenLine.widthOf([...head, ...tail]) + (ref === undefined ? 0 : ScreenLine.width(ref.text) + 2)
  const own = [...head, ScreenLine.span(ScreenLine.fitIn(text, room, taken, 12)), ...tail]
  return ref === undefined ? own : ScreenLine.ending(own, ref, room)
}

const margin = "      "

const detail = (label: string, text: string, seq: number | undefined, room: ScreenLine.Room): ScreenLine.Line =>
  line([ScreenLine.span(`${margin}${ScreenLine.pad(label, 12)}  `, "faint")], text, seq, room)

/** The handle, the call with its pass and its id, and the event that holds the result. */
const head = (
  thing: FindingsBoard.Thing,
  style: ScreenLine.Style | undefined,
  room: ScreenLine.Room
): ScreenLine.Line => {
  const handle = ScreenLine.span(`  ${ScreenLine.pad(thing.handle ?? "–", 4)}`, style)
  const pass = thing.pass === undefined ? [] : [ScreenLine.span(`, pass ${thing.pass}`)]
  const id = ScreenLine.span(`, id ${ScreenLine.brief(ScreenFiled.named(thing.toolCallId), 20, room)}`, "faint")
  return line([handle], callText(thing), thing.resultSeq, room, [
    ...pass,
    ...(thing.toolName === undefined ? [] : [id])
  ])
}

const rest = (more: number, what: string, indent: string): Lines =>
  more <= 0 ? [] : [[ScreenLine.span(`${indent}… ${ScreenLine.count(more)} more ${what} (--full)`, "faint")]]

const assertionText = ({ predicate, subject, value }: FindingRow.Assertion): string =>
  `${ScreenFiled.named(subject.kind)}/${ScreenFiled.named(subject.id)} · ${ScreenFiled.named(predicate)} = ${valueText(value)}`

const assertions = ({ assertions, unechoed = [] }: FindingRow.Standing, room: ScreenLine.Room): Lines => {
  const missing = new Set(unechoed.map(assertionText))
  const shown = room.full === true ? assertions : assertions.slice(0, mostParts)
  return [
    ...shown.map((one) => {
      const text = assertionText(one)
      const note = missing.has(text) ? [ScreenLine.span("  value not in that result", "warn")] : []
      return line([ScreenLine.span(margin)], text, undefined, room, note)
    }),
    ...rest(assertions.length - shown.length, "assertions", margin)
  ]
}

const basisLines = (basis: FindingsBoard.At<FindingRow.Basis> | undefined, room: ScreenLine.Room): Lines => {
  const { predicts, proposition } = basis?.it ?? {}
  return [
    ...(proposition === undefined ? [] : [detail("tested", proposition, basis?.seq, room)]),
    ...(predicts === undefined ? [] : [detail("predicted", predicts, basis?.seq, room)])
  ]
}

const beforeLines = (before: ReadonlyArray<FindingsBoard.At<FindingRow.Standing>>, room: ScreenLine.Room): Lines => {
  const shown = room.full === true ? before : before.slice(-mostParts)
  return [
    ...rest(before.length - shown.length, "standings before", margin),
    ...shown.map(({ it, seq }) =>
      detail("before", `${ScreenFiled.standingWords[it.standing]}, pass ${it.iteration}`, seq, room)
    )
  ]
}

const judged = (
  { basis, before, declared: { it, seq }, on, thing, ticket }: FindingsBoard.Judged,
  style: ScreenLine.Style | undefined,
  room: ScreenLine.Room
): Lines => {
  const said = (label: string, text: string | undefined) => (text === undefined ? [] : [detail(label, text, seq, room)])
  return [
    head(thing, style, room),
    ...(it.unknownId === true ? [detail("unknown id", "no such result was on that wire", undefined, room)] : []),
    ...assertions(it, room),
    detail("declared", `pass ${it.iteration}, ${whereText(on)}`, seq, room),
    ...said("because", it.line),
    ...said("to settle", it.settles),
    ...basisLines(basis, room),
    ...beforeLines(before, room),
    ...(ticket === undefined ? [] : [detail("served", `as a ticket from pass ${ticket.it}`, ticket.seq, room)])
  ]
}

const used = ({ carriers, on, row: { it, seq } }: FindingsBoard.Used, room: ScreenLine.Room): Lines => {
  const shown = room.full === true ? carriers : carriers.slice(0, mostParts)
  const place = [ScreenLine.span(`, pass ${it.iteration}`)]
  const where = on === "answer" ? "in the answer" : `in ${callText(on)}`
  return [
    line(
      [
        ScreenLine.span(`  ${ScreenLine.fitIn(ScreenFiled.named(it.value), room, 44)}`, "strong"),
        ScreenLine.span("  ")
      ],
      where,
      seq,
      room,
      place
    ),
    ...shown.map(({ standing, thing }) =>
      detail(`from ${ScreenFiled.standingWords[standing]}`, thingText(thing), thing.resultSeq, room)
    ),
    ...rest(carriers.length - shown.length, "results", margin)
  ]
}

const items = (label: string, of: ReadonlyArray<FindingRow.Item> = [], room: ScreenLine.Room): Lines => {
  const shown = room.full === true ? of : of.slice(0, mostParts)
  return [
    ...shown.map(({ what, why }) => detail(label, why === undefined ? what : `${what}: ${why}`, undefined, room)),
    ...rest(of.length - shown.length, `of what was ${label}`, margin)
  ]
}

const left = ({ row: { it, seq }, thing }: FindingsBoard.Left, room: ScreenLine.Room): Lines => [
  head(thing, "warn", room),
  detail("filed", `pass ${it.iteration}`, seq, room),
  ...items("not checked", it.notChecked, room),
  ...items("not covered", it.cannotCover, room),
  ...(it.tryInstead === undefined ? [] : [detail("try instead", it.tryInstead, undefined, room)])
]

const contest = ({ key, since, witnesses }: FindingsBoard.Contest, room: ScreenLine.Room): Lines => {
  const shown = room.full === true ? witnesses : witnesses.slice(0, mostParts)
  const pass = since === undefined ? [] : [ScreenLine.span(`, since pass ${since.it}`)]
  return [
    line([ScreenLine.span("  ")], ScreenFiled.keyText(key), since?.seq, room, pass),
    ...shown.map(({ thing, value }) =>
      line([ScreenLine.span(margin)], `${valueText(value)}  says ${thingText(thing)}`, thing.resultSeq, room)
    ),
    ...rest(witnesses.length - shown.length, "facts", margin)
  ]
}

const resolved = ({ it, seq }: FindingsBoard.At<FindingEvent.FindingConflicted>, room: ScreenLine.Room): Lines => [
  line([ScreenLine.span("  ")], ScreenFiled.keyText(it.key), seq, room, [
    ScreenLine.span(`, pass ${it.iteration}`, "faint")
  ])
]

const rejected = ({ event: { it, seq }, on }: FindingsBoard.Dropped, room: ScreenLine.Room): Lines => [
  line([ScreenLine.span("  ")], `${ScreenFiled.rejectionText(it)}, pass ${it.iteration}, ${whereText(on)}`, seq, room)
]

const tested = ({ basis, thing }: FindingsBoard.Tested, room: ScreenLine.Room): Lines => [
  head(thing, undefined, room),
  ...basisLines(basis, room)
]

const served = (
  { it, seq }: FindingsBoard.At<FindingEvent.Served>,
  room: ScreenLine.Room,
  handleOf: (id: string) => string
): Lines => {
  const from = [ScreenLine.span(`  from pass ${it.iteration}  `, "faint")]
  if (it._tag === "FindingsServed") {
    const { offer, piece } = it
    const blocks = [
      ...(piece === undefined ? [] : [`the piece, ${ScreenLine.counted(piece.chars, "character")}`]),
      ...(offer === undefined ? [] : [`the offer, ${ScreenLine.counted(offer.chars, "character")}`])
    ]
    return [line(from, blocks.length === 0 ? "nothing" : blocks.join(" · "), seq, room)]
  }
  const { charsSaved, ids, restored = [] } = it
  const parts = [
    ...(ids.length === 0 ? [] : [`tickets for ${ids.map(handleOf).join(", ")}`]),
    ...(restored.length === 0 ? [] : [`whole again ${restored.map(handleOf).join(", ")}`]),
    `${ScreenLine.counted(charsSaved, "character")} saved by tickets`
  ]
  return [line(from, parts.join(" · "), seq, room)]
}

/** How many of each there are, in words: what is seldom only if it is there. */
export const countsText = (counts: FindingEvent.Counts, dropped: number): string => {
  const seldom = [
    [counts.contingent, "contingent"],
    [counts.unsettled, "unsettled"],
    [counts.conflicts, "conflicts"],
    [dropped, "rejected"]
  ] as const
  return [
    `facts ${counts.facts}`,
    `open ${counts.open}`,
    `ruled out ${counts.ruledOut}`,
    `noise ${counts.noise}`,
    `undeclared ${counts.undeclared}`,
    ...seldom.flatMap(([n, what]) => (n === 0 ? [] : [`${what} ${ScreenLine.count(n)}`]))
  ].join(" · ")
}

const collapses = {
  off: "every result is sent whole",
  judged: "noise and what is ruled out is sent as tickets",
  "ledger-only": "all but open results are sent as tickets once judged"
} as const

/** `latest`: if some have to be left out, it is the first ones. */
const section = <A>(
  title: string,
  note: string,
  all: ReadonlyArray<A>,
  room: ScreenLine.Room,
  render: (one: A) => Lines,
  latest = false
): Lines => {
  if (all.length === 0) return []
  const shown = room.full === true ? all : latest ? all.slice(-mostRows) : all.slice(0, mostRows)
  const more = rest(all.length - shown.length, latest ? "before" : "rows", "  ")
  const titled = [
    ScreenLine.span(`${title} ${ScreenLine.count(all.length)}`, "strong"),
    ...(note === "" ? [] : [ScreenLine.span(`  ${note}`, "faint")])
  ]
  return [[], titled, ...(latest ? more : []), ...shown.flatMap(render), ...(latest ? [] : more)]
}

/** The board of a run. */
export const board = (board: FindingsBoard.Board, { full = false, name, room: given }: Options): Lines => {
  const room = full ? { ...given, full } : given
  const { config, conflicts, contingent, judged: by, overflow, undeclared, unsettled } = board
  const handles = new Map(
    [...Object.values(by).flat(), ...undeclared].map(({ thing }) => [thing.toolCallId, thing.handle] as const)
  )
  const handleOf = (id: string): string => handles.get(id) ?? ScreenFiled.named(id)
  const ask = config.ask === "none" ? "" : "; the answer is asked to quote the facts"
  const width = room.width
  const lines = [
    [ScreenLine.span(ScreenLine.brief(name, 60, room), "strong")],
    ...ScreenLine.paragraph(countsText(board.counts, FindingsBoard.dropped(board)), width, Infinity).map(
      ScreenLine.plain
    ),
    ...ScreenLine.paragraph(`${collapses[config.collapse]}${ask}`, width, Infinity).map((text) => [
      ScreenLine.span(text, "faint")
    ]),
    ...section("FACTS", "", by.fact, room, (one) => judged(one, "good", room)),
    ...section("OPEN", "", by.open, room, (one) => judged(one, "warn", room)),
    ...section("RULED OUT", "", by["ruled-out"], room, (one) => judged(one, "strong", room)),
    ...section("NOISE", "", by.noise, room, (one) => judged(one, "strong", room)),
    ...section("CONTINGENT", "used, with no fact for a source", contingent, room, (one) => used(one, room), true),
    ...(overflow === 0
      ? []
      : [[ScreenLine.span(`  ${ScreenLine.count(overflow)} more uses were too many to file`, "warn")]]),
    ...section("UNSETTLED", "ruled out, and served as an absence", unsettled, room, (one) => left(one, room)),
    ...section("CONFLICTS", "facts that differ; none is preferred", conflicts, room, (one) => contest(one, room)),
    ...section("CONFLICTS NO MORE", "the facts were named otherwise since", board.resolved, room, (one) =>
      resolved(one, room)
    ),
    ...section("REJECTED", "dropped; the calls went on as they were", board.rejected, room, (one) =>
      rejected(one, room)
    ),
    ...section("UNDECLARED", "results that nobody named", undeclared, room, (one) => tested(one, room)),
    ...section("TESTED", "by calls without a result", board.bases, room, (one) => tested(one, room)),
    ...section("SERVED", "what was new on a wire", board.served, room, (one) => served(one, room, handleOf), true)
  ]
  return full ? ScreenLine.wrap(lines, given) : lines
}
