/**
 * An `S3Fault` is how one request to an object store failed, and what there is to do about it. It repeats nothing of a
 * request: a key has the tenant in it, and a header what the request was signed with.
 *
 * @internal
 */
import * as Data from "effect/Data"
import { type ArtifactStoreError, type Details, failure } from "./ArtifactStoreError.ts"

/**
 * `absent`: nothing is under the key. `exists`: something is, and the write was for nothing. `no-upload`: the upload has
 * ended. `skewed`: the clocks are too far apart. `failed`: all else.
 */
export type Kind = "absent" | "exists" | "no-upload" | "skewed" | "failed"

export class S3Fault extends Data.TaggedError("S3Fault")<{
  readonly kind: Kind
  /** Whether the same request may succeed. */
  readonly isTransient: boolean
  /** Whether this or an earlier try may have been carried out all the same. */
  readonly isAmbiguous: boolean
  readonly error: ArtifactStoreError
}> {}

const fault = (
  kind: Kind,
  details: Details,
  { isAmbiguous = false, isTransient = false }: { readonly isTransient?: boolean; readonly isAmbiguous?: boolean } = {}
): S3Fault =>
  new S3Fault({
    kind,
    isTransient,
    isAmbiguous,
    error: failure("Unavailable", {
      retry: isTransient ? "safe-with-same-key" : "after-human",
      ...details
    })
  })

/** What an answer says that is no success. `code` and `region` are what the store wrote, or nothing. */
export interface Answer {
  readonly status: number
  readonly code?: string | undefined
  readonly region?: string | undefined
}

const refused = "The object store refused a request."

const keys = "Check accessKeyId, secretAccessKey, sessionToken and region."

/** By the code of the answer: what is to be done about it. */
const nextOf: { readonly [code: string]: string } = {
  InvalidAccessKeyId: keys,
  SignatureDoesNotMatch: keys,
  InvalidToken: keys,
  ExpiredToken: "Give the store new credentials; an effect that fetches them is asked before each request.",
  AccessDenied:
    "Let these credentials list the bucket, get, put and delete its objects, and abort and list its multipart uploads.",
  NoSuchBucket: "Make the bucket, or correct its name.",
  QuotaExceeded: "Make room in the bucket, or raise its quota.",
  EntityTooLarge: "Store less at once, or a stream: it is sent in parts.",
  NotImplemented: "If the store has no conditional writes, set conditionalWrites to false."
}

const byStatus = (status: number): string => {
  if (status === 401 || status === 403) return keys
  if (status === 404) return "Check that the endpoint is that of an object store."
  if (status >= 300 && status < 400) return "Set endpoint and region to those of the bucket."
  if (status === 413) return nextOf.EntityTooLarge ?? ""
  if (status === 501) return nextOf.NotImplemented ?? ""
  return status === 507 ? "Make room in the object store." : "Look at what the object store logs of the request."
}

const transientCodes = new Set(["RequestTimeout", "OperationAborted", "ConditionalRequestConflict", "SlowDown"])

const transientStatuses = new Set([408, 425, 429, 500, 502, 503, 504])

/** The codes that say something to who reads an error, besides those that say what to do. */
const otherCodes = new Set([
  "NoSuchKey",
  "NoSuchUpload",
  "RequestTimeTooSkewed",
  "AllAccessDisabled",
  "AuthorizationHeaderMalformed",
  "BadDigest",
  "InternalError",
  "InvalidArgument",
  "InvalidPart",
  "InvalidRequest",
  "InvalidBucketName",
  "KeyTooLongError",
  "MalformedXML",
  "MethodNotAllowed",
  "PermanentRedirect",
  "PreconditionFailed",
  "ServiceUnavailable",
  "TemporaryRedirect",
  "XAmzContentSHA256Mismatch"
])

/** A store knows the names of what it is sent, and what a request was signed with; what is no known code is not repeated. */
const codeIn = (text = ""): string | undefined =>
  Object.hasOwn(nextOf, text) || transientCodes.has(text) || otherCodes.has(text) ? text : undefined

const regionIn = (text = ""): string | undefined =>
  /^[a-z]{2}(?:-[a-z]{2,10}){1,3}-\d{1,2}$/.test(text) ? text : undefined

/** The fault of an answer. */
export const ofAnswer = (answer: Answer): S3Fault => {
  const { status } = answer
  const [code, region] = [codeIn(answer.code), regionIn(answer.region)]
  const found = code === undefined ? `status ${status}` : `status ${status}, ${code}`
  if (code === "NoSuchKey") return fault("absent", { what: refused, found })
  if (code === "NoSuchUpload") {
    return fault("no-upload", {
      what: "The object store has dropped what was sent of the artifact.",
      found,
      next: "Store the artifact again.",
      retry: "safe-with-same-key"
    })
  }
  if (status === 412)
    return fault("exists", { what: "Something is under the key that the artifact was to have.", found })
  if (code === "RequestTimeTooSkewed") {
    return fault("skewed", {
      what: "The object store does not take the time of this machine.",
      found,
      next: "Set the clock of this machine, or that of the object store."
    })
  }
  if (region !== undefined && (status === 301 || status === 400)) {
    return fault("failed", { what: refused, found, next: `Set region to ${region}.` })
  }
  if (transientStatuses.has(status) || (code !== undefined && transientCodes.has(code))) {
    return fault(
      "failed",
      {
        what: "The object store is too busy, or does not work.",
        found,
        next: "Try again later; send less at once if it goes on."
      },
      { isTransient: true, isAmbiguous: status >= 500 }
    )
  }
  const next = code === undefined ? undefined : nextOf[code]
  return fault("failed", { what: refused, found, next: next ?? byStatus(status) })
}

/** The fault of a request that had no answer. */
export const unreachable = fault(
  "failed",
  {
    what: "The object store could not be reached, or broke off.",
    next: "Check the endpoint and the network, and try again."
  },
  { isTransient: true, isAmbiguous: true }
)

export const late = (ms: number): S3Fault =>
  fault(
    "failed",
    {
      what: "The object store did not answer in time.",
      found: `nothing after ${ms} ms`,
      next: "Try again later, or give it more time: timeout."
    },
    { isTransient: true, isAmbiguous: true }
  )

/** The fault of an answer that ended before it was whole. */
export const cut = (found: string): S3Fault =>
  fault(
    "failed",
    {
      what: "An answer of the object store broke off.",
      found,
      next: "Check what stands between this machine and the object store, and try again."
    },
    { isTransient: true, isAmbiguous: true }
  )

/** The fault of a success that says something else than it should. It may be one all the same. */
export const strange = (found: string): S3Fault =>
  fault(
    "failed",
    {
      what: "The object store gave an answer that is not one of the protocol.",
      found,
      next: "Check that the endpoint is that of an object store that speaks S3."
    },
    { isAmbiguous: true }
  )

/** The fault of a request that could not be sent at all. */
export const unsendable = fault("failed", {
  what: "A request to the object store could not be signed.",
  next: keys
})

/** The same fault, of a request of which an earlier try may have been carried out. */
export const unsure = ({ error, isTransient, kind }: S3Fault): S3Fault =>
  new S3Fault({ kind, isTransient, isAmbiguous: true, error })

/** The fault of a request for which there are no credentials. */
export const of = (error: ArtifactStoreError): S3Fault =>
  new S3Fault({ kind: "failed", isTransient: false, isAmbiguous: false, error })
