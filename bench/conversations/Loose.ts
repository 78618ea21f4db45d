/** Looks into JSON whose shape nobody promised: what is not there is empty. */
import { Json } from "wherefore"
import * as Either from "effect/Either"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

export type Fields = { readonly [key: string]: unknown }

export const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
export const fields = (value: unknown): Fields => (isObject(value) ? value : {})
export const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
export const objects = (value: unknown): ReadonlyArray<Fields> => list(value).map(fields)
export const text = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)

/** The value that a text is the JSON of; the text itself where it is no JSON. */
export const inner = (value: unknown): unknown =>
  typeof value === "string" ? Either.getOrElse(Json.parse(value), () => value) : value

export const files = (folder: string, ending: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .toSorted()
    .map((name) => join(folder, name))

export const parse = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"))
