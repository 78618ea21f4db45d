import { Redacted, type Layer } from "effect"
import * as LLM from "../../src/services/LLM.ts"

/** Counts as an API reports them; what is absent is not reported. */
export interface Counts {
  readonly input?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly output?: number
  readonly reasoning?: number
}

/** A reply as a model behind an API would write it. */
export interface Said {
  readonly reasoning?: string
  readonly deltas?: ReadonlyArray<string>
  readonly calls?: ReadonlyArray<{ readonly id: string; readonly name: string; readonly deltas: ReadonlyArray<string> }>
  readonly stop: "stop" | "length" | "tool-calls" | "content-filter"
  readonly usage?: Counts
}

export interface Dialect {
  readonly name: string
  readonly path: string
  readonly layer: (url: string, more?: { readonly streamed?: false }) => Layer.Layer<LLM.LLM, LLM.LLMError>
  /** The events of a stream, the last of which end it. */
  readonly events: (said: Said) => { readonly said: ReadonlyArray<unknown>; readonly end: ReadonlyArray<unknown> }
  readonly body: (said: Said) => unknown
  /** Events, parts and fields that no version of a package knows, to be mixed into a stream. */
  readonly novel: ReadonlyArray<unknown>
  /** The same for a reply that comes whole. */
  readonly novelBody: (said: Said) => unknown
  /** An error inside a stream that began well. */
  readonly error: (type: string, message: string) => unknown
  readonly fail: (type: string, message: string) => unknown
  /** Whether what the API does not count is in another of its counts. */
  readonly uncounted: ReadonlyArray<keyof Counts>
  /** What of a request goes back to the provider that sealed a reply. */
  readonly seals: (request: unknown) => unknown
}

export const canary = "sk-canary-7Qm2xV9tR4bN8wLzKd31"
const apiKey = Redacted.make(canary)

const joined = (deltas: ReadonlyArray<string> = []) => deltas.join("")
const def = (fields: object) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

type Json = { readonly [key: string]: Json } & ReadonlyArray<Json>

// Anthropic's Messages API.

const anthropicStop = {
  stop: "end_turn",
  length: "max_tokens",
  "tool-calls": "tool_use",
  "content-filter": "refusal"
} as const

const anthropicInput = ({ cacheRead, cacheWrite, input }: Counts = {}) =>
  def({ input_tokens: input, cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite })

const anthropicOutput = ({ output, reasoning }: Counts = {}) =>
  def({
    output_tokens: output,
    output_tokens_details: reasoning === undefined ? undefined : { thinking_tokens: reasoning }
  })

export const anthropic: Dialect = {
  name: "Anthropic Messages",
  path: "/v1/messages",
  layer: (url, more) => LLM.layerAnthropic({ url, model: "claude-sonnet-4-5", apiKey, ...more }),
  events: ({ calls = [], deltas = [], reasoning, stop, usage }) => {
    const blocks = [
      ...(reasoning === undefined
        ? []
        : [
            [
              { type: "thinking", thinking: "", signature: "" },
              { type: "thinking_delta", thinking: reasoning },
              { type: "signature_delta", signature: "sig-1" }
            ]
          ]),
      ...(deltas.length === 0
        ? []
        : [[{ type: "text", text: "" }, ...deltas.map((text) => ({ type: "text_delta", text }))]]),
      ...calls.map(({ deltas, id, name }) => [
        { type: "tool_use", id, name, input: {} },
        ...deltas.map((partial_json) => ({ type: "input_json_delta", partial_json }))
      ])
    ]
    const message = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-x",
      content: [],
      stop_reason: null
    }
    const start = usage === undefined ? message : { ...message, usage: { ...anthropicInput(usage), output_tokens: 1 } }
    return {
      said: [
        { type: "message_start", message: start },
        ...blocks.flatMap(([content_block, ...deltas], index) => [
          { type: "content_block_start", index, content_block },
          ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
          { type: "content_block_stop", index }
        ])
      ],
      end: [
        {
          type: "message_delta",
          delta: { stop_reason: anthropicStop[stop], stop_sequence: null },
          ...(usage === undefined ? {} : { usage: anthropicOutput(usage) })
        },
        { type: "message_stop" }
      ]
    }
  },
  body: ({ calls = [], deltas, reasoning, stop, usage }) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-x",
    content: [
      ...(reasoning === undefined ? [] : [{ type: "thinking", thinking: reasoning, signature: "sig-1" }]),
      ...(deltas === undefined ? [] : [{ type: "text", text: joined(deltas) }]),
      ...calls.map(({ deltas, id, name }) => ({
        type: "tool_use",
        id,
        name,
        input: JSON.parse(joined(deltas) || "{}")
      }))
    ],
    stop_reason: anthropicStop[stop],
    stop_sequence: null,
    ...(usage === undefined ? {} : { usage: { ...anthropicInput(usage), ...anthropicOutput(usage) } })
  }),
  novel: [
    { type: "novel_event", index: 0 },
    { type: "content_block_start", index: 70, content_block: { type: "novel_block", text: "?" } },
    { type: "content_block_delta", index: 70, delta: { type: "text_delta", text: "?" } },
    { type: "content_block_delta", index: 0, delta: { type: "novel_delta", text: "?" } },
    { type: "content_block_delta", index: 0, delta: { type: "citations_delta", citation: { type: "novel" } } },
    { type: "content_block_stop", index: 70 },
    { type: "ping" },
    { type: 7 },
    {}
  ],
  novelBody: (said) => {
    const body = anthropic.body(said) as Json
    const cited = (block: Json) => ("text" in block ? { ...block, citations: [{ type: "novel" }] } : block)
    const novel = [
      { type: "novel_block", text: "?" },
      { type: "web_search_tool_result", content: "?" }
    ]
    return {
      ...body,
      novel: [1],
      content: [...novel, ...body["content"]!.map(cited), ...novel],
      container: 7,
      context_management: 7
    }
  },
  error: (type, message) => ({ type: "error", error: { type, message } }),
  fail: (type, message) => ({ type: "error", error: { type, message }, request_id: "r" }),
  uncounted: ["reasoning"],
  seals: (request) => {
    const { messages } = request as { messages: ReadonlyArray<{ role: string; content: ReadonlyArray<Json> }> }
    return messages.find(({ role }) => role === "assistant")?.content
  }
}

