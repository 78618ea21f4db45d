/**
 * A `CassetteLLM` is a model whose replies are kept in a file, a cassette, and played back from it by the hash of the wire
 * that they answer: without a network, without a key, and the same every time. A wire that the cassette does not know is a
 * `CassetteDrift`, which names the first piece that differs from the nearest one that it knows.
 *
 * A cassette holds no text of a wire: the digests of its pieces, their ids, and the reply. A reply that holds a secret is not
 * written down.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Wire from "../kernel/Wire.ts"
import * as Cassette from "./Cassette.ts"
import * as CassetteFile from "./CassetteFile.ts"
import * as CassetteSecret from "./CassetteSecret.ts"
import * as LLM from "./LLM.ts"
import { failure, LLMError } from "./LLMError.ts"

/**
 * `replay` asks nobody. `record` asks the model each time and keeps the last reply to each wire. `auto` asks only for what
 * the cassette does not have.
 */
export type Mode = "record" | "replay" | "auto"

interface Common {
  /** The file: lines of JSON. Its directory is made if need be. */
  readonly path: string
  /**
   * Values that are never written down, as they are or encoded: a reply that holds one is passed on and not kept. Keys of
   * well-known shapes are found without being named.
   */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/** Plays back only. */
export interface Replay extends Common {
  readonly mode: "replay"
}

/** `model` is asked for what is to be recorded. With `auto`, it is built when something is missing, and not before. */
export interface Recording<E, R> extends Common {
  readonly mode: Mode
  readonly model: Layer.Layer<LLM.LLM, E, R>
}

const at = (slot: string, index: number): string => (slot === "parameters" ? slot : `${slot}[${index}]`)

const drifted = (path: string, cassette: Cassette.Cassette | undefined, asked: Cassette.Names): LLMError => {
  const where = `pass ${asked.pass}, cassette ${JSON.stringify(path)}`
  const next = 'Record it with mode "auto", or find out why the program asks otherwise.'
  if (cassette !== undefined && Cassette.find(cassette, asked.wire) !== undefined) {
    const what = "The reply to this wire was not kept: it held a secret."
    return failure("CassetteDrift", { what, where, next: "Take the secret out of the reply, and record it again." })
  }
  const what = `The cassette has no reply to the wire of pass ${asked.pass}.`
  const drift = cassette === undefined ? undefined : Cassette.drift(cassette, asked)
  if (drift === undefined) return failure("CassetteDrift", { what, where, found: "an empty cassette", next })
  const { index, line, pass, recorded, slot } = drift
  const place = at(slot, index)
  const named = (id: string | undefined): string => (id === undefined ? "nothing" : JSON.stringify(id))
  const isSamePiece = recorded !== undefined && recorded === drift.asked
  return failure("CassetteDrift", {
    what: `${what} It differs from the nearest one first at ${place}.`,
    where,
    expected: `${slot === "parameters" ? "the parameters" : `${named(recorded)} at ${place}`} of the wire in line ${line}, pass ${pass}`,
    found:
      slot === "parameters" ? "others" : isSamePiece ? `${named(drift.asked)} with other content` : named(drift.asked),
    next
  })
}

const notBuilt = (error: unknown): LLMError =>
  error instanceof LLMError
    ? error
    : failure("Misconfigured", { what: "The layer of the model that is to be recorded could not be built." })

/** All that a reply says, each text whole however it was streamed. */
const textsOf = (parts: ReadonlyArray<LLM.Part>): string => {
  const joined = (tag: "Text" | "Reasoning"): string =>
    parts.map((part) => (part._tag === tag ? part.delta : "")).join("")
  const args = parts.flatMap((part) => (part._tag === "ToolCall" ? [part.args] : []))
  return [joined("Text"), joined("Reasoning"), ...args, JSON.stringify(parts)].join("\n")
}

const headerOf = ({ answers, model }: typeof LLM.LLM.Service): Cassette.Header => ({
  cassette: 1,
  ...(model === undefined ? {} : { model }),
  ...(answers === undefined ? {} : { answers })
})

const missing = (path: string): LLMError =>
  failure("Misconfigured", {
    what: "There is no cassette to play back.",
    where: JSON.stringify(path),
    next: 'Record it with mode "auto", or correct the path.'
  })

const noPieces: Cassette.Names["pieces"] = { system: [], messages: [], tools: [] }

const make = <E, R>(
  options: Replay | Recording<E, R>
): Effect.Effect<typeof LLM.LLM.Service, LLMError | E, FileSystem.FileSystem | R | Scope.Scope> =>
  Effect.gen(function* () {
    const { mode, path, secrets = [] } = options
    const fs = yield* FileSystem.FileSystem
    const holds = CassetteSecret.finder(secrets)
    const turns = yield* Effect.makeSemaphore(1)
    let known = yield* CassetteFile.refresh(fs, path, undefined, mode !== "replay")

    const context = yield* Effect.context<R>()
    const scope = yield* Effect.scope
    const model =
      options.mode === "replay"
        ? undefined
        : yield* Layer.buildWithScope(options.model, scope).pipe(
            Effect.map(Context.get(LLM.LLM)),
            Effect.provide(context),
            Effect.cached
          )
    if (model === undefined && known === undefined) return yield* missing(path)
    // Who answers is on the first line; until it is written, the model says so itself.
    const asked = model !== undefined && (mode === "record" || known === undefined) ? yield* model : undefined
    const header = asked === undefined ? (known?.cassette.header ?? { cassette: 1 }) : headerOf(asked)

    const lookUp = (wire: string) =>
      Effect.gen(function* () {
        if (mode === "record") return undefined
        const held = known && Cassette.find(known.cassette, wire)
        if (held?.reply !== undefined || model === undefined) return held?.reply
        // Another process may have recorded it since.
        known = yield* CassetteFile.refresh(fs, path, known, true)
        return known && Cassette.find(known.cassette, wire)?.reply
      })

    const save = (names: Cassette.Names, reply: ReadonlyArray<LLM.Part>) =>
      Effect.gen(function* () {
        if (!Cassette.isWhole(reply)) return
        const isSecret = holds(`${textsOf(reply)}\n${JSON.stringify(names)}`)
        const { pass, wire } = names
        if (isSecret) yield* Effect.logWarning(`The reply of pass ${pass} holds a secret and was not kept.`)
        const exchange = isSecret ? { wire, pass, pieces: noPieces, parameters: {} } : { ...names, reply }
        known = yield* CassetteFile.add(fs, path, known, header, exchange, mode === "auto")
      }).pipe(turns.withPermits(1), Effect.uninterruptible)

    const record = (names: Cassette.Names, stream: Stream.Stream<LLM.Part, LLMError>) =>
      Stream.suspend(() => {
        const parts: Array<LLM.Part> = []
        const seen = Stream.mapChunks(stream, (chunk) => {
          for (const part of chunk) {
            // What came before a failed attempt's end is void.
            if (part._tag === "Retried") parts.length = 0
            else parts.push(part)
          }
          return chunk
        })
        return Stream.concat(seen, Stream.drain(Stream.fromEffect(Effect.suspend(() => save(names, parts)))))
      })

    const stream = (wire: Wire.Wire): Stream.Stream<LLM.Part, LLMError> =>
      Stream.unwrap(
        Effect.gen(function* () {
          const names = Cassette.names(wire)
          const reply = yield* lookUp(names.wire)
          if (reply !== undefined) return Stream.fromIterable(reply)
          if (model === undefined) return Stream.fail(drifted(path, known?.cassette, names))
          const llm = yield* Effect.mapError(model, notBuilt)
          return record(names, llm.stream(wire))
        })
      )
    const { answers, model: id } = header
    return LLM.LLM.of({
      stream,
      ...(id === undefined ? {} : { model: id }),
      ...(answers === undefined ? {} : { answers })
    })
  })

export function layer(options: Replay): Layer.Layer<LLM.LLM, LLMError, FileSystem.FileSystem>
export function layer<E, R>(
  options: Replay | Recording<E, R>
): Layer.Layer<LLM.LLM, LLMError | E, FileSystem.FileSystem | Exclude<R, Scope.Scope>>
export function layer<E, R>(
  options: Replay | Recording<E, R>
): Layer.Layer<LLM.LLM, LLMError | E, FileSystem.FileSystem | Exclude<R, Scope.Scope>> {
  return Layer.scoped(LLM.LLM, make(options))
}
