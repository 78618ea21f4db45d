/**
 * A `CrashScript` is what a process that will be stopped does, step by step: known beforehand to who judges what it left.
 * It is data, and imports nothing.
 */

/** The events of each append: one, then batches of one, two and three in turn. Each says which step it is. */
export const appends = (count: number): ReadonlyArray<ReadonlyArray<{ readonly [name: string]: unknown }>> =>
  Array.from({ length: count }, (_, step) =>
    step === 0
      ? [{ _tag: "RunStarted", runId: "run-1", agent: "clerk", manifest: { limits: { passes: 3 } }, input: "Which?" }]
      : Array.from({ length: 1 + (step % 3) }, (_, part) => ({
          _tag: "MessageReceived",
          content: `step ${step}, part ${part}: ä€😀 "\\ ${"x".repeat((step * 37) % 400)}`
        }))
  )

/** The bytes of each artifact. */
export const artifacts = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, step) => `artifact ${step} ${"y".repeat((step * 61) % 700)}`)
