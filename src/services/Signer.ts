/**
 * A `Signer` signs checkpoints with a key that it keeps to itself: one from a file, or one that never leaves its device.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type { CheckpointError } from "./CheckpointError.ts"
import * as NoteKey from "./NoteKey.ts"

export class Signer extends Context.Tag("wherefore/services/Signer")<
  Signer,
  {
    /** The public half, `name+id+key`: what those who check are told to trust. */
    readonly verifier: string
    /** The Ed25519 signature of a text's UTF-8: 64 bytes. */
    readonly sign: (text: string) => Effect.Effect<Uint8Array, CheckpointError>
  }
>() {}

/** Signs with a key that this process holds, `PRIVATE+KEY+name+id+key`. Fails with `InvalidKey`. */
export const layer = (key: Redacted.Redacted): Layer.Layer<Signer, CheckpointError> =>
  Layer.effect(
    Signer,
    Effect.map(NoteKey.signer(key), ({ sign, verifier }) =>
      Signer.of({ verifier: verifier.text, sign: (text) => Effect.sync(() => sign(text)) })
    )
  )

/** A new key and its public half. The name is best a URL without its scheme, such as `example.org/agents`. */
export const generate = (
  name: string
): Effect.Effect<{ readonly key: Redacted.Redacted; readonly verifier: string }, CheckpointError> =>
  Effect.suspend(() =>
    Either.flatMap(NoteKey.generate(name), (key) =>
      Either.map(NoteKey.signer(key), ({ verifier }) => ({ key, verifier: verifier.text }))
    )
  )
