/**
 * The `Checker` says which promises a story breaks. It knows the written format of records and of keys, and none of the code
 * that keeps the promises: it imports nothing of the package.
 */
import { createHash } from "node:crypto"
import type * as Story from "./Story.ts"

export interface Violation {
  /** The promise: I1 to I18, or the laws of the story itself. */
  readonly id: string
  readonly what: string
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url")

type Of<W extends Story.Happening["what"]> = Extract<Story.Line, { readonly what: W }>

const text = (value: unknown): string => (typeof value === "string" ? value : "")

/** RFC 8785, of what JSON can hold. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(",")}}`
}

const keyOf = (runId: string, { iteration, toolCallId }: Story.Told): string =>
  JSON.stringify([runId, iteration, toolCallId])

interface Call {
  readonly toolCallId: string
  readonly toolName: string
}

const callsOf = (reply: Story.Told): ReadonlyArray<Call> =>
  Array.isArray(reply.toolCalls)
    ? reply.toolCalls.map(({ toolCallId, toolName }) => ({ toolCallId: text(toolCallId), toolName: text(toolName) }))
    : []

export const check = (story: Story.Story): ReadonlyArray<Violation> => {
  const found: Array<Violation> = []
  const say = (id: string, what: string): void => void found.push({ id, what })
  const { limits, lines, records, tools } = story
  const all = <W extends Story.Happening["what"]>(what: W): ReadonlyArray<Of<W>> =>
    lines.filter((line): line is Of<W> => line.what === what)
  const appends = new Map(all("append").map((line) => [line.op, line]))
  /** When each entry was written, as a place in the lines. */
  const writtenAt = new Map<string, number>()
  for (const [place, line] of lines.entries()) {
    const append = line.what === "written" ? appends.get(line.op) : undefined
    if (append === undefined) continue
    for (const index of append.texts.keys()) writtenAt.set(`${append.runId} ${append.expectedSeq + index}`, place)
  }

  for (const [runId, entries] of Object.entries(records)) {
    let hash = sha256(`wherefore.record/1\n${runId}`)
    for (const [index, entry] of entries.entries()) {
      if (entry.seq !== index || entry.runId !== runId)
        say("I3", `${runId}#${index} is entry ${entry.runId}#${entry.seq}`)
      hash = sha256(`${hash}\n${entry.seq}\n${entry.at}\n${JSON.stringify(entry.event)}`)
      if (hash !== entry.hash) say("I2", `${runId}#${index} does not follow from the entries before it`)
      if (!writtenAt.has(`${runId} ${index}`)) say("I2", `${runId}#${index} was never written by anyone`)
    }
  }

  for (const { op, reason } of all("refused")) {
    if (reason === "InvalidInput") say("I14", `append ${op} held what no record can keep`)
  }

  const winners = new Map<string, number>()
  for (const { hash, op, seq } of all("acknowledged")) {
    const append = appends.get(op)
    if (append === undefined) continue
    if (records[append.runId]?.[seq]?.hash !== hash)
      say("I1", `${append.runId}#${seq} was acknowledged and is not there`)
  }
  for (const { op } of all("written")) {
    const append = appends.get(op)
    if (append === undefined) continue
    const { expectedSeq, runId, texts } = append
    const there = texts.filter(
      (one, index) => JSON.stringify(records[runId]?.[expectedSeq + index]?.event) === one
    ).length
    if (there !== texts.length) say("I4", `${there} of the ${texts.length} events of append ${op} are there`)
    const other = winners.get(`${runId} ${expectedSeq}`)
    if (other !== undefined) say("I5", `appends ${other} and ${op} were both written at ${runId}#${expectedSeq}`)
    winners.set(`${runId} ${expectedSeq}`, op)
  }
  for (const { entries, hash, runId } of all("read")) {
    if (entries > 0 && records[runId]?.[entries - 1]?.hash !== hash)
      say("I3", `a reader saw ${entries} entries of ${runId} that are others now`)
  }
  for (const { hashes, runId } of all("followed")) {
    const end = (records[runId] ?? []).map((entry) => entry.hash)
    if (hashes.length !== end.length || hashes.some((hash, index) => hash !== end[index])) {
      say("I6", `who followed ${runId} saw ${hashes.length} entries of ${end.length}, or others`)
    }
  }

  const crashed = new Set(all("crash").map(({ process }) => process))
  const entered = new Map<string, Array<Of<"entered">>>()
  for (const line of all("entered")) entered.set(line.key, [...(entered.get(line.key) ?? []), line])
  const effects = new Map<string, number>()
  for (const { key } of all("effect")) effects.set(key, (effects.get(key) ?? 0) + 1)

