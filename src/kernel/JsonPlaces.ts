/**
 * A `JsonPlaces` is where the scalars of a JSON text stand in it, and on what path.
 *
 * @internal
 */

/** A scalar, or a key: `start` and `end` are offsets of it in the text, of a string without its quotes. */
export interface Place {
  readonly path: ReadonlyArray<string>
  readonly kind: "string" | "number"
  readonly start: number
  readonly end: number
}

interface Frame {
  readonly isList: boolean
  name: string
  next: number
}

const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** The numbers and strings of a text that is JSON, in its order: at most `most` of them. */
export const of = (json: string, most: number): ReadonlyArray<Place> => {
  const found: Array<Place> = []
  const stack: Array<Frame> = []
  const path = (): ReadonlyArray<string> => stack.map(({ isList, name, next }) => (isList ? String(next) : name))
  let isKey = false
  for (let at = 0; at < json.length && found.length < most; at++) {
    const code = json.charAt(at)
    const frame = stack.at(-1)
    switch (code) {
      case "{":
      case "[":
        stack.push({ isList: code === "[", name: "", next: 0 })
        isKey = code === "{"
        continue
      case "}":
      case "]":
        stack.pop()
        isKey = false
        continue
      case ",":
        if (frame !== undefined) frame.next++
        isKey = frame?.isList === false
        continue
      case ":":
        isKey = false
        continue
      case '"': {
        const start = at + 1
        for (at++; at < json.length && json.charAt(at) !== '"'; at++) if (json.charAt(at) === "\\") at++
        if (isKey && frame !== undefined) frame.name = json.slice(start, at)
        else found.push({ path: path(), kind: "string", start, end: at })
        continue
      }
    }
    number.lastIndex = at
    const own = number.exec(json)?.[0]
    if (own === undefined) continue
    found.push({ path: path(), kind: "number", start: at, end: at + own.length })
    at += own.length - 1
  }
  return found
}
