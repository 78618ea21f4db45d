/**
 * A `Station` answers from a table of daily weather: 1,461 days in Seattle, 2012 to 2015, as the npm package
 * `vega-datasets` ships it (measured by NOAA).
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { fileURLToPath } from "node:url"

const table = fileURLToPath(new URL("../data/seattle-weather.csv", import.meta.resolve("vega-datasets")))

interface Day {
  readonly date: string
  readonly rain: number
}

const days = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const [, ...lines] = (yield* fs.readFileString(table)).trim().split("\n")
  return lines.map((line): Day => {
    const [date = "", rain = ""] = line.split(",")
    return { date, rain: Number(rain) }
  })
})

class NoSuchYear extends Schema.TaggedError<NoSuchYear>()("NoSuchYear", {
  first: Schema.String,
  last: Schema.String
}) {}

const Coverage = Tool.make("coverage", {
  description: "Says how many days the table has, and the first and the last of them.",
  success: Schema.Struct({ days: Schema.Int, first: Schema.String, last: Schema.String })
}).annotate(Tool.Readonly, true)

const WettestDay = Tool.make("wettest_day", {
  description: "Finds the day with the most rain of a year. Rain is in millimetres.",
  parameters: { year: Schema.Int },
  success: Schema.Struct({ date: Schema.String, rain_mm: Schema.Number, days_read: Schema.Int }),
  failure: NoSuchYear
}).annotate(Tool.Readonly, true)

export const toolkit = Toolkit.make(Coverage, WettestDay)

/** The handlers read the file once, when the layer is built. */
export const layer = toolkit.toLayer(
  Effect.map(days, (all) => {
    const first = all.at(0)?.date ?? ""
    const last = all.at(-1)?.date ?? ""
    return {
      coverage: () => Effect.succeed({ days: all.length, first, last }),
      wettest_day: ({ year }: { readonly year: number }) => {
        const ofYear = all.filter(({ date }) => date.startsWith(`${year}-`))
        const [wettest] = ofYear.toSorted((a, b) => b.rain - a.rain)
        return wettest === undefined
          ? Effect.fail(new NoSuchYear({ first, last }))
          : Effect.succeed({ date: wettest.date, rain_mm: wettest.rain, days_read: ofYear.length })
      }
    }
  })
)
