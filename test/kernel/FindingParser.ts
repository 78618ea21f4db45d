/**
 * Reads a findings piece back by its grammar. A literal is what `JSON.parse` makes of it, and how much of it was cut;
 * whatever does not fit the grammar is an error.
 */
export interface Cut {
  readonly text: string
  readonly cut: number
}

/** Characters that open a line somewhere, or that one cannot see. */
const invisible =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]|[\u{e0000}-\u{e007f}]/u

const literal = /^"(?:[^"\\]|\\.)*"/

class Cursor {
  at = 0
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  is(token: string): boolean {
    if (!this.text.startsWith(token, this.at)) return false
    this.at += token.length
    return true
  }

  take(pattern: RegExp): string | undefined {
    const found = pattern.exec(this.text.slice(this.at))?.[0]
    if (found !== undefined) this.at += found.length
    return found
  }

  must(token: string): void {
    if (!this.is(token)) throw new Error(`expected ${token} at ${this.at} of ${this.text}`)
  }

  literal(): Cut {
    const quoted = this.take(literal)
    if (quoted === undefined) throw new Error(`expected a literal at ${this.at} of ${this.text}`)
    const cut = this.take(/^ \(\+\d+ characters\)/)
    return { text: JSON.parse(quoted), cut: Number(cut?.replace(/\D/g, "") ?? 0) }
  }

  /** A plain id goes on as long as it can: a colon at its end is its own, unless the line has one after each id there. */
  id(after: "" | ": " = ""): Cut {
    const bare = this.take(after === "" ? /^[A-Za-z0-9_.:-]{1,64}(?![A-Za-z0-9_.:-])/ : /^[A-Za-z0-9_.:-]{1,64}(?=: )/)
    return bare === undefined ? this.literal() : { text: bare, cut: 0 }
  }

  end(): void {
    if (this.at !== this.text.length) throw new Error(`left over at ${this.at} of ${this.text}`)
  }
}

const source = (on: Cursor) => {
  on.must("tool:")
  const id = on.id()
  const ref = on.is(" | artifact:") ? on.take(/^art_[A-Za-z0-9]{22}/) : undefined
  return { id, ref, unknownId: on.is(" (unknown id)") }
}

const about = (on: Cursor, after: "" | ": " = "") => {
  const kind = on.id()
  on.must("/")
  const id = on.id()
  on.must(" · ")
  return { kind, id, predicate: on.id(after) }
}

const value = (on: Cursor) => {
  if (on.is("json ")) return { json: on.literal() }
  const scalar = on.take(/^(?:null|true|false|-?\d[\d.e+-]*)(?= ←)/)
  return scalar === undefined ? { string: on.literal() } : { scalar: JSON.parse(scalar) as unknown }
}

const noted = (on: Cursor, note: string) => (on.is(` — ${note}: `) ? on.literal() : undefined)

const fact = (on: Cursor) => {
  const bare = on.is("a fact without assertions")
  const said = bare ? undefined : { ...about(on), ...(on.must(" = "), { value: value(on) }) }
  on.must(" ← ")
  return { kind: "fact", said, from: source(on), unechoed: on.is(" [value not in that result]") }
}

const limitation = (on: Cursor) => {
  if (on.is("conflict on ")) {
    const key = about(on, ": ")
    on.must(": ")
    const from = [source(on)]
    let more = 0
    while (on.is(" vs ")) {
      const rest = on.take(/^\+\d+ more/)
      if (rest === undefined) from.push(source(on))
      else more = Number(rest.replace(/\D/g, ""))
    }
    return { kind: "conflict", key, from, more }
  }
  on.must("ruled out (")
  const start = on.at
  let toolName: Cut | undefined = on.id()
  if (!on.is(", ")) {
    on.at = start
    toolName = undefined
  }
  const from = source(on)
  on.must(")")
  const line = on.is(": ") ? on.literal() : undefined
  return { kind: "ruled-out", toolName, from, line, tested: noted(on, "tested") }
}

const open = (on: Cursor) => {
  const bare = on.is("an open result")
  const said = bare ? undefined : { ...about(on), ...(on.must(" = "), { value: value(on) }) }
  on.must(" ← ")
  return { kind: "open", said, from: source(on), settles: noted(on, "settles"), tested: noted(on, "tested") }
}

const step = (on: Cursor) => {
  const settles = on.literal()
  on.must(" (to settle tool:")
  const id = on.id()
  on.must(")")
  return { kind: "step", settles, id }
}

const use = (on: Cursor) => {
  const call = on.is("in the answer: ") ? undefined : (on.must("in call "), on.id(": "))
  if (call !== undefined) on.must(": ")
  const used = on.literal()
  on.must(" ← ")
  const carriers: Array<{ readonly id: Cut; readonly standing: string | undefined }> = []
  let more = 0
  do {
    const rest = on.take(/^\+\d+ more/)
    if (rest !== undefined) {
      more = Number(rest.replace(/\D/g, ""))
      break
    }
    on.must("tool:")
    const id = on.id()
    on.must(" (")
    carriers.push({ id, standing: on.take(/^(?:fact|open|ruled-out|noise)/) })
    on.must(")")
  } while (on.is(", "))
  return { kind: "use", call, used, carriers, more }
}

const unsettled = (on: Cursor) => {
  on.must("tool:")
  const id = on.id()
  if (on.is(" was ruled out, and had been served as an absence")) return { kind: "absence", id }
  on.must(" ")
  const key = on.take(/^(?:not_checked|cannot_cover|try_instead)/)
  on.must(": ")
  return { kind: "item", id, key, what: on.literal(), why: noted(on, "why") }
}

const sections: ReadonlyArray<readonly [title: string, read: (on: Cursor) => unknown]> = [
  ["facts, ", fact],
  ["limitations, ", limitation],
  ["evidenceRefs, ", open],
  ["nextSteps, ", step],
  ["contingent, ", use],
  ["unsettled, ", unsettled]
]

const counted = (line: string) => {
  const on = new Cursor(line)
  const what = on.take(/^(?:noise|undeclared)/)
  on.must(": ")
  const count = Number(on.take(/^\d+/))
  on.must(" results")
  on.is(", served in full")
  on.must(" (")
  const ids: Array<Cut> = []
  let more = 0
  do {
    const rest = on.take(/^\+\d+ more/)
    if (rest === undefined) ids.push(on.id())
    else more = Number(rest.replace(/\D/g, ""))
  } while (on.is(", "))
  on.must(")")
  on.end()
  return { kind: what, count, ids, more }
}

/** The lines of a piece, as data, and how many of each section it says are not shown. */
export const parse = (rawContent: string) => {
  if (invisible.test(rawContent)) throw new Error("a character that cannot be seen")
  const [header, ...blocks] = rawContent.split("\n\n")
  if (header?.startsWith("[Notice") !== true || blocks.pop() !== "[End of notice]") throw new Error("no frame")
  const lines: Array<unknown> = []
  const more: { [section: string]: number } = {}
  for (const block of blocks) {
    const [title = "", ...rest] = block.split("\n")
    const section = sections.find(([start]) => title.startsWith(start))
    if (section === undefined) {
      if (rest.length > 0) throw new Error(`an unknown section: ${title}`)
      if (!title.startsWith("(") && !title.startsWith("In the answer, ")) lines.push(counted(title))
      continue
    }
    for (const line of rest) {
      const left = /^\+(\d+) more$/.exec(line)?.[1]
      if (left !== undefined) {
        more[section[0]] = Number(left)
        continue
      }
      const on = new Cursor(line)
      on.must("- ")
      lines.push(section[1](on))
      on.end()
    }
  }
  return { lines, more }
}
