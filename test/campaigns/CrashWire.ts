/**
 * A `CrashWire` stands between a client and its database, sees each piece that the client sends, and at one of them does
 * something: that is each boundary of its sending, whatever system call made it.
 */
import { type AddressInfo, connect, createServer } from "node:net"

/** What becomes of the piece, of the client, and of the answer. */
export type Fault = "killed before" | "killed after" | "cut before" | "answer lost" | "ended before" | "ended after"

export const faults: ReadonlyArray<Fault> = [
  "killed before",
  "killed after",
  "cut before",
  "answer lost",
  "ended before",
  "ended after"
]

export interface Wire {
  readonly port: number
  readonly sent: () => number
  readonly close: () => Promise<void>
}

/** `at` is the piece to act at, of all connections, from 1 on. */
export const open = (
  options: {
    readonly at?: number
    readonly fault?: Fault
    readonly kill?: () => void
    readonly terminate?: () => Promise<unknown>
  } = {}
): Promise<Wire> =>
  new Promise((resolve) => {
    let sent = 0
    const ends = new Set<{ readonly destroy: () => unknown }>()
    const server = createServer((near) => {
      const far = connect(5432, "127.0.0.1")
      ends.add(near).add(far)
      let isDeaf = false
      near.on("error", () => far.destroy()).on("close", () => far.end())
      far.on("error", () => near.destroy()).on("close", () => near.end())
      far.on("data", (data) => {
        if (!isDeaf) near.write(data)
      })
      near.on("data", (data) => {
        sent += 1
        if (sent !== options.at) {
          far.write(data)
          return
        }
        switch (options.fault) {
          case "killed before":
            options.kill?.()
            far.destroy()
            return
          case "killed after":
            isDeaf = true
            far.write(data, options.kill)
            return
          case "cut before":
            far.destroy()
            near.destroy()
            return
          case "answer lost":
            isDeaf = true
            far.once("data", () => near.destroy())
            far.write(data)
            return
          case "ended before":
            void options.terminate?.().then(() => far.write(data))
            return
          default:
            far.write(data)
            void options.terminate?.()
        }
      })
    })
    server.listen(0, "127.0.0.1", () =>
      resolve({
        port: (server.address() as AddressInfo).port,
        sent: () => sent,
        close: () =>
          new Promise((done) => {
            for (const end of ends) end.destroy()
            server.close(() => done())
          })
      })
    )
  })
