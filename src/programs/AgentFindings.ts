/**
 * The findings of an agent, from its definition: how its tools offer the argument that declares them.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Declared from "../kernel/Declared.ts"
import type * as Event from "../kernel/Event.ts"
import * as Findings from "../kernel/Findings.ts"
import * as Printable from "../kernel/Printable.ts"
import type * as Dispatch from "./Dispatch.ts"

/** `true` takes the defaults: nothing is asked of the answer, and noise and what is ruled out is sent as tickets. */
export type Option = boolean | Partial<Event.Findings>

export interface Made {
  readonly findings?: Event.Findings
  /** The tools as the model is told of them. */
  readonly tools: ReadonlyArray<Dispatch.Prepared>
  readonly problems: ReadonlyArray<string>
}

const offered = (prepared: Dispatch.Prepared): Either.Either<Dispatch.Prepared, Findings.Unofferable> => {
  const { annotations, description, name, schema } = prepared.declared
  return Either.map(Findings.offerIn(schema), (schema) => ({
    ...prepared,
    declared: Declared.tool({ name, ...(description === undefined ? {} : { description }), schema }, annotations)
  }))
}

/** A tool whose schema does not list its arguments is told of as it is; one that has the name itself is refused. */
export const make = (option: Option | undefined, prepared: ReadonlyArray<Dispatch.Prepared>): Made => {
  if (option === undefined || option === false) return { tools: prepared, problems: [] }
  const { ask = "none", collapse = "judged" } = option === true ? {} : option
  const tools = prepared.map((tool) => ({ tool, own: offered(tool) }))
  return {
    findings: { ask, collapse },
    tools: tools.map(({ own, tool }) => Either.getOrElse(own, () => tool)),
    problems: tools.flatMap(({ own, tool }) =>
      Either.isLeft(own) && own.left === "owned"
        ? [
            `Tool ${Printable.quote(tool.declared.name)} has an argument ${Findings.argument}, which findings need: rename it, or leave findings off.`
          ]
        : []
    )
  }
}
