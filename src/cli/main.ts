#!/usr/bin/env node
/**
 * The command `wherefore`. A verb's code is loaded when it runs, so that the version, the help and a mistake come at once.
 */
import { readFileSync } from "node:fs"
import * as Arguments from "./Arguments.ts"
import * as Help from "./Help.ts"
import * as Terminal from "./Terminal.ts"
import * as Verb from "./Verb.ts"

const version = (): string => {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
  const found =
    typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : undefined
  return String(found)
}

const { debug, json, wants } = Arguments.parse(process.argv.slice(2))
const { stderr, stdout } = process
// A reader that went away is no error of ours.
for (const stream of [stdout, stderr]) stream.on("error", () => undefined)
const terminal = Terminal.make(stdout, stderr)

switch (wants._tag) {
  case "Version": {
    if (json) terminal.json({ format: "wherefore.version/1", version: version() })
    else terminal.out([[{ text: version() }]])
    break
  }
  case "Help": {
    const verb = wants.verb === undefined ? undefined : Verb.find(wants.verb)
    if (json) for (const line of Help.toJson(verb)) terminal.json(line)
    else terminal.out(verb === undefined ? Help.overview : Help.ofVerb(verb))
    break
  }
  case "Wrong": {
    Terminal.complain(terminal, json, wants.complaint, wants.verb)
    process.exitCode = wants.complaint.exit
    break
  }
  case "Run": {
    // Until the verb has said how it went: a program that waits for nothing ends the process as it is.
    process.exitCode = 3
    import("./Session.ts").then(
      ({ start }) => start({ arguments: wants.arguments, json, debug, terminal }),
      (cause: unknown) => {
        const what = `The code of "${wants.arguments.verb}" could not be loaded: ${String(cause)}`
        Terminal.complain(
          terminal,
          json,
          { exit: 3, what, next: "Install the package again, with its peers." },
          wants.arguments.verb
        )
      }
    )
    break
  }
}
