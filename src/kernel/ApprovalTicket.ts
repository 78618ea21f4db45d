/**
 * An `ApprovalTicket` is the digest of all that an approval is bound to. A call with other arguments, another definition of
 * its tool, or after another wire has another ticket.
 *
 * @internal
 */
import * as Digest from "./Digest.ts"

export interface Bound {
  readonly runId: string
  readonly iteration: number
  readonly toolCallId: string
  readonly argsDigest: string
  readonly toolDigest: string
  readonly seen: string
}

/** The digest of arguments, of their canonical JSON. */
export const argsDigest = (canonical: string): string => Digest.of(canonical)

/** It begins with a letter, so that it can be typed as a word of a command. */
export const of = ({ argsDigest, iteration, runId, seen, toolCallId, toolDigest }: Bound): string =>
  `apr_${Digest.of(JSON.stringify(["approval", runId, iteration, toolCallId, argsDigest, toolDigest, seen]))}`
