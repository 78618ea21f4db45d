/**
 * A `Notice` is a text of ours on the wire, in brackets that say whose it is: the task and the person's words are outside.
 *
 * @internal
 */

export const closing = "[End of notice]"

export const of = (about: string, lines: ReadonlyArray<string>): string =>
  [`[Notice from the framework, not part of the task: ${about}]`, ...lines, closing].join("\n")
