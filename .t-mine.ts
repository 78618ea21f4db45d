import * as Import from "./src/programs/Import.ts"
import * as OpenAiChat from "./src/programs/OpenAiChat.ts"
import * as Effect from "effect/Effect"
const big = Array.from({length: 40000}, (_, i) => i % 2 === 0 ? {role:"user",content:`q${i}`} : {role:"assistant",content:`a${i}`})
for (const n of [2000, 10000, 20000, 40000]) {
let t = process.cpuUsage().user; OpenAiChat.read(big.slice(0,n)); const r = process.cpuUsage().user - t
t = process.cpuUsage().user; Effect.runSync(Import.openAiChat(big.slice(0,n))); console.log(n, "read us/msg", (r/n).toFixed(1), "all us/msg", ((process.cpuUsage().user-t)/n).toFixed(1))
}
