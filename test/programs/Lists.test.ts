import * as Tool from "@effect/ai/Tool"
import { assert, describe, it } from "@effect/vitest"
import * as Lists from "../../src/programs/Lists.ts"

describe("Lists", () => {
  it("is on the record as it is declared, and absent where nothing is", () => {
    const lists = [{ field: "/orders/*", of: "order", readBy: [{ toolName: "order", argument: "id" }] as const }]
    assert.deepStrictEqual(Lists.of(Tool.make("user").annotate(Lists.Lists, lists)), { lists })
    assert.deepStrictEqual(Lists.of(Tool.make("user").annotate(Lists.Lists, [])), {})
    assert.deepStrictEqual(Lists.of(Tool.make("user")), {})
  })
})