  for (const [runId, entries] of Object.entries(records)) {
    const events = entries.map(({ event }) => event)
    const at = (index: number): number => writtenAt.get(`${runId} ${index}`) ?? Infinity
    const ofCall = (tag: string, key: string): number =>
      events.findIndex((event) => event._tag === tag && keyOf(runId, event) === key)

    for (const [place, line] of lines.entries()) {
      if (line.what === "entered" && JSON.parse(line.key)[0] === runId) {
        const { key, tool } = line
        const called = ofCall("ToolCalled", key)
        if (called < 0 || at(called) > place) say("I8", `${tool} ${key} ran before its intent was on the record`)
        const intent = events[called]
        if (intent !== undefined && canonical(intent.args) !== canonical(JSON.parse(line.args)))
          say("I8", `${tool} ${key} ran with other arguments than its intent`)
        const reply = events.findIndex(
          (event) => event._tag === "ModelReplied" && event.iteration === intent?.iteration
        )
        const wrote = events[reply] === undefined ? [] : callsOf(events[reply])
        if (!wrote.some((call) => call.toolCallId === intent?.toolCallId && call.toolName === tool))
          say("I10", `no reply of the model asked for ${tool} ${key}`)
        if (!events.some((event) => event._tag === "ModelCalled" && event.iteration === intent?.iteration))
          say("I10", `no request was made for ${tool} ${key}`)
        const { approval } = tools[tool] ?? { approval: "deny" }
        if (approval === "deny") say("I16", `${tool} ${key} ran, and is never to run`)
        if (approval === "ask") {
          const decided = events.findIndex((event, index) => {
            if (
              event._tag !== "ApprovalDecided" ||
              event.verdict !== "approve" ||
              keyOf(runId, event) !== key ||
              at(index) > place
            )
              return false
            const asked = events.find((one) => one._tag === "ApprovalAsked" && one.ticket === event.ticket)
            return (
              asked !== undefined &&
              keyOf(runId, asked) === key &&
              asked.argsDigest === event.argsDigest &&
              asked.argsDigest === sha256(canonical(JSON.parse(line.args)))
            )
          })
          if (decided < 0) say("I16", `${tool} ${key} ran without an approval of it`)
        }
      }
      if (line.what === "asked" && line.runId === runId) {
        const called = events.findIndex((event) => event._tag === "ModelCalled" && event.iteration === line.iteration)
        if (called < 0 || at(called) > place)
          say("I8", `pass ${line.iteration} was asked before its intent was on the record`)
        let open: Array<string> = []
        for (const message of line.messages) {
          if ("calls" in message) {
            if (open.length > 0) say("I8", `pass ${line.iteration} was asked with calls that have no result`)
            open = [...message.calls]
            continue
          }
          open = open.filter((id) => id !== message.toolCallId)
          const isThere = Object.entries(records).some(([other, those]) =>
            those.some(
              ({ event }, index) =>
                event._tag === "ToolSettled" &&
                event.toolCallId === message.toolCallId &&
                event.served === message.content &&
                (writtenAt.get(`${other} ${index}`) ?? Infinity) < place
            )
          )
          if (!isThere)
            say(
              "I8",
              `pass ${line.iteration} was asked with a result of ${message.toolCallId} that was not on the record`
            )
        }
        if (open.length > 0) say("I8", `pass ${line.iteration} was asked with calls that have no result`)
      }
    }

    for (const event of events) {
      if (event._tag !== "ToolSettled") continue
      const key = keyOf(runId, event)
      const tool = tools[text(event.toolName)]
      const ran = entered.get(key) ?? []
      if (event.outcome === "ran-ok" && tool?.acts === true && (effects.get(key) ?? 0) === 0)
        say("I7", `${text(event.toolName)} ${key} is said to have run, and has not`)
      if (
        (event.outcome === "denied" || event.outcome === "refused" || event.outcome === "truncated") &&
        ran.length > 0
      )
        say("I7", `${text(event.toolName)} ${key} is said not to have run, and has`)
      const last = ran.at(-1)
      if (tool?.replay === "never" && event.outcome === "ran-ok" && last !== undefined && crashed.has(last.process)) {
        const by = all("append").find(({ texts }) => texts.includes(JSON.stringify(event)))
        if (by !== undefined && by.process !== last.process)
          say("I7", `${text(event.toolName)} ${key} was lost with its process, and is said to have run`)
      }
    }

    const ends = events.flatMap((event, index) => (event._tag === "RunEnded" ? [index] : []))
    if (ends.length > 1 || (ends.length === 1 && ends[0] !== events.length - 1))
      say("I17", `${runId} has ${ends.length} ends, or goes on after one`)
    const left = all("left").some((line) => line.runId === runId)
    if (ends.length === 0 && events.length > 0) {
      const open = events.some(
        (event) =>
          event._tag === "ApprovalAsked" &&
          !events.some((one) => one._tag === "ApprovalDecided" && one.ticket === event.ticket)
      )
      const lost = events.some(
        (event) =>
          event._tag === "ToolSettled" &&
          event.outcome === "unknown" &&
          !events.some((one) => one._tag === "CallResolved" && keyOf(runId, one) === keyOf(runId, event))
      )
      if (!left || !(open || lost)) say("I17", `${runId} neither ended nor waits for a person`)
    }

    const count = (tag: string): number => events.filter((event) => event._tag === tag).length
    if (count("ModelCalled") > limits.passes)
      say("I13", `${runId} made ${count("ModelCalled")} passes of ${limits.passes}`)
    if (limits.toolCalls !== undefined && count("ToolCalled") > limits.toolCalls)
      say("I13", `${runId} made ${count("ToolCalled")} calls of ${limits.toolCalls}`)
    let tokens = 0
    for (const event of events) {
      if (event._tag === "ModelCalled" && limits.tokens !== undefined && tokens >= limits.tokens)
        say(
          "I13",
          `${runId} was asked for pass ${String(event.iteration)} with ${tokens} tokens of ${limits.tokens} spent`
        )
      const usage =
        typeof event.usage === "object" && event.usage !== null && event._tag !== "RunEnded"
          ? Object.entries(event.usage)
          : []
      for (const [name, value] of usage) if (name !== "reasoningTokens" && typeof value === "number") tokens += value
    }
    const seen = new Set<string>()
    for (const event of events) {
      if (event._tag !== "ApprovalDecided") continue
      if (seen.has(text(event.ticket))) say("I16", `the ticket ${text(event.ticket)} was decided twice`)
      seen.add(text(event.ticket))
    }
  }

