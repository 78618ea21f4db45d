/**
 * Stores a stream of 100 MB in the layer that is named, and prints how many mebibytes the process grew by at most above what
 * it had idle. A program of `artifacts.ts`.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { rows } from "./ArtifactLayers.ts"

const piece = new Uint8Array(65_536).map((_, n) => n % 251)

const row = rows.find(({ name }) => name === process.argv[2])
if (row === undefined) throw new Error("No layer has that name.")

await row.use(async ({ store: { putStream } }) => {
  let most = 0
  const put = (pieces: number) => {
    const body = Stream.repeatEffect(
      Effect.sync(() => {
        most = Math.max(most, process.memoryUsage.rss())
        return piece
      })
    ).pipe(Stream.take(pieces))
    const input = { kind: "bench", mediaType: "text/plain", bytes: pieces * piece.length, body }
    return Effect.runPromise(putStream!({ conversationId: "bench" }, input))
  }
  // Code that was never used is no part of what a stream needs.
  await put(16)
  globalThis.gc?.()
  const idle = process.memoryUsage.rss()
  most = idle
  await put(Math.ceil(100_000_000 / piece.length))
  console.log(((most - idle) / 1_048_576).toFixed(1))
})
