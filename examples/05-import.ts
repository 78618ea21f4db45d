/** A transcript that another framework made is asked the same question. What it does not tell is a gap. */
import { Import, Why } from "wherefore"
import * as Effect from "effect/Effect"

const transcript = [
  { role: "system", content: "You are a travel agent. Refunds take 5 to 7 days." },
  { role: "user", content: "What did ticket TX-4471 cost?" },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "call_1", type: "function", function: { name: "ticket", arguments: '{"id":"TX-4471"}' } }]
  },
  { role: "tool", tool_call_id: "call_1", content: '{"id":"TX-4471","price":1859.0,"currency":"USD"}' },
  { role: "assistant", content: "Ticket TX-4471 cost $1,859. A voucher of $250 is on its way." }
]

const program = Effect.gen(function* () {
  const events = yield* Import.openAiChat(transcript)
  for (const text of ["$1,859", "$250"]) {
    const chain = Why.value(events, text)
    console.log(text)
    for (const edge of chain.edges) {
      const to = chain.nodes.find(({ id }) => id === edge.to)
      const by = edge.by.length === 0 ? "" : ` (${edge.by.join(", ")})`
      if (to?.kind === "carrier") console.log(`  ${edge.grounds} by ${to.pieceId}${by}`)
      if (to?.kind === "call") console.log(`  ${edge.grounds} by ${to.toolName} ${to.args}`)
      if (to?.kind === "root") console.log(`  ${edge.grounds}: ${to.what}`)
    }
    for (const gap of chain.gaps) console.log(`  gap, ${gap.kind}: ${gap.what}`)
  }
})

Effect.runPromise(program).catch(console.error)
