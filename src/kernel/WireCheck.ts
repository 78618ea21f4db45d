/**
 * A `WireCheck` compares, at the wire seam, the tools that were assembled with those that are read back from the body as
 * it was sent.
 *
 * @since 0.1.0
 */
import * as Check from "./Check.ts"
import type * as Fault from "./Fault.ts"
import * as SafeId from "./SafeId.ts"

/** Names of tools. `manifest` is absent if the body could not be read back; an empty one says that there were none. */
export interface Input {
  readonly assembled: ReadonlyArray<string>
  readonly manifest?: ReadonlyArray<string>
}

export const check = { check: "invariant-violation", seam: "wire" } as const satisfies Check.Check

const only = (
  predicate: string,
  where: string,
  self: ReadonlyArray<string>,
  that: ReadonlyArray<string>
): ReadonlyArray<Fault.Fault> => {
  const others = new Set(that)
  const names = Array.from(new Set(self)).filter((name) => !others.has(name))
  if (names.length === 0) return []
  return [
    {
      kind: check.check,
      seam: check.seam,
      subjects: names.map((id) => ({ kind: "tool", id })),
      witnesses: [],
      predicate,
      message: `These tools were ${where}: ${SafeId.list(names)}.`
    }
  ]
}

/** The order of names, and how often one is listed, are not looked at. */
export const judge = ({ assembled, manifest }: Input): Check.Verdict =>
  manifest === undefined
    ? Check.verdict(check, "unreachable")
    : Check.looked(check, [
        ...only("only-on-the-wire", "on the wire and not assembled", manifest, assembled),
        ...only("only-in-the-frame", "assembled and not on the wire", assembled, manifest)
      ])

export const canary: Input = { assembled: [], manifest: ["canary"] }
