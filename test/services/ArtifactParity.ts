import { assert } from "@effect/vitest"
import { Effect, Either, FastCheck as fc, Option, Stream, TestClock } from "effect"
import type * as Artifact from "../../src/kernel/Artifact.ts"
import * as ArtifactPut from "../../src/services/ArtifactPut.ts"
import type { ArtifactStoreError } from "../../src/services/ArtifactStoreError.ts"
import type { Store } from "../../src/services/ArtifactStoreSuite.ts"
import * as ArtifactVerbs from "../../src/services/ArtifactVerbs.ts"
import * as Entropy from "../../src/services/Entropy.ts"
import * as MemoryArtifactStore from "../../src/services/MemoryArtifactStore.ts"

/** What both stores are asked to do. Artifacts are spoken of by when they were put. */
type Command =
  | {
      readonly op: "put"
      readonly scope: number
      readonly data: unknown
      readonly label?: string
      readonly asksDigest: boolean
      readonly expiresIn?: number
      readonly parents: ReadonlyArray<number>
    }
  | { readonly op: "stream"; readonly scope: number; readonly bytes: Uint8Array; readonly lie: number }
  | { readonly op: "head" | "get" | "delete"; readonly scope: number; readonly artifact: number }
  | { readonly op: "list"; readonly scope: number; readonly limit: number }
  | { readonly op: "pass"; readonly ms: number }

const scopes: ReadonlyArray<Artifact.Scope> = [
  { conversationId: "c", tenant: "t" },
  { conversationId: "C", tenant: "t" },
  { conversationId: "é/../", principal: "t" }
]

const scope = fc.nat({ max: scopes.length - 1 })
const artifact = fc.nat({ max: 12 })

const data: fc.Arbitrary<unknown> = fc.oneof(
  fc.string({ maxLength: 16 }),
  fc.uint8Array({ maxLength: 16 }),
  fc.jsonValue({ maxDepth: 1 }),
  fc.constantFrom(undefined, Number.NaN, new Date(0), "x\ud800", "\0", "x".repeat(50))
)

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .record({
        scope,
        data,
        label: fc.option(fc.string({ maxLength: 8 }), { nil: undefined }),
        asksDigest: fc.boolean(),
        expiresIn: fc.option(fc.integer({ min: -5, max: 40 }), { nil: undefined }),
        parents: fc.oneof(
          { weight: 4, arbitrary: fc.constant([]) },
          { weight: 1, arbitrary: fc.array(artifact, { maxLength: 2 }) }
        )
      })
      .map(({ expiresIn, label, ...rest }) => ({
        op: "put" as const,
        ...rest,
        ...(label === undefined ? {} : { label }),
        ...(expiresIn === undefined ? {} : { expiresIn })
      }))
  },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant("stream" as const),
      scope,
      bytes: fc.uint8Array({ maxLength: 16 }),
      lie: fc.constantFrom(0, 0, 0, 1, -1)
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constantFrom("head" as const, "get" as const, "get" as const, "delete" as const),
      scope,
      artifact
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant("list" as const), scope, limit: fc.integer({ min: 0, max: 3 }) })
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 30 }) }) }
)

export const commands = fc.array(command, { minLength: 30, maxLength: 30 })

const limits = { ttlMs: 60, maxBytesPerScope: 60, maxCountPerScope: 4 }

/** Memory, evicting what was not accessed for longest, or what was put first. */
const model = (order: "access" | "age"): Store => {
  const { touch, ...medium } = MemoryArtifactStore.medium()
  return ArtifactVerbs.make(order === "access" && touch !== undefined ? { ...medium, touch } : medium, limits)
}

/** How many bytes a stream says that it has. */
const declared = ({ bytes, lie }: Extract<Command, { op: "stream" }>) => Math.max(0, bytes.length + lie)

/** What can be seen of an error from outside. */
const seen = <A>(effect: Effect.Effect<A, ArtifactStoreError>) =>
  Effect.map(
    Effect.either(effect),
    Either.mapLeft(({ path, reason, refs }) => [reason, path, refs])
  )

