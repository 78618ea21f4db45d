/**
 * A `DatabaseUrl` names a database on the command line. It may have a password anywhere, so that only what is ours of it is
 * ever shown.
 */
import * as Cause from "effect/Cause"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Complaint from "./Complaint.ts"
import * as Program from "./Program.ts"
import type * as Terminal from "./Terminal.ts"

/** `secrets` are what must not be seen of `url`; `shown` is what may. */
export interface DatabaseUrl {
  readonly url: string
  readonly shown: string
  readonly secrets: ReadonlyArray<string>
}

const decoded = (text: string): string =>
  Either.getOrElse(
    Either.try(() => decodeURIComponent(text)),
    () => text
  )

/** A URL of PostgreSQL; nothing, if it is none. */
export const postgres = (word: string): DatabaseUrl | undefined => {
  const url = Either.getOrUndefined(Either.try(() => new URL(word)))
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol)) return undefined
  const { hostname, password, pathname, port } = url
  const values = Array.from(url.searchParams.values())
  const secrets = [word, password, decoded(password), ...values].filter((secret) => secret !== "")
  return { url: word, secrets, shown: `postgres://${hostname}${port === "" ? "" : `:${port}`}${pathname}` }
}

/** Says things without what must not be seen. */
export type Hide = (text: string) => string

export const hide =
  (secrets: ReadonlyArray<string>): Hide =>
  (text) =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, "***"), text)

export const hidden = (hide: Hide, { cause, ...said }: Complaint.Complaint): Complaint.Complaint => ({
  ...said,
  what: hide(said.what),
  next: hide(said.next),
  ...(cause === undefined
    ? {}
    : { cause: hide(Cause.isCause(cause) ? Cause.pretty(cause, { renderErrorCause: true }) : Program.reasonOf(cause)) })
})

export const hiding = (hide: Hide, terminal: Terminal.Terminal): Terminal.Terminal => ({
  ...terminal,
  progress: (lines) => terminal.progress(lines.map((line) => line.map((span) => ({ ...span, text: hide(span.text) }))))
})

/** What a database or a socket says of why it cannot be reached: a code at best, which is never a secret. */
export const codeOf = (error: unknown): string => {
  const inner = Predicate.hasProperty(error, "cause") ? error.cause : error
  const said = Predicate.hasProperty(inner, "code") ? inner.code : undefined
  return typeof said === "string" ? ` (${said})` : ""
}

export const unreached =
  (shown: string) =>
  (cause: unknown): Complaint.Complaint =>
    Complaint.unreadable(
      `The database ${shown} could not be used${codeOf(cause)}.`,
      "See that it is up, that the name and the password are right, and that tables may be made in it.",
      { cause }
    )
