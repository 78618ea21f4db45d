/**
 * A `LeaseNotation` is a pass and a record of the lease in the short form of its case tables:
 * `node/clause "witness" [tools called] pk{accepted picks} pd=pending served{members}`.
 */
import * as Engagement from "../../src/kernel/Engagement.ts"

const words = (text: string | undefined): ReadonlyArray<string> =>
  text === undefined ? [] : text.split(" ").filter(Boolean)

export const M: Engagement.MountedMap = { id: "M", memberIds: ["a", "b"], toolNames: ["t1", "t2"] }

export const plan = (grace = 3, map: Partial<Engagement.MountedMap> = {}): Engagement.EngagementPlan => ({
  maps: [{ ...M, ...map }],
  renewalGrace: grace
})

/** Of what is not written, `served` is the members given; all else is absent or empty. */
export const pass = (
  iteration: number,
  text: string,
  served: ReadonlyArray<string> = []
): Engagement.EngagementPass => {
  const [, node, clause] = /^([^\s/[{]+)?(?:\/(\S+))?/.exec(text) ?? []
  const witness = /"([^"]*)"/.exec(text)?.[1]
  const pending = /pd=(\S+)/.exec(text)?.[1]
  const isServed = /served\{([^}]*)\}/.exec(text)?.[1]
  return {
    iteration,
    ...(node === undefined || node === "-" ? {} : { currentNode: node }),
    ...(clause === undefined ? {} : { moveBy: clause }),
    ...(witness === undefined ? {} : { witness }),
    toolResults: words(/\[([^\]]*)\]/.exec(text)?.[1]).map((toolName) => ({ toolName })),
    ...(pending === undefined ? {} : { pendingSkillPick: pending }),
    acceptedSkillPicks: words(/pk\{([^}]*)\}/.exec(text)?.[1]),
    servedLastPass: isServed === undefined ? served : words(isServed)
  }
}

export const record = (of: Partial<Engagement.MapEngagementRecord> = {}): Engagement.MapEngagementRecord => ({
  mapId: "M",
  standing: "engaged",
  by: "lexical",
  since: 1,
  foundedBy: "lexical",
  foundedAt: 1,
  foundedOn: "a",
  at: "a",
  atBy: "lexical",
  atSince: 1,
  idle: 0,
  witness: "w",
  ...of
})

export const parked = record({ standing: "parked", since: 4, idle: 3 })

const showRecord = (record: Engagement.MapEngagementRecord): string => {
  const at = record.at === undefined ? "nowhere" : `at ${record.at} ${record.atBy}@${record.atSince}`
  const on = record.foundedOn === undefined ? "" : ` on ${record.foundedOn}`
  const witness = record.witness === undefined ? "" : ` "${record.witness}"`
  const founded = `founded ${record.foundedBy}@${record.foundedAt}${on}`
  return `${record.mapId} ${record.standing} ${record.by} since ${record.since} idle ${record.idle}, ${at}, ${founded}${witness}`
}

const showChange = ({ iteration: _, kind, mapId, ...rest }: Engagement.EngagementChange): string =>
  `${kind} ${mapId} ${Object.entries(rest)
    .map(([key, value]) => (value === true ? key : key === "witness" ? `"${value}"` : `${key}=${value}`))
    .join(" ")}`

/** What follows from a pass, a line each: the changes, the records, and what is off the wire. */
const show = ({ changes, next, parkedInjectionIds, parkedToolNames }: Engagement.EngagementAdvance): string =>
  [
    ...changes.map((change) => `> ! ${showChange(change)}`),
    ...(next.length === 0 ? ["> no record"] : next.map((record) => `> ${showRecord(record)}`)),
    ...(parkedInjectionIds.length + parkedToolNames.length === 0
      ? []
      : [`> off the wire: ${parkedInjectionIds.join(" ")} | ${parkedToolNames.join(" ")}`])
  ].join("\n")

/** Keeps a transcript's comments and what goes in, and writes what follows afresh. */
export const replay = (transcript: string): string => {
  let plan: Engagement.EngagementPlan = { maps: [], renewalGrace: Engagement.defaultGrace }
  let state: Engagement.MapEngagement | undefined
  let iteration = 0
  return `${transcript
    .trimEnd()
    .split("\n")
    .filter((line) => !line.startsWith(">"))
    .flatMap((line) => {
      if (line.startsWith("plan ")) plan = { ...plan, maps: [...plan.maps, JSON.parse(line.slice(5))] }
      if (line === "new run") {
        state = undefined
        iteration = 0
      }
      if (!line.startsWith("< ")) return [line]
      const served = plan.maps
        .filter(({ id }) => state?.find(({ mapId }) => mapId === id)?.standing === "engaged")
        .flatMap(({ memberIds }) => memberIds)
      const released = /^release (\S+)$/.exec(line.slice(2))?.[1]
      if (released === undefined) iteration += 1
      const advance =
        released === undefined
          ? Engagement.advance(plan, state, pass(iteration, line.slice(2), served))
          : Engagement.release(plan, state, released, iteration)
      state = advance.next
      return [line, show(advance)]
    })
    .join("\n")}\n`
}
