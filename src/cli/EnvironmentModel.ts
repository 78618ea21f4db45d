/**
 * An `EnvironmentModel` is the model that the environment names, for programs that leave theirs open.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as LLM from "../services/LLM.ts"
import * as Complaint from "./Complaint.ts"

const variables = ["WHEREFORE_MODEL_URL", "WHEREFORE_MODEL"]

const isConfigured = (): boolean => variables.some((name) => (process.env[name] ?? "") !== "")

export const missing = Complaint.usage(
  "The program needs a model, and none is given.",
  "Set WHEREFORE_MODEL_URL and WHEREFORE_MODEL, or provide a layer of LLM in the file."
)

/** The model, or what to say if the program needs it. Built only if the environment names one. */
export const given = Effect.gen(function* () {
  if (!isConfigured()) return Either.left(missing)
  const built = yield* Effect.either(Layer.build(LLM.layerConfig))
  return Either.mapLeft(built, (error) => Complaint.ofProblem(2, error, error))
})
