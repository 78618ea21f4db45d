/**
 * A `NoteKey` is one half of an Ed25519 key as the signed notes of C2SP write it: `name+id+key` is public,
 * `PRIVATE+KEY+name+id+key` is not. The id is the start of a hash of name and public key.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { createHash, createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign, verify } from "node:crypto"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"
import type { CheckpointError } from "./CheckpointError.ts"
import { failure } from "./CheckpointError.ts"

/** Whoever has it can check what the other half has signed. */
export interface Verifier {
  readonly name: string
  /** Four bytes, in hexadecimal digits. */
  readonly id: string
  readonly text: string
  readonly check: (text: string, signature: Uint8Array) => boolean
}

/** It can sign, and keeps to itself how. */
export interface Signer {
  readonly verifier: Verifier
  readonly sign: (text: string) => Uint8Array
}

/** The kind of a key: Ed25519. */
const kind = 0x01
const size = 32

/** A name is what a line can hold without doubt about where it ends. */
export const isName = (name: string): boolean => /^[^\s+]{1,128}$/u.test(name) && Printable.line(name) === name

/** Bytes from base64 that could not be written in another way. */
export const bytesOf = (text: string): Buffer | undefined => {
  const bytes = Buffer.from(text, "base64")
  return bytes.toString("base64") === text ? bytes : undefined
}

const idOf = (name: string, key: Uint8Array): string =>
  createHash("sha256").update(`${name}\n`).update(Buffer.of(kind)).update(key).digest("hex").slice(0, 8)

const invalid = (expected: string, found: string) => Either.left(failure("InvalidKey", { expected, found }))

const make = (name: string, key: KeyObject): Either.Either<Verifier, CheckpointError> => {
  const raw = Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url")
  const id = idOf(name, raw)
  const text = `${name}+${id}+${Buffer.concat([Buffer.of(kind), raw]).toString("base64")}`
  const check = (signed: string, signature: Uint8Array): boolean => verify(null, Buffer.from(signed), key, signature)
  return Either.right({ name, id, text, check })
}

const publicShape = "a public key, name+id+key"
const privateShape = "a private key, PRIVATE+KEY+name+id+key"

/** The parts of a key's text, after what it begins with. */
const partsOf = (text: string, expected: string) => {
  const [, name = "", id = "", encoded = ""] = /^([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/u.exec(text) ?? []
  const key = bytesOf(encoded)
  return !isName(name) || key === undefined || key.length !== size + 1 || key[0] !== kind
    ? invalid(expected, Problem.kindOf(text))
    : Either.right({ name, id, key: key.subarray(1) })
}

/** A key from its text. The public half is no secret: it is who is trusted. */
export const verifier = (text: string): Either.Either<Verifier, CheckpointError> =>
  Either.flatMap(partsOf(text, publicShape), ({ id, key, name }) => {
    if (idOf(name, key) !== id) return invalid("the id that follows from name and key", "another id")
    const jwk = { kty: "OKP", crv: "Ed25519", x: key.toString("base64url") }
    const made = Either.try(() => createPublicKey({ key: jwk, format: "jwk" }))
    return Either.isLeft(made) ? invalid(publicShape, "bytes that are no key") : make(name, made.right)
  })

/** What stands before the 32 bytes of a private key in PKCS #8 (RFC 8410). */
const pkcs8 = Buffer.from("302e020100300506032b657004220420", "hex")

const secretOf = (key: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8, key]), format: "der", type: "pkcs8" })

/** A private key from its text. */
export const signer = (secret: Redacted.Redacted): Either.Either<Signer, CheckpointError> => {
  const begin = "PRIVATE+KEY+"
  const text = Redacted.value(secret)
  if (!text.startsWith(begin)) return invalid(privateShape, Problem.kindOf(text))
  return Either.flatMap(partsOf(text.slice(begin.length), privateShape), ({ id, key, name }) => {
    const made = Either.try(() => secretOf(key))
    if (Either.isLeft(made)) return invalid(privateShape, "bytes that are no key")
    return Either.flatMap(make(name, createPublicKey(made.right)), (verifier) =>
      verifier.id === id
        ? Either.right({ verifier, sign: (signed: string) => sign(null, Buffer.from(signed), made.right) })
        : invalid("the id that follows from name and key", "another id")
    )
  })
}

/**
 * A new key: 32 random bytes (RFC 8032). They are of the platform's source for secrets, whatever a program is given for
 * others. Node's own generator of pairs is not used: a collection of garbage while such a key is exported locks for ever.
 */
export const generate = (name: string): Either.Either<Redacted.Redacted, CheckpointError> => {
  if (!isName(name)) {
    return invalid("a name of 1 to 128 characters, none of them a space or a plus", Problem.kindOf(name))
  }
  const seed = randomBytes(size)
  return Either.map(make(name, createPublicKey(secretOf(seed))), ({ id }) =>
    Redacted.make(`PRIVATE+KEY+${name}+${id}+${Buffer.concat([Buffer.of(kind), seed]).toString("base64")}`)
  )
}
