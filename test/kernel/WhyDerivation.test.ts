import { assert, describe, it } from "@effect/vitest"
import type * as Event from "../../src/kernel/Event.ts"
import * as Piece from "../../src/kernel/Piece.ts"
import * as Why from "../../src/kernel/Why.ts"
import { draw, looked, play } from "./WhyPlay.ts"

const flights = (...prices: ReadonlyArray<number>) =>
  JSON.stringify({
    reservation_id: "JG7FMM",
    flights: prices.map((price, at) => ({ flight_number: `HAT${100 + at}`, price }))
  })

/** What a chain says of its first value: how it was derived, with what carries that, or the gaps at it. */
const told = (events: ReadonlyArray<Event.Event>, text: string, options?: Why.Options) => {
  const chain = Why.value(events, text, options)
  const [asked] = chain.nodes
  const below = (id: string): ReadonlyArray<string> =>
    chain.edges
      .filter(({ from }) => from === id)
      .flatMap(({ grounds, to }) => {
        const node = chain.nodes.find((one) => one.id === to)
        if (node?.kind === "derivation") return [`${grounds} ${node.op} ${node.basis}: ${node.formula}`, ...below(to)]
        if (node?.kind === "carrier") return [`${node.pieceId} ${node.spans.map(({ text }) => text).join(" ")}`]
        return node?.kind === "value" ? [`said ${node.value}`] : []
      })
  if (asked === undefined) return []
  return [...below(asked.id), ...chain.gaps.flatMap(({ at, kind }) => (at === asked.id ? [kind] : []))]
}

