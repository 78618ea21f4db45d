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
const isProgram = (value: unknown): value is Program => Effect.isEffect(value)

/** What the default export of a file has to be. */
export interface Wanted<A> {
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

/** Whether a source says that it has a default export. Comments are not read; a text that looks like one is believed. */
const saysDefault = (source: string): boolean =>
  /\bexport\s+default\b|\bexport\s*\{[^}]*\bdefault\b|\bmodule\.exports\b|\bexports\.default\b|["']default["']/.test(
    source.replace(/\/\*[^]*?\*\/|(?<![:"'`\\])\/\/[^\n]*/g, "")
  )

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

/** Loads a file and gives its default export. The file sees `rest` as its arguments. */
export const loadAs = <A>(
  wanted: Wanted<A>,
  file: string,
  rest: ReadonlyArray<string>
): Effect.Effect<A, Complaint.Complaint> =>
  Effect.gen(function* () {
    const { example, is, kind, use } = wanted
    const bytes = yield* Reference.readFile(file)
    const named = Printable.quote(file, 80)
    if (!saysDefault(new TextDecoder().decode(bytes))) {
      return yield* Effect.fail(
        Complaint.usage(`${named} has no default export, so there is nothing to ${use}.`, example)
      )
    }
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
    const value = defaultOf(module)
    if (is(value)) return value
    return yield* Effect.fail(Complaint.usage(`The default export of ${named} is not ${kind}.`, example))
  })

/** Loads a file and gives its program. */
export const load = (file: string, rest: ReadonlyArray<string>): Effect.Effect<Program, Complaint.Complaint> =>
  loadAs(program, file, rest)
