/**
 * An `S3Answer` is what an object store says in XML, as far as a store of artifacts has to understand it.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as S3Fault from "./S3Fault.ts"

/** How the parser is to be made: every value is a text, and what may be there more than once is a list. */
export const options = {
  ignoreAttributes: true,
  removeNSPrefix: true,
  parseTagValue: false,
  trimValues: false,
  isArray: (name: string): boolean => name === "Contents" || name === "Upload"
}

/** `XMLParser` of `fast-xml-parser`, as far as it is used here: who has no bucket has not the types of that package. */
export interface Parser {
  readonly parse: (document: string) => unknown
}

const text = Schema.optionalWith(Schema.String, { exact: true })

/** A key, and when the store last wrote it. */
const Listed = Schema.Struct({ Key: Schema.String, LastModified: text })

const list = <A, I>(item: Schema.Schema<A, I>) => Schema.optionalWith(Schema.Array(item), { default: () => [] })

export const Objects = Schema.Struct({
  ListBucketResult: Schema.Struct({ IsTruncated: text, NextContinuationToken: text, Contents: list(Listed) })
})

export const Uploads = Schema.Struct({
  ListMultipartUploadsResult: Schema.Struct({
    IsTruncated: text,
    NextKeyMarker: text,
    NextUploadIdMarker: text,
    Upload: list(Schema.Struct({ Key: Schema.String, UploadId: Schema.NonEmptyString, Initiated: text }))
  })
})

export const Begun = Schema.Struct({
  InitiateMultipartUploadResult: Schema.Struct({ UploadId: Schema.NonEmptyString })
})

export const Completed = Schema.Struct({ CompleteMultipartUploadResult: Schema.Struct({ Key: text }) })

const Refused = Schema.Struct({ Error: Schema.Struct({ Code: text, Region: text }) })

const toText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** The store has no use for a document type; one that is there is an attack on the parser. */
const toValue = (parser: Parser, bytes: Uint8Array): Either.Either<unknown, S3Fault.S3Fault> => {
  const document = toText(bytes)
  if (/<!DOCTYPE/i.test(document)) return Either.left(S3Fault.strange("a document type"))
  return Either.try({
    try: (): unknown => parser.parse(document),
    catch: () => S3Fault.strange(`${bytes.length} bytes that are not XML`)
  })
}

/** What a refusal says, if it is one of the protocol. */
export const refusal = (parser: Parser, bytes: Uint8Array): Omit<S3Fault.Answer, "status"> | undefined =>
  Option.getOrUndefined(
    Option.map(
      Option.flatMap(Either.getRight(toValue(parser, bytes)), Schema.decodeUnknownOption(Refused)),
      ({ Error: { Code, Region } }) => ({ code: Code?.trim(), region: Region?.trim() })
    )
  )

/** What a success says. One that holds a refusal is that refusal. */
export const read =
  <A, I>(schema: Schema.Schema<A, I>) =>
  (parser: Parser, bytes: Uint8Array): Either.Either<A, S3Fault.S3Fault> =>
    Either.flatMap(toValue(parser, bytes), (value) =>
      Either.mapLeft(Schema.decodeUnknownEither(schema)(value), () => {
        const refused = refusal(parser, bytes)
        return refused === undefined
          ? S3Fault.strange(`${bytes.length} bytes of XML that say something else`)
          : S3Fault.ofAnswer({ status: 500, ...refused })
      })
    )
