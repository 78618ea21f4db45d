import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as LLM from "../../src/services/LLM.ts"
import * as LLMSuite from "../../src/services/LLMSuite.ts"

const scripted = (replies: LLM.Steps) =>
  LLM.layerLanguageModel().pipe(Layer.provideMerge(LLM.layerScriptedLanguageModel(replies)))

describe("LLM.layerLanguageModel over a script", () => {
  for (const { effect, name } of LLMSuite.cases({ layer: scripted })) it.effect(name, () => effect)
})
