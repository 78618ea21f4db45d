/**
 * A `DurableInbox` is where the engine's messages are kept, for a runner over a database that may be cut off. Who reads
 * messages claims them, and what is claimed is read anew after ten minutes only: if the answer to a read is lost, nobody has
 * what it claimed. So that after a read that failed, what is claimed is let go before the next one. What this runner is at
 * is not begun twice: it knows its own.
 *
 * @internal
 */
import * as MessageStorage from "@effect/cluster/MessageStorage"
import type * as ShardId from "@effect/cluster/ShardId"
import * as SqlMessageStorage from "@effect/cluster/SqlMessageStorage"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"

/** Lets go what was claimed by reads whose answers did not come. */
export const mindful = (
  storage: MessageStorage.MessageStorage["Type"]
): Effect.Effect<MessageStorage.MessageStorage["Type"]> =>
  Effect.map(Ref.make(false), (isInDoubt) => {
    const doubted = <A, E>(effect: Effect.Effect<A, E>) => Effect.onError(effect, () => Ref.set(isInDoubt, true))
    const resetShards = (shards: Iterable<ShardId.ShardId>) => doubted(storage.resetShards(shards))
    return MessageStorage.MessageStorage.of({
      ...storage,
      resetShards,
      unprocessedMessages: (shards) =>
        Effect.gen(function* () {
          if (yield* Ref.getAndSet(isInDoubt, false)) yield* resetShards(shards)
          return yield* doubted(storage.unprocessedMessages(shards))
        })
    })
  })

export const layer = Layer.effect(
  MessageStorage.MessageStorage,
  Effect.flatMap(MessageStorage.MessageStorage, mindful)
).pipe(Layer.provide(Layer.orDie(SqlMessageStorage.layer)))
