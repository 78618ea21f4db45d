import { afterAll, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Record from "../../src/services/Record.ts"
import * as RecordSuite from "../../src/services/RecordSuite.ts"
import * as Database from "./RecordDatabase.ts"

const inDirectory = (durability: "power-loss" | "process-crash") =>
  Layer.unwrapScoped(
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "record-"))),
        (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
      ),
      (directory) => Record.layerFile({ directory, durability })
    )
  )

const layers = {
  memory: Record.layerMemory,
  "file, process crash": inDirectory("process-crash"),
  "file, power loss": inDirectory("power-loss")
}

afterAll(() => Database.closePool())

describe("Record", () => {
  for (const database of Database.databases) {
    const { missing, name } = database
    describe.skipIf(missing !== undefined)(`${name}${missing ?? ""}`, () => {
      const layer = Database.layer(database)
      for (const { effect, name } of RecordSuite.cases({ layer })) it.effect(name, () => effect)
    })
  }

  for (const [name, layer] of Object.entries(layers)) {
    describe(name, () => {
      for (const { effect, name } of RecordSuite.cases({ layer })) it.effect(name, () => effect)
    })
  }
})
