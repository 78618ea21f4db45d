/** A transcript that another framework made is asked the same question. What it does not tell is a gap. */
import { Import, Screen, Why } from "wherefore"
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
    const lines = Screen.tree(chain, { room: { width: 80 } })
    process.stdout.write(Screen.print(lines, { colour: false }))
    for (const { kind, what } of chain.gaps) console.log(`gap, ${kind}: ${what}`)
  }
})

Effect.runPromise(program).catch(console.error)

// $1,859            recorded  said in pass 2                                    #8
// └─ 1859.0         recorded · currency, thousands separators, trailing zeros   #6
//    │  result of ticket TX-4471, pass 1
//    └─ "TX-4471"   argument  pass 1                                            #4
//       └─ TX-4471  recorded  the person's message                              #0
// gap, untold: The imported trace does not say which calls failed: each is taken to have returned.
// gap, untold: The imported trace does not hold the tool definitions that the model was sent.
// $250      nowhere  said in pass 2                                             #8
// └─ nowhere  No spelling of "$250" was on the wire of pass 2.
// gap, nowhere: No spelling of "$250" was on the wire of pass 2.
// gap, untold: The imported trace does not hold the tool definitions that the model was sent.