// OpenAI's Responses API.

const responsesUsage = ({ cacheRead, cacheWrite, input, output, reasoning }: Counts) =>
  def({
    input_tokens: input === undefined ? undefined : input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    input_tokens_details: def({ cached_tokens: cacheRead, cache_write_tokens: cacheWrite }),
    output_tokens: output,
    output_tokens_details: def({ reasoning_tokens: reasoning })
  })

const responsesItems = ({ calls = [], deltas, reasoning }: Said) => [
  ...(reasoning === undefined
    ? []
    : [
        {
          type: "reasoning",
          id: "rs_1",
          encrypted_content: "enc-1",
          summary: [{ type: "summary_text", text: reasoning }]
        }
      ]),
  ...(deltas === undefined
    ? []
    : [
        {
          type: "message",
          role: "assistant",
          id: "msg_1",
          status: "completed",
          content: [{ type: "output_text", text: joined(deltas), annotations: [] as Array<unknown> }]
        }
      ]),
  ...calls.map(({ deltas, id, name }, index) => ({
    type: "function_call",
    id: `fc_${index}`,
    call_id: id,
    name,
    arguments: joined(deltas),
    status: "completed"
  }))
]

const responsesOf = ({ stop, usage }: Said) => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  model: "gpt-x",
  status: stop === "length" || stop === "content-filter" ? "incomplete" : "completed",
  error: null,
  incomplete_details:
    stop === "length"
      ? { reason: "max_output_tokens" }
      : stop === "content-filter"
        ? { reason: "content_filter" }
        : null,
  ...(usage === undefined ? {} : { usage: responsesUsage(usage) })
})

export const responses: Dialect = {
  name: "OpenAI Responses",
  path: "/v1/responses",
  layer: (url, more) => LLM.layerOpenAi({ url, model: "gpt-5", apiKey, ...more }),
  events: (said) => {
    const items = responsesItems(said)
    const { calls = [], deltas = [] } = said
    return {
      said: [
        { type: "response.created", response: { ...responsesOf(said), status: "in_progress", output: [] } },
        ...items.flatMap((item, output_index) => {
          const at = { output_index, item_id: item.id }
          const begun =
            item.type === "message"
              ? { ...item, content: [] }
              : item.type === "reasoning"
                ? { ...item, summary: [], encrypted_content: "" }
                : { ...item, arguments: "", status: "in_progress" }
          const call = calls[output_index - (items.length - calls.length)]
          const within =
            item.type === "message"
              ? deltas.map((delta) => ({ type: "response.output_text.delta", content_index: 0, delta, ...at }))
              : item.type === "reasoning"
                ? [
                    { type: "response.reasoning_summary_part.added", summary_index: 0, ...at },
                    { type: "response.reasoning_summary_text.delta", summary_index: 0, delta: said.reasoning, ...at },
                    { type: "response.reasoning_summary_part.done", summary_index: 0, ...at }
                  ]
                : (call?.deltas ?? []).map((delta) => ({
                    type: "response.function_call_arguments.delta",
                    delta,
                    ...at
                  }))
          return [
            { type: "response.output_item.added", output_index, item: begun },
            ...within,
            { type: "response.output_item.done", output_index, item }
          ]
        })
      ],
      end: [
        {
          type: said.stop === "length" || said.stop === "content-filter" ? "response.incomplete" : "response.completed",
          response: { ...responsesOf(said), output: items }
        }
      ]
    }
  },
  body: (said) => ({ ...responsesOf(said), output: responsesItems(said) }),
  novel: [
    { type: "response.novel", delta: "?" },
    { type: "response.output_item.added", output_index: 70, item: { type: "novel_call", id: "n" } },
    { type: "response.output_item.done", output_index: 70, item: { type: "novel_call", id: "n" } },
    { type: "response.output_item.done", output_index: 71, item: { type: "web_search_call", id: 7, action: {} } },
    { type: "response.output_text.annotation.added", annotation: { type: "novel" } },
    { type: 7 },
    {}
  ],
  novelBody: (said) => {
    const body = responses.body(said) as Json
    const items = body["output"]!.map((item) =>
      item["type"] === ("message" as unknown)
        ? {
            ...item,
            phase: "novel",
            content: [
              ...item["content"]!.map((part) => ({ ...part, annotations: [{ type: "novel" }], logprobs: 7 })),
              { type: "novel", text: "?" }
            ]
          }
        : item
    )
    return { ...body, novel: [1], output: [{ type: "novel_call", id: "n" }, ...items, { type: "web_search_call" }] }
  },
  error: (code, message) => ({ type: "error", code, message, param: null, sequence_number: 3 }),
  fail: (code, message) => ({ error: { code, message, type: code, param: null } }),
  uncounted: ["cacheRead", "cacheWrite", "reasoning"],
  seals: (request) => {
    const { input } = request as { input: ReadonlyArray<{ type?: string; role?: string }> }
    return input.filter(({ role, type }) => type === "reasoning" || type === "function_call" || role === "assistant")
  }
}

