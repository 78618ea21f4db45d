/**
 * A `Wanted` artifact is one that an argument of a call names, for the tool to work on what is stored. Each such argument is
 * judged here, by what the store says of its ref; all of them are before any is refused.
 *
 * @internal
 */
import * as Artifact from "./Artifact.ts"
import * as ArtifactEvent from "./ArtifactEvent.ts"
import * as ArtifactRefusal from "./ArtifactRefusal.ts"
import * as Printable from "./Printable.ts"

/** What a tool wants: an artifact of this kind, and of no other, named by this argument. */
export interface Want {
  readonly argument: string
  readonly kind: string
  readonly required: boolean
}

/** What an argument has instead of a ref that can be looked for, or the ref; `absent` is no fault. */
export type Named =
  | { readonly _tag: "Ref"; readonly ref: string }
  | { readonly _tag: "Absent" }
  | { readonly _tag: "Wrong"; readonly found: string }

/** What the store says of a ref. */
export type Found =
  | { readonly _tag: "Live"; readonly meta: Artifact.Meta }
  | { readonly _tag: "Missing" }
  | { readonly _tag: "Failed"; readonly reason: ArtifactEvent.Reason; readonly what: string }

/** Why an argument is refused. `detail` is a sentence part of one printable line. */
export interface Failure {
  readonly argument: string
  readonly kind: string
  readonly reason: ArtifactEvent.Reason
  readonly ref?: string
  readonly detail: string
}

const kindOf = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "an array"
  if (value === "") return "an empty text"
  if (typeof value === "string") return "a blank text"
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}

/** What an argument names, in arguments as the model wrote them. */
export const named = ({ argument, required }: Want, args: unknown): Named => {
  const own = typeof args === "object" && args !== null ? Object.getOwnPropertyDescriptor(args, argument) : undefined
  if (own === undefined) return required ? { _tag: "Wrong", found: "nothing" } : { _tag: "Absent" }
  const value: unknown = own.value
  return typeof value === "string" && value.trim() !== ""
    ? { _tag: "Ref", ref: value }
    : { _tag: "Wrong", found: kindOf(value) }
}

const failure = (
  { argument, kind }: Want,
  reason: ArtifactEvent.Reason,
  told: string,
  ref: string | undefined
): Failure => ({
  argument,
  kind,
  reason,
  ...(ref === undefined ? {} : { ref }),
  detail: `${ArtifactRefusal.argumentText(argument)}: ${told}`
})

/** Why an argument that names no ref is refused. */
export const misnamed = (want: Want, { found }: Named & { readonly _tag: "Wrong" }): Failure =>
  failure(want, "invalid-input", `it was ${found}, and not the ref of an artifact`, undefined)

/** Why an artifact is refused whose data is not what the tool's schema says of the argument. */
export const unfit = (want: Want): Failure =>
  failure(want, "invalid-input", "what was stored did not fit the argument's schema", undefined)

/** Why what a ref names is refused, unless it is what the tool wants. */
export const judge = (want: Want, ref: string, found: Found): Failure | undefined => {
  const { spoken } = ArtifactRefusal
  switch (found._tag) {
    case "Missing":
      return failure(want, "missing-or-expired", `no artifact ${spoken(ref)} was found`, ref)
    case "Failed": {
      const told =
        found.reason === "digest-mismatch"
          ? `what was stored as ${spoken(ref)} had been changed`
          : `${spoken(ref)} could not be read: ${Printable.clip(Printable.line(found.what), 200)}`
      return failure(want, found.reason, told, ref)
    }
    case "Live":
      return found.meta.kind === want.kind
        ? undefined
        : failure(
            want,
            "kind-mismatch",
            `${spoken(ref)} was of kind ${spoken(found.meta.kind)}, and ${spoken(want.kind)} is wanted`,
            ref
          )
  }
}

/** A failure as the record tells it. */
export const refused = (
  { iteration, toolCallId, toolName }: ArtifactEvent.Call,
  { argument, detail, reason, ref }: Failure
): ArtifactEvent.ArtifactRefused => ({
  _tag: "ArtifactRefused",
  iteration,
  toolCallId,
  toolName,
  op: "dispatch",
  reason,
  ...(Artifact.isRef(ref) ? { ref } : {}),
  argument,
  detail: Printable.clip(detail, ArtifactEvent.most.detail)
})

/** The kinds for which it helps to know what there was. */
export const kindsToOffer = (failures: ReadonlyArray<Failure>): ReadonlyArray<string> => {
  const helped: ReadonlySet<ArtifactEvent.Reason> = new Set(["missing-or-expired", "invalid-input", "kind-mismatch"])
  return Array.from(new Set(failures.flatMap(({ kind, reason }) => (helped.has(reason) ? [kind] : []))))
}
