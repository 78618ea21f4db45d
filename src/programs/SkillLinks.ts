/**
 * `SkillLinks` are the relative links of a Markdown text, outside its code.
 *
 * @internal
 */

/** `target` is decoded, without its query and fragment; `line` counts from 1. */
export interface Link {
  readonly target: string
  readonly line: number
}

const inline = /\]\([ \t]*(?:<([^<>]*)>|([^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*))/g
const definition = /^ {0,3}\[(?!\^)[^\]]+\]:[ \t]*(?:<([^<>]*)>|(\S+))/
const fence = /^ {0,3}(`{3,}|~{3,})/

/** A scheme of at least two letters, a host, or a place in the text itself. */
const elsewhere = /^([A-Za-z][A-Za-z0-9+.-]+:|\/\/|#|\?|$)/

const decode = (target: string): string => {
  try {
    return decodeURIComponent(target)
  } catch {
    return target
  }
}

/** A line without its code between backticks: as many close it as open it. */
const withoutCode = (line: string): string => {
  const runs = Array.from(line.matchAll(/`+/g), ({ 0: run, index }) => ({ index, length: run.length }))
  // For each run, the next one that is as long.
  const next = new Map<number, number>()
  const nearest = new Map<number, number>()
  for (const [at, { length }] of [...runs.entries()].reverse()) {
    const closing = nearest.get(length)
    if (closing !== undefined) next.set(at, closing)
    nearest.set(length, at)
  }
  let out = ""
  let from = 0
  for (let at = 0; at < runs.length; at += 1) {
    const closing = next.get(at) ?? at
    const [opens, closes] = [runs[at], runs[closing]]
    if (closing === at || opens === undefined || closes === undefined) continue
    out += line.slice(from, opens.index)
    from = closes.index + closes.length
    at = closing
  }
  return out + line.slice(from)
}

/** In their order, each target once for each line that has it. */
export const of = (markdown: string): ReadonlyArray<Link> => {
  let open: string | undefined
  return markdown.split("\n").flatMap((written, index): ReadonlyArray<Link> => {
    const mark = fence.exec(written)?.[1]
    if (open !== undefined) {
      if (mark?.startsWith(open) === true && written.trim() === mark) open = undefined
      return []
    }
    if (mark !== undefined) {
      open = mark
      return []
    }
    const text = withoutCode(written)
    const defined = definition.exec(text)
    const found = [...text.matchAll(inline), ...(defined === null ? [] : [defined])]
    const targets = found.flatMap((match) => {
      const target = match[1] ?? match[2] ?? ""
      return elsewhere.test(target) ? [] : [decode(target.replace(/[?#].*$/, ""))]
    })
    return [...new Set(targets)].map((target) => ({ target, line: index + 1 }))
  })
}
