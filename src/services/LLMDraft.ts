/**
 * An `LLMDraft` is a reply that is still being written: the fold of its parts so far.
 *
 * @internal
 */
import * as Either from "effect/Either"
import type * as Event from "../kernel/Event.ts"
import type * as Message from "../kernel/Message.ts"
import * as Printable from "../kernel/Printable.ts"
import type * as Seal from "../kernel/Seal.ts"
import * as Usage from "../kernel/Usage.ts"
import type { Asked, Part } from "./LLM.ts"
import { failure, type LLMError } from "./LLMError.ts"

/** A whole reply: the fold of its parts. */
export interface Reply {
  readonly content: string
  readonly reasoning?: string
  readonly toolCalls: ReadonlyArray<Omit<Message.ToolCall, "duplicateOf">>
  readonly stopReason: Event.StopReason
  readonly usage: Usage.Usage
  /** What the provider wants back with the reply. */
  readonly seal?: Seal.Seal
  /** Who answered, if not who was asked first. */
  readonly by?: Asked
  readonly model?: string
  readonly toolNames?: ReadonlyArray<string>
}

/** A reply that is still being written. `late` counts the parts that came after the first `Finish`. */
export interface Draft {
  readonly content: string
  readonly reasoning: string
  readonly toolCalls: Reply["toolCalls"]
  /** What was written before the block that is being written, in order. */
  readonly blocks: ReadonlyArray<Seal.Block>
  readonly open?: { readonly kind: "text" | "reasoning"; readonly chars: number }
  /** What the call is known to have taken, before its end or at it. */
  readonly usage?: Usage.Usage
  readonly finish?: Extract<Part, { readonly _tag: "Finish" }>
  readonly late: number
}

export const emptyDraft: Draft = { content: "", reasoning: "", toolCalls: [], blocks: [], late: 0 }

/** The blocks with the one that was being written. */
const closed = ({ blocks, open }: Draft): ReadonlyArray<Seal.Block> => (open === undefined ? blocks : [...blocks, open])

type Writing = Pick<Draft, "blocks" | "open">

const written = (draft: Draft, kind: "text" | "reasoning", chars: number): Writing => {
  const { blocks, open } = draft
  if (open?.kind === kind) return { blocks, open: { kind, chars: open.chars + chars } }
  return { blocks: closed(draft), open: { kind, chars } }
}

/** A seal belongs to the last block of its kind that has none; a block may be nothing but its seal. */
const sealed = (draft: Draft, { kind, opaque }: Part & { readonly _tag: "Sealed" }): ReadonlyArray<Seal.Block> => {
  const blocks = closed(draft)
  if (opaque === undefined) return blocks
  const at = blocks.findLastIndex((block) => block.kind === kind)
  const block = blocks[at]
  if (block === undefined || block.kind === "call" || block.opaque !== undefined) {
    return [...blocks, { kind, chars: 0, opaque }]
  }
  return blocks.with(at, { ...block, opaque })
}

/** The draft with one more part. */
export const step = (draft: Draft, part: Part): Draft => {
  if (draft.finish !== undefined) return { ...draft, late: draft.late + 1 }
  switch (part._tag) {
    case "Text":
      return { ...draft, content: draft.content + part.delta, ...written(draft, "text", part.delta.length) }
    case "Reasoning":
      return { ...draft, reasoning: draft.reasoning + part.delta, ...written(draft, "reasoning", part.delta.length) }
    case "Sealed": {
      const { open: _, ...rest } = draft
      return { ...rest, blocks: sealed(draft, part) }
    }
    case "ToolCall": {
      const { cut, opaque } = part
      // Some providers write nothing for no arguments, and some an empty object: they are one thing.
      const isNothing = cut === undefined && part.args.trim() === ""
      const call = {
        toolCallId: Printable.wellFormed(part.toolCallId),
        toolName: Printable.wellFormed(part.toolName),
        args: isNothing ? "{}" : Printable.wellFormed(part.args),
        ...(cut === undefined ? {} : { cut })
      }
      const { open: _, ...rest } = draft
      const block = { kind: "call", ...(opaque === undefined ? {} : { opaque }) } as const
      return { ...rest, toolCalls: [...draft.toolCalls, call], blocks: [...closed(draft), block] }
    }
    case "Usage":
      return { ...draft, usage: Usage.counted(part.usage) }
    case "Retried":
      return emptyDraft
    case "Finish":
      return { ...draft, finish: part, usage: Usage.counted(part.usage) }
  }
}

