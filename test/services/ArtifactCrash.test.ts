import { NodeFileSystem } from "@effect/platform-node"
import * as FileSystem from "@effect/platform/FileSystem"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import type * as Artifact from "../../src/kernel/Artifact.ts"
import { all, type Store } from "../../src/services/ArtifactStoreCase.ts"
import * as FileSystemArtifactStore from "../../src/services/FileSystemArtifactStore.ts"
import * as RecordLock from "../../src/services/RecordLock.ts"
import * as Bundle from "../Bundle.ts"
import * as Database from "./ArtifactDatabase.ts"
import * as Directory from "./ArtifactDirectory.ts"
import * as Disk from "./ArtifactDisk.ts"

const scope: Artifact.Scope = { conversationId: "chat", tenant: "acme" }

const note = (data: unknown): Artifact.PutInput => ({ kind: "note", mediaType: "text/plain", data })

/** What is said to have happened by the time of a crash. */
interface Told {
  /** What is there for certain. */
  readonly there: Map<string, string>
  /** What is gone for certain. */
  readonly gone: Set<string>
  /** What was begun and not acknowledged. */
  doing: "put" | "delete" | "nothing"
}

/** Every way to write that the store has, in turn: puts, a stream, an eviction, a deletion. */
const work = (store: Store, told: Told) =>
  Effect.gen(function* () {
    const done = ({ meta, swept }: { meta: Artifact.Meta; swept: ReadonlyArray<Artifact.Swept> }, data: string) => {
      told.there.set(meta.ref, data)
      for (const { ref } of swept) {
        told.there.delete(ref)
        told.gone.add(ref)
      }
      told.doing = "nothing"
      return meta.ref
    }
    const put = (data: string) => {
      told.doing = "put"
      return Effect.map(store.put(scope, note(data)), (result) => done(result, data))
    }
    yield* put("first")
    told.doing = "put"
    const pieces = ["str", "eam", "ed"].map((piece) => new TextEncoder().encode(piece))
    const body = Stream.fromIterable(pieces)
    done(yield* store.putStream!(scope, { kind: "note", mediaType: "text/plain", bytes: 8, body }), "streamed")
    const third = yield* put("third: it takes the place of the first")
    told.doing = "delete"
    told.there.delete(third)
    yield* store.delete(scope, third)
    told.gone.add(third)
    yield* put("fourth")
  })

const attempted = new Set(["first", "streamed", "third: it takes the place of the first", "fourth"])

const limits = { maxCountPerScope: 2 }

const textOf = (data: unknown) => (data instanceof Uint8Array ? new TextDecoder().decode(data) : data)

/** Files in `staging` that this process made, as another that is dead would have left them. */
const orphan = (directory: string) => {
  const staging = `${directory}/staging`
  if (!fs.existsSync(staging)) return
  const dead = RecordLock.self().replace(/-\d+-/, "-1-")
  for (const name of fs.readdirSync(staging)) {
    fs.renameSync(`${staging}/${name}`, `${staging}/${name.replace(RecordLock.self(), dead)}`)
  }
}

/** The directory after a crash: what was acknowledged is there, what was not is whole or absent, and all goes on. */
const survives = (directory: string, told: Told, where: string) =>
  Effect.gen(function* () {
    const store = yield* Directory.open({ directory })
    const listed = yield* all(store, scope)
    // What is deleted or evicted may be cut to a ticket alone; what is put is whole once it has one.
    for (const { ref } of listed) if (told.doing === "put" && !told.there.has(ref)) yield* store.get(scope, ref)
    orphan(directory)
    const repaired = yield* Directory.verify(directory, true)
    for (const { kind, removed } of repaired.problems) {
      assert.include(["staged", "no-ticket", "no-bytes"], kind, where)
      assert.isTrue(removed, where)
    }
    assert.deepStrictEqual((yield* Directory.verify(directory)).problems, [], where)
    const found = new Map<string, unknown>()
    for (const { ref } of yield* all(store, scope)) {
      const stored = Option.getOrThrow(yield* store.get(scope, ref))
      assert.include(attempted, textOf(stored.data) as string, where)
      found.set(ref, textOf(stored.data))
    }
    assert.strictEqual(Directory.files(directory).length, 2 * found.size, where)
    const came = Array.from(found.keys()).some((ref) => !told.there.has(ref))
    // What was there goes only for what came.
    if (!came) assert.deepStrictEqual(found, new Map<string, unknown>(told.there), where)
    const expected = Array.from(told.there).filter(([ref]) => found.has(ref))
    assert.isAtMost(told.there.size - expected.length, told.doing === "put" ? 1 : 0, where)
    for (const [ref, data] of expected) assert.strictEqual(found.get(ref), data, where)
    for (const ref of told.gone) assert.isFalse(found.has(ref), where)
    const { meta } = yield* store.put(scope, note("later"))
    assert.strictEqual(Option.getOrThrow(yield* store.get(scope, meta.ref)).data, "later", where)
    return { repaired, found }
  })