describe("WhyDerivation", () => {
  it("finds the total of a list that the reply names", () => {
    const events = play(looked("Your flights of JG7FMM cost $3,538 in total.", flights(1859, 1679)))
    assert.deepStrictEqual(told(events, "$3,538"), ["derived sum column: 1859 + 1679", "result:6 1859 1679"])
    const [edge] = Why.value(events, "$3,538").edges
    assert.strictEqual(edge?.formula, "1859 + 1679")
  })

  it("takes no total of a list that the reply does not name", () => {
    const events = play(looked("It cost $3,538 in total.", flights(1859, 1679)))
    assert.deepStrictEqual(told(events, "$3,538"), ["nowhere"])
  })

  it("takes no sum whose number nothing calls a total, unless its rows are named right there", () => {
    const at = (reply: string) => told(play(looked(reply, flights(68, 65, 71))), "$133")
    assert.deepStrictEqual(at("HAT100 and HAT101 are the flights of JG7FMM. A ticket is $133."), ["ambiguous"])
    const two = play(looked("By HAT100 and HAT101 it is $133.", flights(68, 65)))
    assert.deepStrictEqual(told(two, "$133"), ["derived sum column: 68 + 65", "result:6 68 65"])
  })

  it("finds the total of the members of a list that have a word in common", () => {
    const paid = JSON.stringify({
      user_id: "mia_kim_4397",
      methods: {
        certificate_7504069: { source: "certificate", amount: 250 },
        gift_card_7773485: { source: "gift_card", amount: 203 },
        certificate_4856383: { source: "certificate", amount: 125 }
      }
    })
    const events = play(looked("mia_kim_4397 has $375 in total of certificates.", paid))
    assert.deepStrictEqual(told(events, "$375"), ["derived sum column: 250 + 125", "result:6 250 125"])
  })

  it("follows the formula that a reply writes out, and each of its numbers", () => {
    const result = '{"fare":94,"bag":80}'
    const events = play(looked("It is $174 per passenger ($94 + $80).", result))
    assert.deepStrictEqual(told(events, "$174"), ["derived sum written: $94 + $80", "said $94", "said $80"])
    const wrong = play(looked("It is $175 per passenger ($94 + $80).", result))
    assert.deepStrictEqual(told(wrong, "$175"), ["nowhere"])
    const made = play(looked("It is $174 ($91 + $83).", result))
    assert.deepStrictEqual(told(made, "$174"), ["derived sum written: $91 + $83", "said $91", "said $83"])
    assert.deepStrictEqual(
      Why.value(made, "$174").gaps.map(({ kind }) => kind),
      ["nowhere", "nowhere"]
    )
  })

  it("reads products before sums in what is written out", () => {
    const events = play(looked("The total is 3 × $174 + $80 = $602.", '{"fare":174,"bag":80,"people":3}'))
    assert.deepStrictEqual(told(events, "$602")[0], "derived product written: 3 × $174 + $80")
  })

  it("finds the total of what is listed before it, and what goes on with it", () => {
    const said = "- Out: $177\n- Back: $146\n- Total: $323\nYour balance is $400, so $77 are left."
    const events = play(looked(said, '{"out":177,"back":146,"balance":400}'))
    assert.deepStrictEqual(told(events, "$323"), ["derived sum listed: $177 + $146", "said $177", "said $146"])
    const more = play(
      looked(said.replace("$77 are", "$1,077 are").replace("$400", "$1,400"), '{"out":177,"back":146,"balance":1400}')
    )
    assert.deepStrictEqual(told(more, "$1,077"), ["derived difference said: $1,400 - $323", "said $1,400", "said $323"])
  })

  it("counts people, and not the numbers of a list", () => {
    const pieces = [Piece.fact("policy", "The compensation is $50 for each passenger.")]
    const policy = { pieces, input: "We are 3." }
    const events = play([{ say: "For 3 passengers the compensation is $150." }], policy)
    assert.deepStrictEqual(told(events, "$150"), ["derived product counted: 3 × $50", "said 3", "policy $50"])
    const numbered = play([{ say: "3. The compensation is $150." }], policy)
    assert.deepStrictEqual(told(numbered, "$150"), ["nowhere"])
  })

  it("finds shares, averages, roundings and units", () => {
    const share = play(looked("So 12.3% of the 8130 orders, 1000, are late.", '{"orders":8130,"late":1000}'))
    assert.deepStrictEqual(told(share, "12.3%"), ["derived share said: 1000 / 8130 × 100", "said 1000", "said 8130"])
    const average = play(looked("A flight of JG7FMM is $1,769 on average.", flights(1859, 1679)))
    assert.deepStrictEqual(told(average, "$1,769"), ["derived average column: (1859 + 1679) / 2", "result:6 1859 1679"])
    const rounded = play(looked("About 43.4 mm fell.", '{"rain":43.3871}'))
    assert.deepStrictEqual(told(rounded, "43.4"), ["derived rounding likeness: 43.3871, rounded", "result:6 43.3871"])
    const unit = play(looked("It took 1.25 s.", '{"durationMs":1250}'))
    assert.deepStrictEqual(told(unit, "1.25"), ["derived unit likeness: 1250, in another unit", "result:6 1250"])
  })

  it("says that several fit, and is likely only if that is asked for", () => {
    const prices = flights(210, 370, 280, 300)
    const events = play(looked("With HAT100, HAT101, HAT102 and HAT103 of JG7FMM: $580 together.", prices))
    const ways = ["210 + 370", "280 + 300"]
    assert.deepStrictEqual(told(events, "$580"), ["ambiguous"])
    const [gap] = Why.value(events, "$580").gaps
    for (const way of ways) assert.include(gap?.what, way)
    const likely = told(events, "$580", { likely: true }).filter((line) => line.startsWith("proximity"))
    assert.deepStrictEqual(
      likely,
      ways.map((way) => `proximity sum rows: ${way}`)
    )
  })

  it("is not sure of a number that as many others could be made of as there are numbers", () => {
    const rows = Array.from({ length: 24 }, (_, at) => 100 + at * at)
    const names = rows.map((_, at) => `HAT${100 + at}`).join(", ")
    const sums = rows.flatMap((a, at) => rows.slice(at + 1).map((b) => a + b))
    const [one] = sums.filter((sum) => sums.filter((other) => other === sum).length === 1 && !rows.includes(sum))
    const events = play(looked(`Of ${names} two are $${one} together.`, flights(...rows).replace("JG7FMM", "X")))
    assert.deepStrictEqual(told(events, `$${one}`), ["ambiguous"])
  })

  it("makes no number of two digits out of others", () => {
    const events = play(looked("The total of JG7FMM is $35.", flights(12, 23)))
    assert.notInclude(told(events, "$35").join(), "derived")
  })

  it("derives a number of an argument as well", () => {
    const args = '{"a":1859,"b":1679,"total":3538}'
    const events = play([
      { calls: [["look", "{}", flights(1859, 1679)]] },
      { calls: [["look", args, "ok"]] },
      { say: "Done." }
    ])
    const chain = Why.tool(events, "call-2-0")
    assert.include(draw(chain), "    sum 1859 + 1679 (listed)")
  })

  it("is no cause of itself", () => {
    const events = play([{ say: "$300 = $500 - $200 and $500 = $300 + $200 and $200 = $500 - $300." }])
    const chain = Why.answer(events)
    const next = (id: string) => chain.edges.filter(({ from }) => from === id).map(({ to }) => to)
    for (const { id } of chain.nodes) {
      const seen = new Set<string>()
      for (const waiting = next(id); waiting.length > 0;) {
        const one = waiting.pop() ?? ""
        if (seen.has(one)) continue
        seen.add(one)
        waiting.push(...next(one))
      }
      assert.isFalse(seen.has(id), id)
    }
  })
})