// Chat completions.

const chatStop = {
  stop: "stop",
  length: "length",
  "tool-calls": "tool_calls",
  "content-filter": "content_filter"
} as const

const chatUsage = ({ cacheRead, cacheWrite, input, output, reasoning }: Counts) =>
  def({
    prompt_tokens: input === undefined ? undefined : input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    completion_tokens: output,
    prompt_tokens_details: def({ cached_tokens: cacheRead, cache_write_tokens: cacheWrite }),
    completion_tokens_details: def({ reasoning_tokens: reasoning })
  })

const chunk = (delta: unknown, finish_reason: string | null = null) => ({
  id: "chat-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "gpt-x",
  choices: [{ index: 0, delta, finish_reason }]
})

const toolCall = (index: number, more: object) => chunk({ tool_calls: [{ index, ...more }] })

const compatibleChat: Omit<Dialect, "name" | "layer"> = {
  path: "/v1/chat/completions",
  events: ({ calls = [], deltas = [], reasoning, stop, usage }) => {
    const longest = Math.max(0, ...calls.map(({ deltas }) => deltas.length))
    return {
      said: [
        chunk({ role: "assistant", content: "" }),
        ...(reasoning === undefined ? [] : [chunk({ reasoning_content: reasoning })]),
        ...deltas.map((content) => chunk({ content })),
        ...calls.map(({ id, name }, index) =>
          toolCall(index, { id, type: "function", function: { name, arguments: "" } })
        ),
        // The arguments of parallel calls come in turns.
        ...Array.from({ length: longest }, (_, at) =>
          calls.flatMap(({ deltas }, index) =>
            deltas[at] === undefined ? [] : [toolCall(index, { function: { arguments: deltas[at] } })]
          )
        ).flat()
      ],
      end: [
        chunk({}, chatStop[stop]),
        ...(usage === undefined
          ? []
          : [{ id: "chat-1", created: 1, model: "gpt-x", choices: [], usage: chatUsage(usage) }]),
        "[DONE]"
      ]
    }
  },
  body: ({ calls = [], deltas, reasoning, stop, usage }) => ({
    id: "chat-1",
    object: "chat.completion",
    created: 1,
    model: "gpt-x",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: deltas === undefined ? null : joined(deltas),
          ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map(({ deltas, id, name }) => ({
                  id,
                  type: "function",
                  function: { name, arguments: joined(deltas) }
                }))
              })
        },
        finish_reason: chatStop[stop]
      }
    ],
    ...(usage === undefined ? {} : { usage: chatUsage(usage) })
  }),
  novel: [
    { id: "chat-1", choices: [], novel: { deep: [1] } },
    { ...chunk({ novel: 1, annotations: [{ type: "novel" }], content: "" }), novel: 1 },
    { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: null, logprobs: 7, novel: 1 }] }
  ],
  novelBody: (said) => {
    const body = compatibleChat.body(said) as Json
    const [choice] = body["choices"]!
    const message = { ...choice!["message"], novel: 1, annotations: [{ type: "novel" }] }
    return { ...body, novel: 1, choices: [{ ...choice, message, logprobs: 7, novel: 1 }] }
  },
  error: (code, message) => ({ error: { code, message, type: code, param: null } }),
  fail: (code, message) => ({ error: { code, message, type: code, param: null } }),
  uncounted: ["cacheRead", "cacheWrite", "reasoning"],
  seals: () => undefined
}

export const chat: Dialect = {
  ...compatibleChat,
  name: "OpenAI chat completions",
  layer: (url, more) => LLM.layerOpenAi({ url, api: "chat", model: "gpt-5", apiKey, ...more })
}

export const compatible: Dialect = {
  ...compatibleChat,
  name: "an OpenAI-compatible server",
  layer: (url, more) => LLM.layerOpenAiCompatible({ url, model: "m", apiKey, ...more })
}

export const all: ReadonlyArray<Dialect> = [anthropic, responses, chat, compatible]
