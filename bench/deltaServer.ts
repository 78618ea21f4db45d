/**
 * A server of chat completions on this machine whose replies have as many deltas as the first part of the path says, each in
 * a write of its own. It prints its port. A program of `deltas.ts`.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

const event = (value: unknown) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`

const chunk = (delta: unknown, finish_reason: string | null = null) => ({
  id: "chat-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason }]
})

const server = createServer(async (request, response) => {
  request.resume()
  const deltas = Number(request.url?.split("/")[1])
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (let n = 0; n < deltas; n++) {
    if (!response.write(event(chunk({ content: `word ${n} ` }))))
      await new Promise((done) => response.once("drain", done))
    if (n % 20 === 19) await new Promise((done) => setImmediate(done))
  }
  response.end([chunk({}, "stop"), "[DONE]"].map(event).join(""))
})
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port))
