/**
 * An `Offer` is the last piece of a wire: which skills can be picked now, with the version that a pick is judged by.
 *
 * @internal
 */
import * as Notice from "./Notice.ts"
import * as SafeId from "./SafeId.ts"

/** The id of the piece, reserved. */
export const id = "wherefore:offer"

/** What can be picked, or nothing if nothing can. */
export const render = (offerVersion: string, ids: ReadonlyArray<string>): string | undefined =>
  ids.length === 0
    ? undefined
    : Notice.of(`skills, offer ${offerVersion}`, [
        `read_skill can load: ${SafeId.list(ids)}. You may ignore this notice.`
      ])
