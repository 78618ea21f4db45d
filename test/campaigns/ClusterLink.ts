/**
 * A `ClusterLink` is the way from one runner to the database. It can stop carrying anything, in silence; be cut; be closed to
 * who comes anew; and lose one answer.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

export interface Link {
  readonly port: number
  /** Nothing goes through, and nobody is told. */
  readonly hold: () => void
  /** What was held goes on. */
  readonly carry: () => void
  /** Those who are connected are never answered again, and are not told; who comes anew is. */
  readonly forget: () => void
  /** Ends what is open. */
  readonly cut: () => void
  /** Turns away who comes, and ends what is open, until it is opened. */
  readonly shut: () => void
  readonly open: () => void
  /** Has the next answer with a text in it, or to a question with one, not arrive: its connection ends. Resolves then. */
  readonly lose: (where: "answer" | "question", text: string) => Promise<void>
  readonly close: () => Promise<void>
}

interface Pair {
  readonly near: Socket
  readonly far: Socket
  isForgotten: boolean
  /** The answer that is to be lost is its next one. */
  isLosing: boolean
}

export const make = (port = 5432): Promise<Link> =>
  new Promise((resolve) => {
    const pairs = new Set<Pair>()
    let isHeld = false
    let isShut = false
    let losing: { readonly where: "answer" | "question"; readonly text: string; readonly lost: () => void } | undefined
    const isLost = (where: "answer" | "question", data: Buffer): boolean =>
      losing !== undefined && losing.where === where && data.includes(losing.text)
    const held = (pair: Pair) => {
      for (const end of [pair.near, pair.far]) {
        if (isHeld || pair.isForgotten) end.pause()
        else end.resume()
      }
    }
    const all = () => pairs.forEach(held)
    const cut = () => {
      for (const { far, near } of pairs) {
        near.destroy()
        far.destroy()
      }
    }
    const server = createServer((near) => {
      if (isShut) {
        near.destroy()
        return
      }
      const far = connect(port, "127.0.0.1")
      const pair: Pair = { near, far, isForgotten: false, isLosing: false }
      pairs.add(pair)
      const ended = (other: Socket) => () => {
        pairs.delete(pair)
        other.destroy()
      }
      near.on("error", ended(far)).on("close", ended(far))
      far.on("error", ended(near)).on("close", ended(near))
      near.on("data", (data) => {
        if (isLost("question", data)) pair.isLosing = true
        far.write(data)
      })
      far.on("data", (data) => {
        if (!pair.isLosing && !isLost("answer", data)) {
          near.write(data)
          return
        }
        losing?.lost()
        losing = undefined
        near.destroy()
        far.destroy()
      })
      held(pair)
    })
    server.listen(0, "127.0.0.1", () =>
      resolve({
        port: (server.address() as AddressInfo).port,
        hold: () => {
          isHeld = true
          all()
        },
        carry: () => {
          isHeld = false
          all()
        },
        forget: () => {
          for (const pair of pairs) pair.isForgotten = true
          all()
        },
        cut,
        shut: () => {
          isShut = true
          cut()
        },
        open: () => {
          isShut = false
        },
        lose: (where, text) =>
          new Promise((lost) => {
            losing = { where, text, lost }
          }),
        close: () =>
          new Promise((done) => {
            cut()
            server.close(() => done())
          })
      })
    )
  })