const ways: ReadonlyArray<
  readonly [string, ReadonlyArray<string>, (step: number) => ((index: number) => boolean) | undefined]
> = [
  ["is killed", ["no-ticket", "staged"], () => undefined],
  ["loses power and all that was not flushed", ["no-ticket"], () => () => true],
  ["loses power and all but the last of it", ["no-bytes", "no-ticket", "staged"], () => (index) => index > 0],
  [
    "loses power and some of it",
    ["no-ticket", "staged"],
    (step) => (index) => ((step + index * 5) * 2_654_435_761) % 5 < 2
  ]
]

const crash = (stopAt: number, lost: ((index: number) => boolean) | undefined) =>
  Effect.gen(function* () {
    const directory = yield* Directory.directoryInMemory
    const told: Told = { there: new Map(), gone: new Set(), doing: "nothing" }
    const disk = Disk.make(yield* FileSystem.FileSystem, stopAt)
    const program = Effect.gen(function* () {
      yield* work(yield* FileSystemArtifactStore.make({ directory: `${directory}/new`, ...limits }), told)
    })
    // It is never interrupted: what is killed cleans nothing up.
    const running = Effect.runPromise(Effect.provideService(program, FileSystem.FileSystem, disk.fs))
    yield* Effect.promise(() => Promise.race([running, disk.stopped]))
    if (lost !== undefined) disk.losePower(lost)
    const survived = yield* survives(`${directory}/new`, told, `step ${stopAt}`)
    return { ...survived, isWhole: disk.steps() < stopAt }
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

const { program, remove } = await Bundle.make(new URL("./fixtures/puts.ts", import.meta.url))
afterAll(remove)

interface Killing {
  readonly kind: "directory" | "sqlite"
  /** How many bytes each artifact has. */
  readonly length: number
  readonly count: number
}

/** A process of its own that puts, under these options of `strace` if there are some. */
const putting = (directory: string, { count, kind, length }: Killing, strace?: ReadonlyArray<string>) =>
  Effect.async<ReadonlyArray<string>>((resume) => {
    const node = [program, kind, directory, `${count}`, `${length}`]
    const [command, args] =
      strace === undefined
        ? [process.execPath, node]
        : ["strace", ["-f", "-o", `${directory}.trace`, ...strace, process.execPath, ...node]]
    const started = spawn(command, args, {
      // One thread for what is not synchronous, so that calls are counted over the whole process.
      env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
      stdio: ["ignore", "pipe", "inherit"]
    })
    let said = ""
    started.stdout.on("data", (data) => (said += data))
    started.on("close", () => resume(Effect.sync(() => said.split("\n").slice(0, -1))))
    return Effect.sync(() => started.kill("SIGKILL"))
  })

/** The same store, opened by this process, and its report. */
const reopened = (directory: string, kind: Killing["kind"]) =>
  Effect.gen(function* () {
    if (kind === "directory") {
      const verify = (repair: boolean) => Directory.verify(directory, repair)
      return { store: yield* Directory.open({ directory }), verify }
    }
    const sql = yield* Database.sqlite({ filename: `${directory}/artifacts.db` })
    const opened = { sql, prefix: "wherefore_", again: Effect.succeed(sql) }
    assert.deepStrictEqual(yield* Effect.orDie(sql`PRAGMA integrity_check`), [{ integrity_check: "ok" }])
    return { store: yield* Database.store(opened), verify: (repair: boolean) => Database.verify(opened, repair) }
  })

const directory = { kind: "directory", length: 1, count: 10 } as const
const sqlite = { kind: "sqlite", length: 600_000, count: 6 } as const

/** Where a process is killed, and what a repair removes after that if that is certain. */
const kills: ReadonlyArray<readonly [Killing, string, number, ReadonlyArray<string>?]> = [
  [directory, "rename", 6, ["no-ticket", "staged"]],
  [directory, "fsync", 10],
  // In the middle of the first put, at its end, and in the middle of a stream.
  [sqlite, "pwrite64", 150, []],
  [sqlite, "fsync", 8, []],
  [sqlite, "fsync", 11, ["staged"]]
]

const traceable = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0
const reason = traceable ? "" : " (skipped: strace does not work here)"

describe("ArtifactCrash", () => {
  for (const [name, leftovers, lost] of ways) {
    it.live(`finds a put whole or absent when the program ${name} at any step`, () =>
      Effect.gen(function* () {
        const kinds = new Set<string>()
        let crashes = 0
        for (let isWhole = false; !isWhole; crashes++) {
          const ended = yield* crash(crashes, lost(crashes))
          for (const { kind } of ended.repaired.problems) kinds.add(kind)
          isWhole = ended.isWhole
        }
        assert.isAbove(crashes, 50)
        assert.deepStrictEqual(Array.from(kinds).sort(), leftovers)
      })
    )
  }

  it.live.skipIf(!traceable)(
    `loses nothing that it acknowledged, wherever it is killed${reason}`,
    () =>
      Effect.gen(function* () {
        let acknowledged = 0
        yield* Effect.forEach(
          kills,
          ([killing, call, when, removed]) =>
            Effect.gen(function* () {
              const directory = `${yield* Directory.directory}/new`
              fs.mkdirSync(directory)
              const strace = ["-e", `trace=${call}`, "-e", `inject=${call}:signal=SIGKILL:when=${when}`]
              const lines = yield* putting(directory, killing, strace)
              const where = `${killing.kind} ${call} ${when}`
              assert.notInclude(lines, "done", where)
              const { store, verify } = yield* reopened(directory, killing.kind)
              const { problems } = yield* verify(true)
              assert.isTrue(
                problems.every(({ removed }) => removed),
                where
              )
              if (removed !== undefined) assert.deepStrictEqual(problems.map(({ kind }) => kind).sort(), removed, where)
              const { artifacts, problems: left } = yield* verify(false)
              assert.deepStrictEqual(left, [], where)
              const acks = lines.map((line) => line.split(" "))
              for (const [, ref = "", n = ""] of acks) {
                const { data } = Option.getOrThrow(yield* store.get({ conversationId: "chat" }, ref))
                assert.isTrue(Buffer.alloc(killing.length, Number(n)).equals(data as Uint8Array), where)
              }
              assert.isAtMost(artifacts - acks.length, 1, where)
              yield* store.put({ conversationId: "chat" }, note("later"))
              acknowledged += acks.length
            }).pipe(Effect.scoped),
          { concurrency: 2, discard: true }
        )
        assert.isAbove(acknowledged, 0)
      }),
    { timeout: 240_000 }
  )

  it.live.skipIf(!traceable)(`flushes SQLite before it acknowledges, every time${reason}`, () =>
    Effect.gen(function* () {
      const directory = `${yield* Directory.directory}/new`
      fs.mkdirSync(directory)
      const lines = yield* putting(directory, { ...sqlite, length: 1 }, ["-e", "trace=write,fsync,fdatasync"])
      assert.strictEqual(lines.at(-1), "done")
      const trace = fs.readFileSync(`${directory}.trace`, "utf8").split("\n")
      const steps = trace.flatMap((line) =>
        / write\(1, "ack/.test(line) ? "ack" : /(fsync|fdatasync).* = 0$/.test(line) ? "flush" : []
      )
      const acks = steps.flatMap((step, at) => (step === "ack" ? at : []))
      assert.lengthOf(acks, sqlite.count)
      for (const at of acks) assert.strictEqual(steps[at - 1], "flush")
    }).pipe(Effect.scoped)
  )

  it.live("lets two processes put in one SQLite file at once", () =>
    Effect.gen(function* () {
      const directory = yield* Directory.directory
      const one = putting(directory, { ...sqlite, length: 300_000, count: 40 })
      for (const lines of yield* Effect.all([one, one], { concurrency: 2 })) assert.strictEqual(lines.at(-1), "done")
      const { verify } = yield* reopened(directory, "sqlite")
      const { artifacts, problems } = yield* verify(false)
      assert.deepStrictEqual([artifacts, problems], [80, []])
    }).pipe(Effect.scoped)
  )
})