/** A reply is let go once it is this long, in characters; a block of it counts for some, so that there is an end of them. */
const maxChars = 5_000_000
export const charsOfBlock = 2_000

/** Why a reply of so many characters is not read to its end, if it is not. */
export const beyond = (chars: number): LLMError | undefined => {
  if (chars <= maxChars) return undefined
  return failure("Protocol", {
    what: "The model's reply goes on longer than a record can hold.",
    expected: `at most ${maxChars} characters, ${charsOfBlock} of them for each block`,
    found: `${chars} before its end`,
    next: "Set maxOutputTokens, or ask for less at once.",
    retry: "never"
  })
}

/** Why a draft is not written to its end, if it is not: a provider that never stops would take all memory there is. */
export const overlong = ({ blocks, content, reasoning, toolCalls }: Draft): LLMError | undefined => {
  const written = content.length + reasoning.length + blocks.length * charsOfBlock
  return beyond(toolCalls.reduce((sum, { args, toolName }) => sum + args.length + toolName.length, written))
}

/**
 * What a reply without text and without calls came to, if its stop reason says that it is no answer. The model was asked and
 * has replied, so that it took what it says.
 */
const emptied = (stopReason: Event.StopReason): LLMError | undefined => {
  switch (stopReason) {
    case "stop":
      return undefined
    case "length":
      return failure("Rejected", {
        what: "The model used up its output tokens before it wrote anything.",
        next: "Raise maxOutputTokens, or shorten the conversation.",
        outcome: "applied"
      })
    case "content-filter":
      return failure("Rejected", {
        what: "The provider's content filter withheld the whole reply.",
        next: "Change the wording of the request: the same one will be filtered again.",
        outcome: "applied"
      })
    default:
      return failure("Protocol", { what: `The model stopped with "${stopReason}" and gave neither text nor a call.` })
  }
}

/** The reply that a draft came to. A draft without exactly one `Finish`, at its end, is none. */
export const finish = (draft: Draft): Either.Either<Reply, LLMError> => {
  const { content, finish, late, reasoning, toolCalls, usage = Usage.none } = draft
  if (finish === undefined) {
    return Either.left(
      failure("Protocol", {
        what: "The stream ended without a finish.",
        expected: "one Finish part at the end",
        found: `none after ${content.length} characters of text and ${toolCalls.length} calls`
      })
    )
  }
  if (late > 0) {
    return Either.left(
      failure("Protocol", {
        what: "The stream went on after its finish.",
        expected: "one Finish part at the end",
        found: `${late} more parts`
      })
    )
  }
  const { by, model, provider, stopReason, toolNames } = finish
  const blocks = closed(draft)
  const isSealed = provider !== undefined && blocks.some(({ opaque }) => opaque !== undefined)
  const nothing = toolCalls.length === 0 && content.trim() === "" ? emptied(stopReason) : undefined
  if (nothing !== undefined) return Either.left(nothing)
  return Either.right({
    content: Printable.wellFormed(content),
    ...(reasoning === "" ? {} : { reasoning: Printable.wellFormed(reasoning) }),
    toolCalls,
    stopReason,
    usage,
    ...(isSealed ? { seal: { provider, blocks } } : {}),
    ...(by === undefined ? {} : { by }),
    ...(model === undefined ? {} : { model: Printable.wellFormed(model) }),
    ...(toolNames === undefined ? {} : { toolNames: toolNames.map(Printable.wellFormed) })
  })
}