  for (const [key, runs] of entered) {
    const first = runs[0]
    if (first === undefined) continue
    const { replay } = tools[first.tool] ?? { replay: "never" }
    if (replay === "never" && runs.length > 1) say("I7", `${first.tool} ${key} was run ${runs.length} times`)
    if (runs.some(({ args, tool }) => args !== first.args || tool !== first.tool))
      say("I7", `${key} was used for different calls`)
  }
  for (const [key, times] of effects) {
    const tool = entered.get(key)?.[0]?.tool ?? ""
    const { replay } = tools[tool] ?? { replay: "never" }
    // Two processes at once need a lease, which is none of a run's own.
    if (times > 1 && !(replay === "reconcile" && story.overlaps)) say("I7", `${tool} ${key} took effect ${times} times`)
  }

  for (const { by, came, right, runId, ticket, verdict, what } of lines.flatMap((line) =>
    line.what === "decided" ? [line] : []
  )) {
    const there = (records[runId] ?? []).filter(({ event }) => event._tag === "ApprovalDecided" && event.by === by)
    if (came === "taken" && !right) say("I16", `${by} ${what} what was not to be decided, and was heard`)
    if (came === "taken" && !there.some(({ event }) => event.ticket === ticket && event.verdict === verdict))
      say("I1", `what ${by} decided is not on the record`)
    if (came !== "taken" && !came.startsWith("Record") && there.length > 0)
      say("I16", `what ${by} decided was refused (${came}), and is on the record`)
    if (came.startsWith("defect")) say("I14", `${by}: ${came}`)
  }
  for (const { by, came, right, runId } of all("resolved")) {
    const there = (records[runId] ?? []).filter(({ event }) => event._tag === "CallResolved" && event.by === by)
    if (came === "taken" && !right) say("I16", `${by} resolved what was not to be resolved, and was heard`)
    if (came === "taken" && there.length !== 1) say("I1", `what ${by} found is not on the record`)
    if (came.startsWith("defect")) say("I14", `${by}: ${came}`)
  }

  for (const { answer, came, planted, process, runId, tag } of all("exit")) {
    const end = (records[runId] ?? []).at(-1)?.event
    if (came === "defect" && planted !== true) say("I14", `${process} died of ${tag ?? "?"}`)
    if (came === "error" && (tag === "InvalidAgent" || tag === "ChecksBlind"))
      say("I14", `${process} failed with ${tag}`)
    if (came === "answered" && end?.status !== "answered")
      say("I17", `${process} had an answer that the record does not end with`)
    const told = (records[runId] ?? []).find(({ event }) => event._tag === "Answered")?.event.content
    if (came === "answered" && told !== answer) say("I17", `${process} had another answer than the record`)
    if (came === "stopped" && end?._tag !== "RunEnded") say("I17", `${process} stopped, and the run did not`)
  }
  for (const { why } of all("hang")) say("I14", why)
  for (const { runId } of all("stuck")) say("I18", `${runId} was taken up again and again, and came to no end`)
  for (const quiet of all("quiet")) {
    const last = Math.max(
      0,
      ...lines
        .filter(
          (line) =>
            "runId" in line &&
            line.runId === quiet.runId &&
            line.what !== "followed" &&
            line.what !== "verified" &&
            line.what !== "explained"
        )
        .map(({ at }) => at)
    )
    if (last - quiet.at > 3_600_000) say("I18", `${quiet.runId} took ${last - quiet.at} ms after the last fault`)
  }
  for (const { came, runId } of all("verified")) {
    if (came !== "whole" && (records[runId] ?? []).length > 0)
      say("I2", `the package finds ${runId} not whole: ${came}`)
  }
  for (const { gaps, roots, runId, toolCallId } of all("explained")) {
    if (roots === 0 || gaps.includes("drift") || gaps.includes("not-found"))
      say("I10", `nothing explains ${toolCallId} of ${runId}: ${gaps.join(", ")}`)
  }
  return found
}
