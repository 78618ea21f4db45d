/**
 * An `Onlooker` sees what comes of every run of an agent while it goes on, whoever started the run, and changes nothing.
 *
 * @internal
 */
import * as Context from "effect/Context"
import type * as Loop from "./Loop.ts"

/** It is called on the way of the run: what takes time is for later. */
export type See = (runId: string, progress: Loop.Progress) => void

export class Onlooker extends Context.Reference<Onlooker>()("wherefore/programs/Onlooker", {
  defaultValue: (): See | undefined => undefined
}) {}
