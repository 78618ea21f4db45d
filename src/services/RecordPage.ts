/**
 * A `RecordPage` is a part of the list of runs: newest first, by start and then by run id, each run on exactly one page
 * whatever is added meanwhile.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as RecordError from "./RecordError.ts"

export interface Options {
  readonly cursor?: string
  readonly limit?: number
}

/** What a run is sorted by. */
export interface Key {
  readonly runId: string
  readonly startedAt: number
}

export interface Page<K extends Key> {
  readonly rows: ReadonlyArray<K>
  readonly cursor?: string
}

const order = (a: Key, b: Key): number =>
  b.startedAt - a.startedAt || (a.runId < b.runId ? -1 : a.runId > b.runId ? 1 : 0)

const cursorOf = ({ runId, startedAt }: Key): string => `${startedAt}.${runId}`

const keyOf = (cursor: string): Key | undefined => {
  const [, startedAt, runId] = /^(0|[1-9]\d{0,15})\.(.*)$/s.exec(cursor) ?? []
  if (startedAt === undefined || runId === undefined || !RecordError.runIdGrammar.test(runId)) return undefined
  return { runId, startedAt: Number(startedAt) }
}

/** What the options ask for: `limit` runs behind the one that was listed last. */
export interface Query {
  readonly limit: number
  readonly last?: Key
}

export const query = (options: Options | undefined): Either.Either<Query, RecordError.RecordError> => {
  const limit = options?.limit ?? 50
  if (!Number.isSafeInteger(limit) || limit < 1) {
    return Either.left(RecordError.invalidOption("limit", "a whole number, at least 1", limit))
  }
  if (options?.cursor === undefined) return Either.right({ limit })
  const last = keyOf(options.cursor)
  if (last === undefined) {
    return Either.left(RecordError.invalidOption("cursor", "a cursor that a list returned", options.cursor))
  }
  return Either.right({ limit, last })
}

/** The first `limit` of these, with a cursor if there are more. */
export const cut = <K extends Key>(keys: ReadonlyArray<K>, limit: number): Page<K> => {
  const rows = keys.slice(0, limit)
  const end = rows.at(-1)
  return { rows, ...(end !== undefined && keys.length > limit ? { cursor: cursorOf(end) } : {}) }
}

/** The page that the options ask for, of all that there are. */
export const of = <K extends Key>(
  keys: ReadonlyArray<K>,
  options: Options | undefined
): Either.Either<Page<K>, RecordError.RecordError> =>
  Either.map(query(options), ({ last, limit }) =>
    cut((last === undefined ? [...keys] : keys.filter((key) => order(last, key) < 0)).sort(order), limit)
  )
