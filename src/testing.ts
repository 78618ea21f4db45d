/**
 * What tests of agents and of layers are made with: the scripted model, the deterministic clock, and what every layer of a
 * port promises, as cases that any test framework can run.
 *
 * @since 0.1.0
 */
export * as ArtifactStoreSuite from "./services/ArtifactStoreSuite.ts"
export * as Clock from "./services/Clock.ts"
export * as Entropy from "./services/Entropy.ts"
export * as LLMSuite from "./services/LLMSuite.ts"
export * as RecordSuite from "./services/RecordSuite.ts"
export {
  byPass,
  call,
  fail,
  layerCassette,
  layerScripted,
  layerScriptedLanguageModel,
  say,
  Script,
  ScriptIncomplete,
  together
} from "./services/LLM.ts"
export type { Call, Chooser, Fault, Line, Options, Step, Steps } from "./services/ScriptedLLM.ts"
