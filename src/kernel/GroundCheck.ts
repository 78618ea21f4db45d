/**
 * A `GroundCheck` looks, at the compose seam, for tools whose arguments come from a result that has left the window.
 *
 * @since 0.1.0
 */
import * as Check from "./Check.ts"
import type * as Fault from "./Fault.ts"
import * as SafeId from "./SafeId.ts"

/** A tool on the wire. `argumentsFrom` names the tools whose results its arguments are taken from. */
export interface Grounded {
  readonly name: string
  readonly argumentsFrom?: ReadonlyArray<string>
}

export interface Result {
  readonly toolName: string
  readonly toolCallId: string
}

/** `present` are the results that the model can still read, after all that was collapsed. */
export interface Input {
  readonly served: ReadonlyArray<Grounded>
  readonly dropped: ReadonlyArray<Result>
  readonly present: ReadonlyArray<Result>
}

export const check = { check: "dangling-reference", seam: "compose" } as const satisfies Check.Check

const fault = (name: string, ground: string, dropped: ReadonlyArray<Result>): Fault.Fault => ({
  kind: check.check,
  seam: check.seam,
  subjects: [
    { kind: "tool", id: name },
    { kind: "ground", id: ground }
  ],
  witnesses: dropped.map(({ toolCallId }) => toolCallId),
  predicate: "argumentsFrom",
  message: `The arguments of ${SafeId.print(name)} come from results of ${SafeId.print(ground)}, and the window no longer held one.`
})

/** A ground that was dropped and fetched again is there. */
export const judge = ({ dropped, present, served }: Input): Check.Verdict => {
  const pairs = new Map(
    served.flatMap(({ argumentsFrom = [], name }) =>
      argumentsFrom.map((ground) => [JSON.stringify([name, ground]), { name, ground }] as const)
    )
  )
  if (pairs.size === 0 || dropped.length === 0) return Check.verdict(check, "not-applicable")
  const held = new Set(present.map(({ toolName }) => toolName))
  return Check.looked(
    check,
    Array.from(pairs.values()).flatMap(({ ground, name }) => {
      const gone = dropped.filter(({ toolName }) => toolName === ground)
      return gone.length > 0 && !held.has(ground) ? [fault(name, ground, gone)] : []
    })
  )
}

/** What is wrong with the grounds that a tool declares. */
export const review = ({ argumentsFrom, name }: Grounded): ReadonlyArray<Check.Flaw> => {
  if (argumentsFrom === undefined) return []
  if (argumentsFrom.length === 0) {
    return [{ where: "/argumentsFrom", what: "It names no tool.", next: "Name a tool, or leave it out." }]
  }
  return argumentsFrom.flatMap((ground, at) => {
    const where = `/argumentsFrom/${at}`
    if (ground.trim() === "") return [{ where, what: "The name is blank.", next: "Name a tool, or leave it out." }]
    return ground === name
      ? [
          {
            where,
            what: `${SafeId.print(name)} is the tool itself.`,
            next: "Name the tool that its arguments come from."
          }
        ]
      : []
  })
}

export const canary: Input = {
  served: [{ name: "canary", argumentsFrom: ["canary-ground"] }],
  dropped: [{ toolName: "canary-ground", toolCallId: "canary" }],
  present: []
}
