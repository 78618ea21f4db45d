/**
 * A `ScreenCost` is what a run took in money, in a line, and a line for each model of which there is more to say.
 *
 * @internal
 */
import type * as Cost from "../kernel/Cost.ts"
import type * as Usage from "../kernel/Usage.ts"
import * as ScreenLine from "./ScreenLine.ts"

const margin = "         "

const named: { readonly [C in Usage.Count]: string } = {
  inputTokens: "input",
  cacheReadTokens: "cache reads",
  cacheWriteTokens: "cache writes",
  outputTokens: "output",
  reasoningTokens: "reasoning"
}

const reasons: { readonly [R in Cost.Reason]: string } = {
  unreported: "was not reported",
  cut: "was cut off",
  malformed: "is no count",
  unpriced: "has no price",
  untold: "is of a model that the record does not name"
}

const gapText = ({ calls, count, why }: Cost.Gap): string => {
  const of = ScreenLine.counted(calls, "call")
  return count === undefined ? `${of}: it ${reasons[why]}` : `${named[count]} of ${of} ${reasons[why]}`
}

const amountText = (amount: string | undefined, currency: string, isWhole: boolean): string =>
  amount === undefined ? "unknown" : `${isWhole ? "" : "at least "}${amount} ${currency}`

const modelText = ({ amount, calls, gaps, model, provider }: Cost.Line, currency: string, room: ScreenLine.Room) => {
  const name = model === undefined ? "a model without a name" : ScreenLine.brief(model, 40, room)
  const by = provider === undefined ? "" : ` (${ScreenLine.brief(provider, 24, room)})`
  return [
    `${name}${by}`,
    ScreenLine.counted(calls, "call"),
    amountText(amount, currency, gaps.length === 0),
    ...gaps.map(gapText)
  ].join(" · ")
}

/** Each model is named where there are several, or where something is missing. */
export const lines = (
  { amount, currency, isWhole, models }: Cost.Cost,
  room: ScreenLine.Room
): ReadonlyArray<ScreenLine.Line> => {
  const told = isWhole && models.length < 2 ? [] : models.map((model) => modelText(model, currency, room))
  const max = room.width === undefined ? undefined : room.width - margin.length
  return [
    [
      ScreenLine.span("cost     ", "faint"),
      ScreenLine.span(amountText(amount, currency, isWhole), isWhole ? "strong" : "warn")
    ],
    ...told.flatMap((text) =>
      ScreenLine.paragraph(text, max, Infinity).map((part) => [ScreenLine.span(`${margin}${part}`, "faint")])
    )
  ]
}
