/**
 * A `GroundingSource` is what the state of a run can ground its answer with, and the judgement of the answer on it.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Answering from "./Answering.ts"
import * as Event from "./Event.ts"
import * as Grounding from "./Grounding.ts"
import type * as GroundingEvent from "./GroundingEvent.ts"
import * as Json from "./Json.ts"
import type * as Message from "./Message.ts"
import * as Notice from "./Notice.ts"
import * as SafeId from "./SafeId.ts"
import type * as State from "./State.ts"
import type * as Wire from "./Wire.ts"

/** How an agent's answers are judged. */
export interface Judging {
  readonly posture: Grounding.Posture
  readonly options: Grounding.Options
  /** The arguments of a tool that its result repeats. */
  readonly echoes?: (toolName: string) => ReadonlyArray<string>
}

/** The results of tools, with the arguments that the model wrote. */
const resultsOf = (
  messages: ReadonlyArray<Wire.MessagePiece>,
  echoes: Judging["echoes"]
): ReadonlyArray<Grounding.Result> => {
  let calls: ReadonlyArray<Message.ToolCall> = []
  return messages.flatMap(({ message, origin }) => {
    if (message.role === "assistant") calls = message.toolCalls
    if (message.role !== "tool" || origin !== "tool") return []
    const { content, outcome, toolCallId, toolName } = message
    const call = calls.find((one) => one.toolCallId === toolCallId)
    const args = call === undefined ? undefined : Either.getOrUndefined(Json.parse(call.args))
    return [{ outcome, served: content, args, echoes: echoes?.(toolName) ?? [] }]
  })
}

/** As `Grounding.corpus` reads the record: results of calls that returned, and the words of the person and the application. */
export const sources = ({ messages, pieces }: State.State, echoes?: Judging["echoes"]): Grounding.Sourced => ({
  ...Grounding.evidence(resultsOf(messages, echoes)),
  exempt: [
    ...messages.flatMap(({ message, origin }) =>
      message.role === "user" && Event.isAuthor(origin) ? [message.content] : []
    ),
    ...pieces.flatMap(({ declared }) => (Event.isAuthor(declared.origin) ? [declared.text] : []))
  ].filter((text) => text !== "")
})

const asked = ({ more, unread, unsupported }: Grounding.Verdict): string => {
  const values = unsupported.map(({ value }) => SafeId.literal(value)).join(", ")
  const none =
    unsupported.length === 0
      ? []
      : [
          `No result of a tool held these values of it: ${values}${more === undefined ? "" : ` and ${more} more`}.`,
          "Look them up with the tools, or answer without them."
        ]
  const long = unread === undefined ? [] : ["It is too long to be checked to its end. Answer in fewer words."]
  const [first = "", ...rest] = [...none, ...long]
  return Notice.of("values without a source", [`The last answer was not given yet. ${first}`, ...rest])
}

/** The judgement of the reply that would be the answer. `limited`: no limit leaves room for a further pass. */
export const judge = (
  { echoes, options, posture }: Judging,
  state: State.State,
  final: State.Final,
  limited: boolean
): GroundingEvent.GroundingJudged => {
  const verdict = Grounding.judge({ answer: Answering.judgedOf(final), ...sources(state, echoes), options })
  const revised = state.revised === true
  const action = Grounding.action({ posture, verdict, revised, limited })
  const { candidates, more, truncated, unread, unsupported } = verdict
  return {
    _tag: "GroundingJudged",
    iteration: final.iteration,
    posture,
    candidates,
    unsupported,
    ...(more === undefined ? {} : { more }),
    action,
    afterRevision: revised,
    ...(truncated ? { truncated } : {}),
    ...(unread === undefined ? {} : { unread }),
    ...(action === "revision-asked" ? { asked: asked(verdict) } : {})
  }
}
