import { describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Record from "../../src/services/Record.ts"
import * as RecordSuite from "../../src/services/RecordSuite.ts"

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

describe("Record", () => {
  for (const [name, layer] of Object.entries(layers)) {
    describe(name, () => {
      for (const { effect, name } of RecordSuite.cases({ layer })) it.effect(name, () => effect)
    })
  }
})
