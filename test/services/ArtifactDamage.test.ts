import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import { dirname } from "node:path"
import * as Damages from "./ArtifactDamages.ts"
import * as Directory from "./ArtifactDirectory.ts"

const filled = Effect.gen(function* () {
  const directory = yield* Directory.directoryInMemory
  const store = yield* Directory.open({ directory })
  const kept = yield* Damages.fill(store)
  const paths = new Map(
    kept.flatMap(({ ref }) =>
      (["bytes", "ticket"] as const).map((part) => [`${ref}.${part}`, Directory.fileOf(directory, ref, part)] as const)
    )
  )
  const pathOf = (ref: string, part: Damages.Part) => paths.get(`${ref}.${part}`) ?? ""
  const behind: Damages.Behind = {
    read: (ref, part) =>
      Effect.sync(() => (fs.existsSync(pathOf(ref, part)) ? fs.readFileSync(pathOf(ref, part)) : undefined)),
    write: (ref, part, bytes) =>
      Effect.sync(() =>
        bytes === undefined ? fs.rmSync(pathOf(ref, part)) : fs.writeFileSync(pathOf(ref, part), bytes, { mode: 0o600 })
      ),
    verify: Directory.verify(directory)
  }
  return { behind, directory, kept, pathOf, store }
})

describe("ArtifactDamage of a directory", () => {
  it.scoped("is located in every artifact that was changed, and in no other", () =>
    Effect.gen(function* () {
      const { behind, kept, store } = yield* filled
      yield* Damages.campaign(250, store, behind, kept)
    })
  )

  it.scoped("is told of and not removed, nor are bytes that may be those of a damaged ticket", () =>
    Effect.gen(function* () {
      const { behind, directory, kept, pathOf, store } = yield* filled
      const [one, two, three] = kept
      yield* behind.write(one!.ref, "bytes", Buffer.from("other"))
      yield* behind.write(three!.ref, "ticket", Buffer.from("other"))
      // Under another name: a ticket that is another's, and bytes alone.
      const renamed = `art_${"0".repeat(22)}`
      fs.renameSync(pathOf(three!.ref, "ticket"), pathOf(three!.ref, "ticket").replace(three!.ref, renamed))
      const before = Directory.files(directory)
      const { problems } = yield* Directory.verify(directory, true)
      assert.deepStrictEqual(
        problems.map(({ kind, ref, removed }) => [kind, ref, removed]).sort(),
        [
          ["bytes-changed", one!.ref, false],
          ["no-ticket", three!.ref, false],
          ["ticket-changed", renamed, false]
        ].sort()
      )
      assert.deepStrictEqual(Directory.files(directory), before)
      // A ticket and its bytes alone are removed where nothing else is wrong.
      yield* behind.write(two!.ref, "ticket", undefined)
      assert.deepInclude(
        (yield* Directory.verify(directory, true)).problems.find(({ ref }) => ref === two!.ref),
        {
          kind: "no-ticket",
          removed: true
        }
      )
      assert.isTrue((yield* store.list(two!.scope)).artifacts.every(({ ref }) => ref !== two!.ref))
    })
  )

  it.scoped("is seen where an artifact was moved to another scope or given another name", () =>
    Effect.gen(function* () {
      const { directory, kept, pathOf, store } = yield* filled
      const [one, two] = kept
      const moved = dirname(pathOf(two!.ref, "bytes"))
      for (const part of ["bytes", "ticket"] as const) {
        fs.copyFileSync(pathOf(one!.ref, part), `${moved}/${one!.ref}.${part}`)
      }
      const renamed = `art_${"1".repeat(22)}`
      for (const part of ["bytes", "ticket"] as const) {
        fs.copyFileSync(pathOf(one!.ref, part), pathOf(one!.ref, part).replace(one!.ref, renamed))
      }
      const { artifacts, problems } = yield* Directory.verify(directory)
      assert.deepStrictEqual(
        problems.map(({ kind, ref }) => [kind, ref]).sort(),
        [
          ["ticket-changed", one!.ref],
          ["ticket-changed", renamed]
        ].sort()
      )
      assert.strictEqual(artifacts, kept.length)
      for (const [scope, ref] of [
        [two!.scope, one!.ref],
        [one!.scope, renamed]
      ] as const) {
        assert.strictEqual((yield* Effect.flip(store.get(scope, ref))).reason, "Unreadable")
      }
    })
  )
})
