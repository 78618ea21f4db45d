/**
 * `ArgumentsFrom` names the tools whose results a tool's arguments are taken from: an id that only another tool returns.
 * Where such a result has left the window and none is there, the model can only make one up, and a check says so.
 *
 * @since 0.1.0
 */
import type * as Tool from "@effect/ai/Tool"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import * as GroundCheck from "../kernel/GroundCheck.ts"
import * as Printable from "../kernel/Printable.ts"

/** Annotates a tool: `tool.annotate(ArgumentsFrom.ArgumentsFrom, ["find_order"])`. Looked at in runs with a `window`. */
export class ArgumentsFrom extends Context.Tag("wherefore/programs/ArgumentsFrom")<
  ArgumentsFrom,
  ReadonlyArray<string>
>() {}

/** The annotation as the record holds it. */
export const of = (tool: Tool.Any): { readonly argumentsFrom?: ReadonlyArray<string> } =>
  Option.match(Context.getOption(tool.annotations, ArgumentsFrom), {
    onNone: () => ({}),
    onSome: (argumentsFrom) => ({ argumentsFrom })
  })

/** What is wrong with the annotations of tools. */
export const problems = (tools: ReadonlyArray<Tool.Any>): ReadonlyArray<string> =>
  tools.flatMap((tool) => {
    const name = Printable.quote(tool.name)
    const { argumentsFrom = [] } = of(tool)
    return [
      ...GroundCheck.review({ name: tool.name, ...of(tool) }).map(
        ({ next, what, where }) => `Tool ${name} at ${where}: ${what} ${next}`
      ),
      ...argumentsFrom
        .filter((ground) => ground.trim() !== "" && !tools.some((one) => one.name === ground))
        .map((ground) => `Tool ${name} takes arguments from ${Printable.quote(ground)}, which is no tool of the agent.`)
    ]
  })
