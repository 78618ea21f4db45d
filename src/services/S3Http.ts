/**
 * `S3Http` is how requests go to an object store and answers come back: signed, within a time and a size, and again if
 * that can help.
 *
 * @internal
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as S3Answer from "./S3Answer.ts"
import * as S3Fault from "./S3Fault.ts"
import type { Signer, Unsigned } from "./S3Signer.ts"

export interface Options {
  readonly client: HttpClient.HttpClient
  readonly signer: Signer
  readonly parser: S3Answer.Parser
  /** How long one try may take, with its bodies. */
  readonly timeout: Duration.Duration
  readonly retry: Schedule.Schedule<unknown, S3Fault.S3Fault>
}

export interface Answered {
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body: Uint8Array
}

type Result<A> = Effect.Effect<A, S3Fault.S3Fault>

/** The longest answer in XML: a page of a thousand keys has a megabyte. */
const maxDocument = 16 * 1_024 * 1_024

const join = (pieces: ReadonlyArray<Uint8Array>, size: number): Uint8Array => {
  const whole = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** The bytes of a body; one that is not there has none. */
const bytesOf = ({ stream }: HttpClientResponse.HttpClientResponse) =>
  Stream.catchAll(stream, (error) => (error.reason === "EmptyBody" ? Stream.empty : Stream.fail(error)))

/** A body, or the beginning of one that has more than `max` bytes. One that breaks off is a fault. */
const collect = (
  response: HttpClientResponse.HttpClientResponse,
  declared: number,
  max = maxDocument
): Result<Uint8Array> =>
  Effect.gen(function* () {
    const pieces: Array<Uint8Array> = []
    let size = 0
    yield* Stream.runForEachWhile(bytesOf(response), (piece) =>
      Effect.sync(() => {
        pieces.push(piece)
        size += piece.length
        return size <= max
      })
    ).pipe(Effect.mapError(() => S3Fault.cut(`${size} bytes and no end`)))
    return size < declared && size <= max ? yield* S3Fault.cut(`${size} of ${declared} bytes`) : join(pieces, size)
  })

/** How many bytes an answer says that it has. One to a HEAD says it of a body that it has not. */
const declaredBy = ({ headers }: HttpClientResponse.HttpClientResponse, { method }: Unsigned): number =>
  method === "HEAD" || headers["content-encoding"] !== undefined ? 0 : Number(headers["content-length"] ?? 0)

/** A redirection would take the request, and what it is signed with, to another server. */
const direct = Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" })

// A span would have the key in it, and with it the tenant; and the store has no use for the names of ours.
const quiet = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  client.pipe(
    HttpClient.withTracerDisabledWhen(() => true),
    HttpClient.withTracerPropagation(false)
  )

export const make = ({ client, parser, retry, signer, timeout }: Options) => {
  const quietly = quiet(client)

  const asked = (request: Unsigned): Result<HttpClientResponse.HttpClientResponse> =>
    Effect.flatMap(signer.sign(request), (signed) =>
      Effect.mapError(direct(quietly.execute(signed)), () => S3Fault.unreachable)
    )

  const isGood = ({ status }: HttpClientResponse.HttpClientResponse): boolean => status >= 200 && status < 300

  /** What an answer that is no success comes to. `skewed` is told once the store's time is known. */
  const refused = (request: Unsigned, response: HttpClientResponse.HttpClientResponse): Result<never> =>
    Effect.gen(function* () {
      const { headers, status } = response
      const body = yield* collect(response, declaredBy(response, request))
      // There is no body to say that nothing is there.
      const answer =
        request.method === "HEAD" && status === 404 ? { code: "NoSuchKey" } : S3Answer.refusal(parser, body)
      const fault = S3Fault.ofAnswer({ status, ...answer })
      if (fault.kind === "skewed") yield* signer.follow(headers.date)
      return yield* fault
    })

  const inTime = <A>(effect: Result<A>): Result<A> =>
    Effect.timeoutFail(effect, { duration: timeout, onTimeout: () => S3Fault.late(Duration.toMillis(timeout)) })

  /** Tries again as the schedule says, and at once with the store's time where it did not take ours. */
  const again = <A>(once: Result<A>): Result<A> =>
    Effect.suspend(() => {
      let isAmbiguous = false
      return Effect.catchIf(
        once,
        ({ kind }) => kind === "skewed",
        () => once
      ).pipe(
        Effect.tapError((fault) => Effect.sync(() => (isAmbiguous ||= fault.isAmbiguous))),
        Effect.retry({ schedule: retry, while: ({ isTransient }) => isTransient }),
        Effect.mapError((fault) => (isAmbiguous ? S3Fault.unsure(fault) : fault))
      )
    })

  /** A whole answer, or the beginning of one that has more than `max` bytes. */
  const send = (request: Unsigned, max = maxDocument): Result<Answered> =>
    again(
      inTime(
        Effect.flatMap(asked(request), (response) =>
          isGood(response)
            ? Effect.map(collect(response, declaredBy(response, request), max), (body) => ({
                headers: response.headers,
                body
              }))
            : refused(request, response)
        )
      )
    )

  /** The body of an answer, a piece at a time, each of them within the time. */
  const stream = (request: Unsigned): Stream.Stream<Uint8Array, S3Fault.S3Fault> =>
    Stream.unwrap(
      again(
        inTime(
          Effect.flatMap(asked(request), (response) =>
            isGood(response)
              ? Effect.succeed(pieces(response, declaredBy(response, request)))
              : refused(request, response)
          )
        )
      )
    )

  const pieces = (response: HttpClientResponse.HttpClientResponse, declared: number) =>
    Stream.suspend(() => {
      let size = 0
      const counted = Stream.map(
        Stream.mapError(bytesOf(response), () => S3Fault.cut("no end")),
        (piece) => {
          size += piece.length
          return piece
        }
      )
      const ended = Stream.suspend(() =>
        size < declared ? Stream.fail(S3Fault.cut(`${size} of ${declared} bytes`)) : Stream.empty
      )
      return Stream.timeoutFail(Stream.concat(counted, ended), () => S3Fault.late(Duration.toMillis(timeout)), timeout)
    })

  return { send, stream }
}

export type Http = ReturnType<typeof make>
