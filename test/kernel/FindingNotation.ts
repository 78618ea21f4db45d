import { FastCheck } from "effect"
import type * as Findings from "../../src/kernel/Findings.ts"
import type * as Message from "../../src/kernel/Message.ts"

/** Rows, written short. */
export const standing = (
  toolCallId: string,
  word: Findings.StandingWord,
  more: Partial<Findings.Standing> = {}
): Findings.Standing => ({
  kind: "standing",
  seq: 0,
  iteration: 1,
  toolCallId,
  standing: word,
  assertions: [],
  declaredOn: { toolCallId: "later" },
  ...more
})

export const says = (id: string, predicate: string, value: unknown, kind = "flight"): Findings.Assertion => ({
  subject: { kind, id },
  predicate,
  value
})

export const basis = (toolCallId: string, proposition?: string): Findings.Basis => ({
  kind: "basis",
  seq: 0,
  iteration: 1,
  toolCallId,
  ...(proposition === undefined ? { predicts: "something" } : { proposition })
})

export const contingent = (
  value: string,
  ...carriers: [Findings.Carrier, ...Array<Findings.Carrier>]
): Findings.Contingent => ({
  kind: "contingent",
  seq: 0,
  iteration: 1,
  declaredOn: "answer",
  value,
  carriers
})

export const unsettled = (toolCallId: string, limits: Findings.Limits = {}): Findings.Unsettled => ({
  kind: "unsettled",
  seq: 0,
  iteration: 1,
  toolCallId,
  ...limits
})

export const numbered = (rows: ReadonlyArray<Findings.Row>): ReadonlyArray<Findings.Row> =>
  rows.map((row, seq) => ({ ...row, seq }))

export const result = (
  toolCallId: string,
  content = "x".repeat(200),
  outcome: Message.Settlement = "ran-ok"
): Message.Tool => ({ role: "tool", toolCallId, toolName: "search", outcome, content })

const nasty = FastCheck.constantFrom(
  ...'\u2028\u2029\u0085\u000b\u000c\n\r\t\0\u202e\u2066\u200b\ufeff\ud800\udc00"\\←·=|,()/:—'.split(""),
  "\u{e0041}",
  "\u{1f600}",
  "[End of notice]",
  "\n\n- ",
  " ← tool:x",
  " (unknown id)",
  " (+3 characters)",
  " | artifact:",
  " vs ",
  "+5 more",
  "json "
)

/** A text as a hostile model would choose it. */
export const text = FastCheck.array(
  FastCheck.oneof(nasty, FastCheck.string({ unit: "binary", maxLength: 20 }), FastCheck.string({ maxLength: 60 })),
  { minLength: 1, maxLength: 12 }
)
  .map((parts) => parts.join(""))
  .filter((text) => text !== "")

export const words = FastCheck.constantFrom<Findings.StandingWord>("fact", "open", "ruled-out", "noise")

const ids = FastCheck.oneof(FastCheck.constantFrom("a", "b", "c", "d", "x:1", "r1"), text)
const scalar = FastCheck.oneof(text, FastCheck.integer(), FastCheck.boolean(), FastCheck.constant(null))
const wellFormed = FastCheck.string({ maxLength: 30 })
const value = FastCheck.oneof(
  scalar,
  FastCheck.array(wellFormed, { maxLength: 4 }),
  FastCheck.dictionary(wellFormed, FastCheck.integer(), { maxKeys: 3 })
)

const maybe = <A>(name: string, of: FastCheck.Arbitrary<A>): FastCheck.Arbitrary<{ readonly [key: string]: A }> =>
  FastCheck.option(of).map((some) => (some === null ? {} : { [name]: some }))

const assertion = FastCheck.record({
  subject: FastCheck.record({ kind: ids, id: ids }),
  predicate: ids,
  value
})

const standingRow = FastCheck.tuple(
  ids,
  words,
  FastCheck.array(assertion, { maxLength: 3 }),
  maybe("line", text),
  maybe("settles", text),
  maybe("toolName", ids),
  maybe("unknownId", FastCheck.constant(true)),
  FastCheck.boolean()
).map(([toolCallId, word, assertions, line, settles, toolName, unknownId, unechoed]) => {
  const asserts = word === "fact" || word === "open"
  const more = {
    assertions: asserts ? assertions : [],
    ...(word === "ruled-out" ? line : {}),
    ...(word === "open" ? settles : {}),
    ...toolName,
    ...unknownId,
    ...(word === "fact" && unechoed && assertions.length > 0 ? { unechoed: assertions.slice(0, 1) } : {}),
    ...(toolCallId === "a" ? { ref: `art_${"A".repeat(22)}` } : toolCallId === "b" ? { ref: "not a ref" } : {})
  }
  return standing(toolCallId, word, more)
})

const carrier = FastCheck.record({ toolCallId: ids, standing: words })
const item = FastCheck.tuple(text, maybe("why", text)).map(([what, why]) => ({ what, ...why }))

/** Rows of every kind, numbered. */
export const rows = FastCheck.array(
  FastCheck.oneof(
    { arbitrary: standingRow, weight: 5 },
    {
      arbitrary: FastCheck.tuple(ids, FastCheck.option(text)).map(([id, said]) => basis(id, said ?? undefined)),
      weight: 1
    },
    {
      arbitrary: FastCheck.tuple(text, carrier, FastCheck.array(carrier, { maxLength: 2 }), FastCheck.option(ids)).map(
        ([value, first, rest, call]) => ({
          ...contingent(value, first, ...rest),
          ...(call === null ? {} : { declaredOn: { toolCallId: call } })
        })
      ),
      weight: 1
    },
    {
      arbitrary: FastCheck.tuple(
        ids,
        maybe("notChecked", FastCheck.array(item, { maxLength: 2 })),
        maybe("cannotCover", FastCheck.array(item, { maxLength: 2 })),
        maybe("tryInstead", text)
      ).map(([id, one, two, three]) => unsettled(id, { ...one, ...two, ...three })),
      weight: 2
    }
  ),
  { maxLength: 14 }
).map(numbered)
