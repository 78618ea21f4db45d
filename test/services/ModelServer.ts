import { assert } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { inspect } from "node:util"

export interface Exchange {
  readonly request: IncomingMessage
  readonly body: string
  readonly response: ServerResponse
}

export type Handler = (exchange: Exchange) => void | Promise<void>

/** A server on the loopback that answers each request with the next handler. */
export const serve = (...handlers: ReadonlyArray<Handler>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<{ readonly url: string; readonly exchanges: Array<Exchange>; readonly close: () => void }>(
            (resolve) => {
              const exchanges: Array<Exchange> = []
              const server = createServer((request, response) => {
                const bytes: Array<Buffer> = []
                request.on("data", (chunk: Buffer) => bytes.push(chunk))
                request.on("end", () => {
                  const exchange = { request, response, body: Buffer.concat(bytes).toString("utf8") }
                  const handler = handlers[Math.min(exchanges.length, handlers.length - 1)]
                  exchanges.push(exchange)
                  void handler?.(exchange)
                })
              })
              server.listen(0, "127.0.0.1", () => {
                const { port } = server.address() as AddressInfo
                const close = () => {
                  server.closeAllConnections()
                  server.close()
                }
                resolve({ url: `http://127.0.0.1:${port}/v1`, exchanges, close })
              })
            }
          )
      ),
      ({ close }) => Effect.sync(close)
    ),
    (server) => server
  )

/** No rendering of the exit may hold the key, whole or encoded. */
export const isClean = (exit: Exit.Exit<unknown, unknown>, canary: string) => {
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : exit.value
  const rendered = [
    String(error),
    JSON.stringify(error),
    inspect(error, { depth: Infinity, showHidden: true }),
    inspect(exit, { depth: Infinity }),
    Exit.isFailure(exit) ? Cause.pretty(exit.cause, { renderErrorCause: true }) : ""
  ].join("\n")
  for (const encoded of [canary, Buffer.from(canary).toString("base64"), Buffer.from(canary).toString("hex")]) {
    assert.notInclude(rendered, encoded)
  }
  assert.notInclude(rendered.toLowerCase(), "bearer")
}
