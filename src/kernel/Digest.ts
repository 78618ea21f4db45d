/**
 * A `Digest` is the SHA-256 of a text's UTF-8 bytes, in the 43 characters of base64url without padding.
 *
 * @internal
 */
import { sha256 } from "@noble/hashes/sha2"
import { utf8ToBytes } from "@noble/hashes/utils"
import * as Encoding from "effect/Encoding"

export type Digest = string

/** The digest of one text. */
export const of = (text: string): Digest => Encoding.encodeBase64Url(sha256(utf8ToBytes(text)))

/** The digest of one text as hexadecimal digits. */
export const hex = (text: string): string => Encoding.encodeHex(sha256(utf8ToBytes(text)))

/** The digest of a list that grows: what came before, and what is new. `""` is the empty list. */
export const roll = (before: Digest, next: Digest): Digest => of(`${before}\n${next}`)
