/**
 * A `Program` is the default export of a file: an effect that may leave the services open that `run` provides.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as path from "node:path"
import { pathToFileURL } from "node:url"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"
import type * as ArtifactStore from "../services/ArtifactStore.ts"
import type * as Record from "../services/Record.ts"
import * as Complaint from "./Complaint.ts"
import * as Reference from "./Reference.ts"

export type Program = Effect.Effect<unknown, unknown, ArtifactStore.ArtifactStore | Record.Record>

// What an effect needs is in its type alone, which is gone here; a service that is missing when it runs is said then.
export const isProgram = (value: unknown): value is Program => Effect.isEffect(value)

/** What an export of a file has to be. */
export interface Wanted<A> {
  /** Its name, if it is not the default. */
  readonly name?: string
  readonly is: (value: unknown) => value is A
  /** As in: there is nothing to run. */
  readonly use: string
  /** As in: it is not an Effect. */
  readonly kind: string
  readonly example: string
}

const program: Wanted<Program> = {
  is: isProgram,
  use: "run",
  kind: "an Effect",
  example: 'Write: export default Agent.run(agent, "…")'
}

/** What a source looks like that has a default export, and what it may look like that has another. */
const exporting = {
  default:
    /\bexport\s+default\b|\bexport\s*\{[^}]*\bdefault\b|\bmodule\.exports\b|\bexports\.default\b|["']default["']/,
  any: /\bexports?\b/
}

/** Whether a source says that it has the export. Comments are not read; a text that looks like one is believed. */
const says = (source: string, name: string | undefined): boolean => {
  const code = source.replace(/\/\*[^]*?\*\/|(?<![:"'`\\])\/\/[^\n]*/g, "")
  return name === undefined ? exporting.default.test(code) : exporting.any.test(code) && code.includes(name)
}

/** The first lines of what a loader says, as one. */
export const reasonOf = (cause: unknown): string => {
  const told = Predicate.hasProperty(cause, "message") ? cause.message : cause
  const message = typeof told === "string" ? told : Problem.kindOf(told)
  const lines = message.split("\n").filter((line) => line.trim() !== "")
  return lines
    .slice(0, 3)
    .map((line) => line.trim())
    .join(" ")
}

const unloaded = (file: string, cause: unknown): Complaint.Complaint =>
  Complaint.unreadable(
    `${Printable.quote(file, 80)} could not be loaded: ${reasonOf(cause)}`,
    "Correct it and run it again; --debug prints where it failed.",
    { cause }
  )

/** A CommonJS module is the default export of itself. */
const defaultOf = (module: unknown): unknown => {
  if (!Predicate.hasProperty(module, "default")) return undefined
  const value = module.default
  return Predicate.hasProperty(value, "default") && !Effect.isEffect(value) ? value.default : value
}

/** Loads a file and gives an export of it. The file sees `rest` as its arguments. */
export const loadAs = <A>(
  wanted: Wanted<A>,
  file: string,
  rest: ReadonlyArray<string>
): Effect.Effect<A, Complaint.Complaint> =>
  Effect.gen(function* () {
    const { example, is, kind, name, use } = wanted
    const what = name === undefined ? "default export" : `export ${Printable.quote(name, 48)}`
    const bytes = yield* Reference.readFile(file)
    const named = Printable.quote(file, 80)
    const missing = Complaint.usage(`${named} has no ${what}, so there is nothing to ${use}.`, example)
    if (!says(new TextDecoder().decode(bytes), name)) return yield* Effect.fail(missing)
    const full = path.resolve(file)
    process.argv.splice(1, Infinity, full, ...rest)
    const module = yield* Effect.tryPromise({
      try: (): Promise<unknown> =>
        Promise.all([import("tsx/esm/api"), import("tsx/cjs/api")]).then(([esm, cjs]) => {
          // Not `tsImport`: that loads a second copy of Effect for the file, which takes as long as all the rest.
          esm.register()
          cjs.register()
          return import(pathToFileURL(full).href)
        }),
      catch: (cause) => unloaded(file, cause)
    })
    const value = exportOf(module, name)
    if (is(value)) return value
    if (name !== undefined && value === undefined) return yield* Effect.fail(missing)
    return yield* Effect.fail(Complaint.usage(`The ${what} of ${named} is not ${kind}.`, example))
  })

const exportOf = (module: unknown, name: string | undefined): unknown => {
  if (name === undefined) return defaultOf(module)
  if (Predicate.hasProperty(module, name)) return module[name]
  const whole = defaultOf(module)
  return Predicate.hasProperty(whole, name) ? whole[name] : undefined
}

/** Loads a file and gives its program. */
export const load = (file: string, rest: ReadonlyArray<string>): Effect.Effect<Program, Complaint.Complaint> =>
  loadAs(program, file, rest)
