/**
 * An `Endpoint` is where a provider's API is, and what is sent there with each request. What cannot be used is found
 * when a layer is built.
 *
 * @internal
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"
import { failure, type LLMError } from "./LLMError.ts"

export interface Given {
  readonly url: string
  readonly apiKey?: Redacted.Redacted
  readonly headers?: { readonly [name: string]: string | Redacted.Redacted }
}

export interface Endpoint {
  readonly url: string
  /** Empty if none was given. */
  readonly key: string
  readonly headers: { [name: string]: string }
  /** What no error may repeat. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/** What is wrong with a base URL. It is not repeated: it may hold credentials. */
const fault = (text: string): string | undefined => {
  if (!URL.canParse(text)) return "a text that is no URL"
  const url = new URL(text)
  if (url.protocol !== "http:" && url.protocol !== "https:") return `the scheme ${url.protocol}`
  if (url.username !== "" || url.password !== "") return "credentials in the URL"
  return url.search !== "" || url.hash !== "" ? "a query or a fragment in the URL" : undefined
}

/** What a header's value may hold, without the spaces at its ends that are cut from it. */
const sendable = /^[\x21-\x7e]*(?:[\t\x20]+[\x21-\x7e]+)*$/

const plain = (value: string | Redacted.Redacted): string =>
  Redacted.isRedacted(value) ? Redacted.value(value) : value

export const make = ({ apiKey, headers = {}, url }: Given): Effect.Effect<Endpoint, LLMError> =>
  Effect.gen(function* () {
    const found = fault(url)
    if (found !== undefined) {
      return yield* failure("Misconfigured", {
        what: "The URL of the model server cannot be used.",
        expected: "an http or https URL such as http://127.0.0.1:8080/v1, with secrets in apiKey or headers",
        found
      })
    }
    const key = apiKey === undefined ? "" : Redacted.value(apiKey)
    const plainHeaders = Object.entries(headers).map(([name, value]) => [name, plain(value)] as const)
    const unsendable = [["apiKey", key] as const, ...plainHeaders].find(([, value]) => !sendable.test(value))
    if (unsendable !== undefined) {
      return yield* failure("Misconfigured", {
        what: "A key or a header of the model server cannot be sent.",
        where: Printable.clip(Printable.line(unsendable[0]), 64),
        expected: "printable ASCII without line breaks",
        found: Problem.kindOf(unsendable[1])
      })
    }
    const secrets = [key, ...plainHeaders.map(([, value]) => value)].map((value) => Redacted.make(value))
    return { url, key, headers: Object.fromEntries(plainHeaders), secrets }
  })

/** The key that was given, or the one of the environment. */
export const key = (
  given: Redacted.Redacted | undefined,
  variable: string
): Effect.Effect<Redacted.Redacted, LLMError> =>
  given === undefined
    ? Effect.mapError(Config.redacted(Config.nonEmptyString(variable)), () =>
        failure("Misconfigured", {
          what: "There is no API key for the provider.",
          where: variable,
          expected: "a value that is not empty",
          next: `Set ${variable}, or give the layer an apiKey.`
        })
      )
    : Effect.succeed(given)

/** A provider package, which is installed only by those who use it. */
export const load = <A>(name: string, major: number, load: () => Promise<A>): Effect.Effect<A, LLMError> =>
  Effect.tryPromise({
    try: load,
    catch: () =>
      failure("Misconfigured", {
        what: `The package ${name} cannot be loaded.`,
        next: `Install it: npm install ${name}@${major}`
      })
  })
