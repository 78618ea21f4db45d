/**
 * An `S3Connection` is a bucket that artifacts can be kept in: what a user says of it, checked, and how it is reached.
 *
 * @internal
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Problem from "../kernel/Problem.ts"
import * as ArtifactPut from "./ArtifactPut.ts"
import { type ArtifactStoreError, failure } from "./ArtifactStoreError.ts"
import * as S3Answer from "./S3Answer.ts"
import * as S3Bucket from "./S3Bucket.ts"
import * as S3Http from "./S3Http.ts"
import * as S3Signer from "./S3Signer.ts"

export interface Options {
  /** The URL of the object store, such as `https://s3.eu-central-1.amazonaws.com`. The bucket is the first of its path. */
  readonly endpoint: string
  readonly bucket: string
  /** `us-east-1` if absent, which stores that have no regions take. */
  readonly region?: string
  /** What the keys of all objects begin with, such as `agents/artifacts`. Nothing else may write there. */
  readonly prefix?: string
  /** Credentials, or an effect that is asked for them before each request, for those that expire. */
  readonly credentials: S3Signer.Credentials | Effect.Effect<S3Signer.Credentials, ArtifactStoreError>
  /** How long one try of a request may take, with its bodies; a piece of a stream, if it is one. A minute if absent. */
  readonly timeout?: Duration.DurationInput
  /** When to try again what may succeed. Four times within about three seconds if absent. */
  readonly retry?: Schedule.Schedule<unknown>
  /** How many bytes of a stream are held, and sent at once: 5 MiB to 5 GiB, and 8 MiB if absent. */
  readonly partBytes?: number
  /** `false` for a store that refuses `If-None-Match`. Then two artifacts of one name are not told apart. */
  readonly conditionalWrites?: boolean
}

export interface Connection {
  readonly bucket: S3Bucket.Bucket
  /** What every key begins with: nothing, or a text that ends with a slash. */
  readonly root: string
  readonly partBytes: number
  /** The store's time, as far as it is known, in milliseconds since the epoch. */
  readonly now: Effect.Effect<number>
}

const mebi = 1_024 * 1_024

const usual = Schedule.exponential("200 millis").pipe(Schedule.jittered, Schedule.intersect(Schedule.recurs(4)))

/** What is wrong with the URL. It is not repeated: it may hold credentials. */
const endpointFault = (text: unknown): string | undefined => {
  if (typeof text !== "string" || !URL.canParse(text)) return "what is no URL"
  const url = new URL(text)
  if (url.protocol !== "http:" && url.protocol !== "https:") return "another scheme"
  if (url.username !== "" || url.password !== "") return "credentials in the URL"
  return url.search !== "" || url.hash !== "" ? "a query or a fragment in the URL" : undefined
}

/** Every segment is one that no server and no proxy takes for something else. */
const isPrefix = (text: string): boolean =>
  text === "" || (text.length <= 512 && text.split("/").every((name) => /^(?!\.+$)[A-Za-z0-9._-]+$/.test(name)))

const isBucket = (text: unknown): text is string =>
  typeof text === "string" && /^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/.test(text) && !text.includes("..")

/** A header takes it as it is. */
const isKey = (value: unknown): boolean =>
  Redacted.isRedacted(value) &&
  typeof Redacted.value(value) === "string" &&
  /^[\x21-\x7e]+$/.test(String(Redacted.value(value)))

const credentialsFault = (given: unknown): ArtifactStoreError | undefined => {
  const refuse = (field: string) =>
    ArtifactPut.invalid(`credentials.${field}`, "a Redacted text of printable ASCII", "something else")
  if (!Predicate.isRecord(given)) return refuse("accessKeyId")
  if (!isKey(given.accessKeyId)) return refuse("accessKeyId")
  if (!isKey(given.secretAccessKey)) return refuse("secretAccessKey")
  return given.sessionToken === undefined || isKey(given.sessionToken) ? undefined : refuse("sessionToken")
}

const fault = ({ bucket, endpoint, partBytes = 8 * mebi, prefix = "", region = "us-east-1" }: Options) => {
  const found = endpointFault(endpoint)
  if (found !== undefined) return ArtifactPut.invalid("endpoint", "an http or https URL without secrets", found)
  if (!isBucket(bucket)) return ArtifactPut.invalid("bucket", "the name of a bucket", Problem.kindOf(bucket))
  if (typeof region !== "string" || !/^[A-Za-z0-9-]{1,64}$/.test(region)) {
    return ArtifactPut.invalid("region", "the name of a region", Problem.kindOf(region))
  }
  if (typeof prefix !== "string" || !isPrefix(prefix)) {
    return ArtifactPut.invalid(
      "prefix",
      "names of letters, digits and . - _, parted by a slash, without one at either end, of 512 characters at most",
      Problem.kindOf(prefix)
    )
  }
  return Number.isSafeInteger(partBytes) && partBytes >= 5 * mebi && partBytes <= 5_120 * mebi
    ? undefined
    : ArtifactPut.invalid("partBytes", "5 MiB to 5 GiB", Problem.kindOf(partBytes))
}

/** A package that is there if the user installed it. */
const loaded = <A>(load: () => Promise<A>) =>
  Effect.tryPromise({
    try: load,
    catch: () =>
      failure("NotConfigured", {
        what: "The packages aws4fetch and fast-xml-parser cannot be loaded.",
        next: "Install them: npm install aws4fetch@1 fast-xml-parser@5"
      })
  })

/** Nothing is sent yet. */
export const open = (options: Options): Effect.Effect<Connection, ArtifactStoreError, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const wrong = fault(options)
    if (wrong !== undefined) return yield* wrong
    const {
      bucket,
      conditionalWrites = true,
      endpoint,
      partBytes = 8 * mebi,
      prefix = "",
      region = "us-east-1"
    } = options
    const given = Effect.isEffect(options.credentials) ? options.credentials : Effect.succeed(options.credentials)
    const credentials = Effect.flatMap(given, (found) => credentialsFault(found) ?? Effect.succeed(found))
    if (!Effect.isEffect(options.credentials)) yield* credentials
    const { AwsV4Signer } = yield* loaded(() => import("aws4fetch"))
    const { XMLParser } = yield* loaded(() => import("fast-xml-parser"))
    const parser = new XMLParser(S3Answer.options)
    const signer = S3Signer.make(AwsV4Signer, { url: `${endpoint.replace(/\/+$/, "")}/${bucket}`, region, credentials })
    const http = S3Http.make({
      client: yield* HttpClient.HttpClient,
      parser,
      signer,
      timeout: Duration.decode(options.timeout ?? "1 minute"),
      retry: options.retry ?? usual
    })
    return {
      bucket: S3Bucket.make({ conditionalWrites, http, parser }),
      root: prefix === "" ? "" : `${prefix}/`,
      partBytes,
      now: signer.now
    }
  })
