/**
 * `WantedArguments` are the artifacts that the arguments of a call name, fetched from the store: each of them is looked at
 * before any is refused.
 *
 * @internal
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Artifact from "../kernel/Artifact.ts"
import type * as ArtifactEvent from "../kernel/ArtifactEvent.ts"
import * as ArtifactRefusal from "../kernel/ArtifactRefusal.ts"
import * as Refusal from "../kernel/Refusal.ts"
import * as Wanted from "../kernel/Wanted.ts"
import * as ArtifactDesk from "./ArtifactDesk.ts"

/** What a tool wants, and what its handler may be given. */
export interface Wanting {
  readonly wants: ReadonlyArray<Wanted.Want>
  readonly timeout: Duration.Duration
  /** What is wrong with arguments as a handler is given them. */
  readonly validate: (decoded: unknown) => Effect.Effect<unknown, ReadonlyArray<string>>
}

interface Looked {
  readonly failures: ReadonlyArray<Wanted.Failure>
  /** What was found, by argument, in the order in which the tool names them. */
  readonly found: ReadonlyMap<string, Artifact.Stored>
}

type Judged = { readonly failure?: Wanted.Failure; readonly stored?: Artifact.Stored }

const judge = (
  desk: ArtifactDesk.Desk,
  want: Wanted.Want,
  args: unknown,
  limit: Duration.Duration
): Effect.Effect<Judged> => {
  const named = Wanted.named(want, args)
  if (named._tag === "Absent") return Effect.succeed({})
  if (named._tag === "Wrong") return Effect.succeed({ failure: Wanted.misnamed(want, named) })
  const { ref } = named
  return Effect.map(Effect.either(ArtifactDesk.get(desk, ref, limit)), (got): Judged => {
    const failed = (found: Wanted.Found) => {
      const failure = Wanted.judge(want, ref, found)
      return failure === undefined ? {} : { failure }
    }
    if (Either.isLeft(got)) {
      return failed({ _tag: "Failed", reason: ArtifactDesk.reasonOf(got.left), what: got.left.what })
    }
    if (Option.isNone(got.right)) return failed({ _tag: "Missing" })
    const stored = got.right.value
    const failure = failed({ _tag: "Live", meta: stored.meta })
    return "failure" in failure ? failure : { stored }
  })
}

/** Each argument is looked at, at once, whatever is wrong with the others. */
const look = (desk: ArtifactDesk.Desk, { timeout, wants }: Wanting, args: unknown): Effect.Effect<Looked> =>
  Effect.map(
    Effect.forEach(
      wants,
      (want) => Effect.map(judge(desk, want, args, timeout), (judged) => [want.argument, judged] as const),
      { concurrency: "unbounded" }
    ),
    (all) => ({
      failures: all.flatMap(([, { failure }]) => failure ?? []),
      found: new Map(all.flatMap(([argument, { stored }]) => (stored === undefined ? [] : [[argument, stored]])))
    })
  )

/** What there was of the kinds that were wanted in vain. */
const offered = (
  desk: ArtifactDesk.Desk,
  { timeout }: Wanting,
  failures: ReadonlyArray<Wanted.Failure>
): Effect.Effect<ReadonlyArray<ArtifactRefusal.Offered>> =>
  Effect.forEach(Wanted.kindsToOffer(failures), (kind) =>
    Effect.map(ArtifactDesk.newest(desk, timeout, kind), (live) => ({ kind, ...(live === undefined ? {} : { live }) }))
  )

/** Whether an issue of a schema is about the argument of a want. */
const isOf = ({ argument }: Wanted.Want, issue: string): boolean =>
  [" ", "/"].some((after) => issue.startsWith(`/${argument}${after}`))

/** Why a call is refused, and what is told of it. */
export interface Unmet {
  readonly refusal: Refusal.Refusal
  readonly refused: ReadonlyArray<ArtifactEvent.ArtifactRefused>
}

/** Arguments in which what is stored has taken the place of each ref, and the tickets. */
export interface Met {
  readonly decoded: unknown
  readonly tickets: ReadonlyMap<string, Artifact.Meta>
}

/**
 * Fetches what the arguments of a call name. `read` are the arguments as its schema reads them, or what is wrong with them:
 * what else is wrong is told in the same refusal.
 */
export const resolve = (
  desk: ArtifactDesk.Desk,
  wanting: Wanting,
  call: ArtifactEvent.Call,
  args: unknown,
  read: Either.Either<unknown, ReadonlyArray<string>>
): Effect.Effect<Either.Either<Met, Unmet>> =>
  Effect.gen(function* () {
    const { validate, wants } = wanting
    const { failures, found } = yield* look(desk, wanting, args)
    const unmet = (issues: ReadonlyArray<string>, refused: Unmet["refused"]) =>
      Effect.map(offered(desk, wanting, failures), (kinds) => {
        const told = failures.map(({ detail }) => detail)
        return Either.left({ refusal: ArtifactRefusal.wantUnmet(call.toolName, told, issues, kinds), refused })
      })
    if (failures.length > 0) {
      const others = Either.isLeft(read) ? read.left.filter((issue) => !wants.some((want) => isOf(want, issue))) : []
      return yield* unmet(
        others,
        failures.map((failure) => Wanted.refused(call, failure))
      )
    }
    if (Either.isLeft(read)) {
      return Either.left({ refusal: Refusal.toolArgsInvalid(call.toolName, read.left), refused: [] })
    }
    const data = Object.fromEntries(Array.from(found, ([argument, stored]) => [argument, stored.data]))
    const decoded = { ...(typeof read.right === "object" ? read.right : {}), ...data }
    const fits = yield* Effect.either(validate(decoded))
    if (Either.isRight(fits)) {
      return Either.right({ decoded, tickets: new Map(Array.from(found, ([argument, { meta }]) => [argument, meta])) })
    }
    const misfits = wants.filter((want) => fits.left.some((issue) => isOf(want, issue)))
    return yield* unmet(
      fits.left,
      misfits.map((want) => Wanted.refused(call, Wanted.unfit(want)))
    )
  })