const perform = (store: Store, refs: Array<string>, command: Command): Effect.Effect<unknown> => {
  switch (command.op) {
    case "put":
      return Effect.gen(function* () {
        const now = yield* Effect.clockWith((clock) => clock.currentTimeMillis)
        const { asksDigest, data, expiresIn, label, parents } = command
        const result = yield* seen(
          store.put(scopes[command.scope]!, {
            kind: "note",
            mediaType: "text/plain",
            data,
            ...(label === undefined ? {} : { label }),
            ...(asksDigest ? { digest: "sha-256" as const } : {}),
            ...(expiresIn === undefined ? {} : { expiresAt: now + expiresIn }),
            parentRefs: parents.map((parent) => refs[parent] ?? "none")
          })
        )
        if (Either.isRight(result)) refs.push(result.right.meta.ref)
        return result
      })
    case "stream":
      return Effect.gen(function* () {
        const { bytes } = command
        const where = scopes[command.scope]!
        const said = { kind: "blob", mediaType: "application/octet-stream" }
        const size = declared(command)
        const whole =
          size === bytes.length ? store.put(where, { ...said, data: bytes }) : ArtifactPut.invalid("bytes", "", "")
        const body = Stream.make(bytes.subarray(0, 3), bytes.subarray(3))
        const result = yield* seen(store.putStream?.(where, { ...said, bytes: size, body }) ?? whole)
        if (Either.isRight(result)) refs.push(result.right.meta.ref)
        return result
      })
    case "head":
      return seen(store.head(scopes[command.scope]!, refs[command.artifact] ?? "none"))
    case "get":
      return seen(store.get(scopes[command.scope]!, refs[command.artifact] ?? "none"))
    case "delete":
      return seen(store.delete(scopes[command.scope]!, refs[command.artifact] ?? "none"))
    case "list":
      return Effect.gen(function* () {
        const pages = []
        let cursor: string | undefined
        do {
          const options = { limit: command.limit, ...(cursor === undefined ? {} : { cursor }) }
          const page = yield* seen(store.list(scopes[command.scope]!, options))
          pages.push(page)
          cursor = Either.isRight(page) ? page.right.cursor : undefined
        } while (cursor !== undefined)
        return pages
      })
    case "pass":
      return Effect.void
  }
}

const seeded = (effect: Effect.Effect<unknown>, entropy: typeof Entropy.Entropy.Service) =>
  Effect.provideService(effect, Entropy.Entropy, entropy)

/** Both stores give the same answers to the same commands, to the last field, and mint the same names. */
const compare = (one: Store, other: Store, commands: ReadonlyArray<Command>) =>
  Effect.gen(function* () {
    const [left, right] = yield* Effect.all([source, source])
    const [mine, theirs]: [Array<string>, Array<string>] = [[], []]
    for (const [n, command] of commands.entries()) {
      if (command.op === "pass") yield* TestClock.adjust(command.ms)
      // Memory refuses a stream that lies without a name for it; the names are to stay the same.
      const lies = command.op === "stream" && declared(command) !== command.bytes.length
      const expected = yield* seeded(perform(one, mine, command), left)
      const found = yield* seeded(perform(other, theirs, command), lies ? yield* source : right)
      assert.deepStrictEqual(
        plain(found),
        plain(lies ? refusedOr(expected, found) : expected),
        `${n}: ${JSON.stringify(command)}`
      )
    }
  })

/** A store may refuse a stream that lies for want of room before it finds out. */
const refusedOr = (expected: unknown, found: unknown) =>
  JSON.stringify(plain(found)).includes("OverBudget") ? found : expected

const plain = (value: unknown): unknown => {
  if (Option.isOption(value)) return Option.isSome(value) ? { some: plain(value.value) } : "none"
  if (Either.isEither(value)) return Either.isRight(value) ? { right: plain(value.right) } : { left: value.left }
  return value
}

const source = Effect.provide(Entropy.Entropy, Entropy.layerSeeded(11))

/** A store, made with limits, gives the answers that memory gives which evicts in the same order. */
export const agree = <E, R>(
  order: "access" | "age",
  created: (options: typeof limits) => Effect.Effect<Store, E, R>,
  commands: ReadonlyArray<Command>
) => Effect.scoped(Effect.flatMap(created(limits), (store) => compare(model(order), store, commands)))
