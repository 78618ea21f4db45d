/**
 * A `Story` is what a simulated world tells of itself, as plain data: what everyone in it saw and did, in the one order in
 * which it happened, and what was on the record at the end. It is all that the checker reads.
 */

/** An entry of a record, as JSON. */
export interface Entry {
  readonly runId: string
  readonly seq: number
  readonly at: number
  readonly event: Told
  readonly hash: string
}

/** An event as anybody can read it. */
export interface Told {
  readonly _tag: string
  readonly [field: string]: unknown
}

export interface ToolMessage {
  readonly toolCallId: string
  readonly content: string
}

/** What happened. `process` is who did it. */
export type Happening =
  /** A process begins to drive a run. */
  | {
      readonly what: "start"
      readonly process: string
      readonly runId: string
      readonly how: "run" | "resume" | "follow-up"
    }
  /** What its driving came to. `defect` is one that nobody planted. */
  | {
      readonly what: "exit"
      readonly process: string
      readonly runId: string
      readonly came: "answered" | "stopped" | "waiting" | "error" | "interrupted" | "defect"
      readonly tag?: string
      readonly answer?: string
      readonly planted?: true
    }
  | { readonly what: "crash"; readonly process: string; readonly runId: string }
  | { readonly what: "interrupt"; readonly process: string; readonly runId: string }
  | { readonly what: "pause"; readonly process: string; readonly runId: string }
  /** From here on nothing goes wrong any more. */
  | { readonly what: "quiet"; readonly runId: string }
  /** Events were handed to the storage. */
  | {
      readonly what: "append"
      readonly op: number
      readonly process: string
      readonly runId: string
      readonly expectedSeq: number
      readonly texts: ReadonlyArray<string>
    }
  /** The storage has them. */
  | { readonly what: "written"; readonly op: number; readonly hash: string; readonly seq: number }
  /** The process heard that the storage has them. */
  | { readonly what: "acknowledged"; readonly op: number; readonly hash: string; readonly seq: number }
  | {
      readonly what: "refused"
      readonly op: number
      readonly tag: string
      readonly reason: string
      readonly outcome: string
    }
  /** A process read a run from its beginning. */
  | {
      readonly what: "read"
      readonly process: string
      readonly runId: string
      readonly entries: number
      readonly hash: string
    }
  /** A model was asked. */
  | {
      readonly what: "asked"
      readonly process: string
      readonly runId: string
      readonly iteration: number
      readonly hash: string
      /** Calls of replies and their results, in the order of the request. */
      readonly messages: ReadonlyArray<{ readonly calls: ReadonlyArray<string> } | ToolMessage>
    }
  /** A handler was entered. */
  | {
      readonly what: "entered"
      readonly process: string
      readonly tool: string
      readonly key: string
      readonly args: string
    }
  /** The outside world was changed, or, of a key that it had honoured before, not changed again. */
  | { readonly what: "effect"; readonly process: string; readonly tool: string; readonly key: string }
  | { readonly what: "again"; readonly process: string; readonly tool: string; readonly key: string }
  | {
      readonly what: "probe"
      readonly process: string
      readonly tool: string
      readonly key: string
      readonly found: string
    }
  /** A person decided. `right` is what ought to be taken, if nobody came first. */
  | {
      readonly what: "decided"
      readonly runId: string
      readonly by: string
      readonly ticket: string
      readonly verdict: string
      readonly right: boolean
      readonly came: string
    }
  | {
      readonly what: "resolved"
      readonly runId: string
      readonly by: string
      readonly toolCallId: string
      readonly verdict: string
      readonly right: boolean
      readonly came: string
    }
  /** What someone saw who followed the run while it went on. */
  | { readonly what: "followed"; readonly runId: string; readonly hashes: ReadonlyArray<string> }
  /** What the package's own means say of the run at the end. */
  | {
      readonly what: "explained"
      readonly runId: string
      readonly toolCallId: string
      readonly roots: number
      readonly gaps: ReadonlyArray<string>
    }
  | { readonly what: "verified"; readonly runId: string; readonly came: string }
  | { readonly what: "logged"; readonly process: string; readonly level: string; readonly message: string }
  /** Nobody comes to a run any more that waits for a person. */
  | { readonly what: "left"; readonly runId: string }
  | { readonly what: "stuck"; readonly runId: string }
  | { readonly what: "hang"; readonly why: string }

export type Line = Happening & { readonly at: number }

export interface Tool {
  readonly replay: "pure" | "idempotent" | "reconcile" | "never"
  readonly approval: "allow" | "ask" | "deny"
  readonly acts: boolean
}

export interface Story {
  readonly seed: number
  readonly tools: { readonly [name: string]: Tool }
  readonly limits: {
    readonly passes: number
    readonly toolCalls?: number
    readonly tokens?: number
    readonly wallTimeMs?: number
  }
  /** Two processes may have driven one run at the same time, or a clock was not right. */
  readonly overlaps: boolean
  readonly skewed: boolean
  /** The faults that came about, in the order of their names. */
  readonly faults: ReadonlyArray<string>
  readonly lines: ReadonlyArray<Line>
  readonly records: { readonly [runId: string]: ReadonlyArray<Entry> }
}
