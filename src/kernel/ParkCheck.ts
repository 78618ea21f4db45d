/**
 * A `ParkCheck` looks, at the compose seam, for tools that are still listed though all who own them are parked.
 *
 * @since 0.1.0
 */
import type * as CallOutcome from "./CallOutcome.ts"
import * as Check from "./Check.ts"
import type * as Fault from "./Fault.ts"
import * as SafeId from "./SafeId.ts"

/** `owned` is who contributes which tool, `listed` the names of the tools as they were merged for the pass. */
export interface Input {
  readonly parkedMapIds: ReadonlyArray<string>
  readonly owned: ReadonlyArray<{ readonly name: string; readonly owners: ReadonlyArray<CallOutcome.Owner> }>
  readonly listed: ReadonlyArray<string>
}

export const check = { check: "invariant-violation", seam: "compose" } as const satisfies Check.Check

const fault = (name: string, mapIds: ReadonlyArray<string>): Fault.Fault => ({
  kind: check.check,
  seam: check.seam,
  subjects: [{ kind: "tool", id: name }],
  witnesses: mapIds,
  predicate: "listed-while-parked",
  message: `The tool ${SafeId.print(name)} was listed while all that own it were parked: ${SafeId.list(mapIds)}.`
})

/** A tool without an owner is the agent's own, and an owner without a map cannot be parked. */
export const judge = ({ listed, owned, parkedMapIds }: Input): Check.Verdict => {
  const parked = new Set(parkedMapIds)
  const owners = new Map<string, ReadonlyArray<CallOutcome.Owner>>()
  for (const one of owned) owners.set(one.name, [...(owners.get(one.name) ?? []), ...one.owners])
  const withheld = Array.from(owners).filter(
    ([, all]) => all.length > 0 && all.every(({ mapId }) => mapId !== undefined && parked.has(mapId))
  )
  if (withheld.length === 0) return Check.verdict(check, "not-applicable")
  const names = new Set(listed)
  return Check.looked(
    check,
    withheld.flatMap(([name, all]) =>
      names.has(name) ? [fault(name, Array.from(new Set(all.flatMap(({ mapId = "" }) => [mapId]))))] : []
    )
  )
}

export const canary: Input = {
  parkedMapIds: ["canary"],
  owned: [{ name: "canary", owners: [{ mapId: "canary" }] }],
  listed: ["canary"]
}
