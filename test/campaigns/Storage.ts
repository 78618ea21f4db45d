/**
 * The `Storage` is the record as a process reaches it: over a way that takes time, on which a request or its answer can be
 * lost, to a place that can refuse, or say that it does not know.
 */
import { Cause, Chunk, Effect, Exit, Option, Stream } from "effect"
import { ArtifactStore, Entropy, type Problem, Record } from "../../src/index.ts"
import type * as Machine from "./Machine.ts"
import type * as World from "./World.ts"

type Service = typeof Record.Record.Service

const failure = (
  reason: Record.RecordError["reason"],
  code: string,
  outcome: Problem.Outcome,
  retry: Problem.Retry,
  runId: string
) =>
  new Record.RecordError({
    reason,
    code,
    what: "The storage did not do it.",
    next: "Try again later.",
    outcome,
    retry,
    runId
  })

/** The record as `process` reaches it. `isDriver`: what happens to processes that drive runs can happen to it. `loads`: it needs a package once it has read. */
export const record = (world: World.World, process: Machine.Process, isDriver: boolean, loads = false): Service => {
  const { faults, machine, tell } = world
  const dice = process.dice.of("storage")
  const latency = () => (faults.hit("storage.slow") ? dice.int(500, 4_000) : dice.int(0, 3))
  const append: Service["append"] = (runId, expectedSeq, events) =>
    Effect.uninterruptible(
      Effect.async<{ readonly seq: number; readonly hash: string }, Record.RecordError | Record.RecordConflict>(
        (resume) => {
          const op = world.ops++
          world.loading.delete(process)
          const texts = events.map((event) => JSON.stringify(event))
          tell({ what: "append", op, process: process.name, runId, expectedSeq, texts })
          const answer = (
            exit: Exit.Exit<{ readonly seq: number; readonly hash: string }, Record.RecordError | Record.RecordConflict>
          ) =>
            machine.after(
              latency(),
              () => {
                if (Exit.isSuccess(exit)) tell({ what: "acknowledged", op, ...exit.value })
                else {
                  const error = Option.getOrUndefined(Cause.failureOption(exit.cause))
                  const reason = error instanceof Record.RecordError ? error.reason : ""
                  tell({ what: "refused", op, tag: error?._tag ?? "defect", reason, outcome: error?.outcome ?? "" })
                }
                resume(exit)
              },
              process
            )
          machine.after(latency(), () => {
            if (!process.alive) return
            if (isDriver && faults.hit("process.crash-unwritten")) return machine.kill(process)
            if (faults.hit("storage.busy")) {
              return answer(Exit.fail(failure("Unavailable", "WF-REC-007", "not-applied", { afterMs: 1_000 }, runId)))
            }
            if (faults.hit("storage.full")) {
              return answer(Exit.fail(failure("Full", "WF-REC-006", "not-applied", "after-human", runId)))
            }
            if (faults.hit("storage.read-only")) {
              return answer(Exit.fail(failure("WriteFailed", "WF-REC-005", "not-applied", "after-human", runId)))
            }
            const exit = Effect.runSyncExit(
              Effect.withClock(world.record.append(runId, expectedSeq, events), process.clock)
            )
            if (Exit.isSuccess(exit)) {
              tell({ what: "written", op, ...exit.value })
              world.overhear(runId, events)
              if (isDriver && faults.hit("process.crash-written")) return machine.kill(process)
              if (faults.hit("storage.commit-unknown")) {
                return answer(Exit.fail(failure("WriteFailed", "WF-REC-005", "unknown", "after-human", runId)))
              }
            }
            answer(exit)
          })
        }
      )
    )
  let hasRead = false
  const read: Service["read"] = (runId, options) =>
    Stream.unwrap(
      Effect.gen(function* () {
        yield* Effect.sleep(latency())
        if (faults.hit("storage.read-fault")) {
          return Stream.fail(failure("Unavailable", "WF-REC-007", "not-applied", { afterMs: 1_000 }, runId))
        }
        const entries = yield* Stream.runCollect(world.record.read(runId, options))
        const hash = Option.getOrUndefined(Chunk.last(entries))?.hash ?? ""
        if ((options?.from ?? 0) === 0) {
          tell({ what: "read", process: process.name, runId, entries: entries.length, hash })
          if (loads && !hasRead) world.loading.add(process)
          hasRead = true
        }
        return Stream.fromChunk(entries)
      })
    )
  return { ...world.record, append, read }
}

type Artifacts = typeof ArtifactStore.ArtifactStore.Service

/** The artifacts as `process` reaches them: what was begun goes on in the store, whatever becomes of the process. */
export const artifacts = (world: World.World, process: Machine.Process, store: Machine.Process): Artifacts => {
  const { faults, machine } = world
  const dice = process.dice.of("artifacts")
  const far = <A>(
    verb: Effect.Effect<A, ArtifactStore.ArtifactStoreError>
  ): Effect.Effect<A, ArtifactStore.ArtifactStoreError> =>
    Effect.async((resume) => {
      machine.after(dice.int(0, 3), () => {
        if (faults.hit("artifacts.unavailable")) {
          const error = new ArtifactStore.ArtifactStoreError({
            reason: "Unavailable",
            code: "WF-ART-006",
            what: "The store did not answer.",
            next: "Try again later.",
            outcome: "unknown",
            retry: "never"
          })
          return machine.after(dice.int(0, 3), () => resume(Effect.fail(error)), process)
        }
        machine.fork(store, Effect.provideService(verb, Entropy.Entropy, world.entropy), (exit) =>
          machine.after(dice.int(0, 3), () => resume(exit), process)
        )
      })
    })
  const { delete: remove, get, head, list, put } = world.artifacts
  return {
    put: (scope, input) => far(put(scope, input)),
    head: (scope, ref) => far(head(scope, ref)),
    get: (scope, ref) => far(get(scope, ref)),
    delete: (scope, ref) => far(remove(scope, ref)),
    list: (scope, options) => far(list(scope, options))
  }
}
