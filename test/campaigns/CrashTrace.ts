/**
 * A `CrashTrace` is what `strace` wrote of a process: its system calls on the files of a store, in order. It says where the
 * process can be stopped, and whether what was acknowledged had been flushed by then.
 */
import { dirname } from "node:path"

export interface Call {
  readonly tid: string
  readonly name: string
  /** Of the file that it is about; where it goes to, for a rename. Empty if it is about none. */
  readonly path: string
  readonly from: string
  readonly creates: boolean
  readonly ok: boolean
  /** Stopped or failed on purpose. */
  readonly injected: boolean
  readonly text: string
}

export const names = "write,writev,pwrite64,fsync,fdatasync,rename,renameat2,link,symlink,unlink,ftruncate,openat,mkdir"

const pathOf = (name: string, args: string): { readonly path: string; readonly from: string } => {
  const quoted = Array.from(args.matchAll(/"((?:[^"\\]|\\.)*)"/g), ([, text = ""]) => text)
  if (name === "openat" || name === "mkdir" || name === "unlink") return { path: quoted[0] ?? "", from: "" }
  if (name === "rename" || name === "renameat2" || name === "link" || name === "symlink")
    return { path: quoted[1] ?? "", from: quoted[0] ?? "" }
  return { path: /^\d+<([^>]*)>/.exec(args)?.[1] ?? "", from: "" }
}

/** The calls in the order in which they began. */
export const parse = (text: string): ReadonlyArray<Call> => {
  const calls: Array<Call> = []
  const begun = new Map<string, number>()
  const complete = (line: string) => ({
    ok: / = \d/.test(line.slice(line.lastIndexOf(") "))),
    // What a process was killed at has no result.
    injected: line.includes("(INJECTED)") || line.endsWith(" = ?")
  })
  for (const line of text.split("\n")) {
    const [, tid = "", rest = ""] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    const resumed = /^<\.\.\. \w+ resumed>/.test(rest)
    const at = begun.get(tid)
    if (resumed && at !== undefined) {
      calls[at] = { ...calls[at]!, ...complete(rest) }
      begun.delete(tid)
      continue
    }
    if (rest.startsWith("+++ killed by")) {
      if (at !== undefined) calls[at] = { ...calls[at]!, injected: true }
      continue
    }
    const [, name, args = ""] = /^(\w+)\((.*)$/.exec(rest) ?? []
    if (name === undefined) continue
    const open = rest.endsWith("<unfinished ...>")
    if (open) begun.set(tid, calls.length)
    calls.push({
      tid,
      name,
      ...pathOf(name, args),
      creates: args.includes("O_CREAT"),
      text: rest,
      ...(open ? { ok: false, injected: false } : complete(rest))
    })
  }
  return calls
}

const within = (path: string, root: string) => path === root || path.startsWith(`${root}/`) || dirname(root) === path

export const isStore = ({ path, from }: Call, root: string) =>
  path !== "" && !path.startsWith("pipe:") && (within(path, root) || within(from, root))

export const isAck = ({ name, text }: Call) => name === "writev" && text.includes('iov_base="ack ')
const isWord = ({ name, text }: Call) => name === "writev" && /iov_base="(ack|error|done)/.test(text)

/** A place to stop at: the `when`-th call of this name, of those about `path` if there is one, in a thread. */
export interface Boundary {
  readonly name: string
  readonly path?: string
  readonly when: number
  /** How many acknowledgements were before it. */
  readonly acks: number
}

export const keyOf = ({ name, path, when }: Omit<Boundary, "acks">) => `${name} ${path ?? "*"} ${when}`

/** `isNamed`: the files of the store have the same names each time. */
export const boundaries = (calls: ReadonlyArray<Call>, root: string, isNamed: boolean): ReadonlyArray<Boundary> => {
  const counts = new Map<string, number>()
  const found = new Map<string, Boundary>()
  // What another thread would be stopped at first: the platform itself, when it starts.
  const taken = new Set<string>()
  let acks = 0
  for (const call of calls) {
    const word = isWord(call)
    const store = isStore(call, root)
    const path = isNamed && !word ? call.path : undefined
    if (isNamed && !word && !store) continue
    const counter = `${call.tid} ${call.name} ${path ?? "*"}`
    const when = (counts.get(counter) ?? 0) + 1
    counts.set(counter, when)
    if (!store && !word) {
      taken.add(keyOf({ name: call.name, when }))
      continue
    }
    // Wakeups of the platform are writes too, and as many as it likes.
    if (!isNamed && call.name === "write") continue
    const relative = path === undefined ? {} : { path: path.replace(root, "ROOT").replace(dirname(root), "ABOVE") }
    const boundary = { name: call.name, when, acks, ...relative }
    if (isAck(call)) acks += 1
    found.set(keyOf(boundary), boundary)
  }
  return Array.from(found.values()).filter((boundary) => !taken.has(keyOf(boundary)))
}

export interface Flushes {
  readonly acks: number
  readonly fsyncs: number
  readonly faults: ReadonlyArray<string>
}

/** `spares` are files that may be flushed later, and `passing` those whose names may. */
interface Later {
  readonly spares: RegExp
  readonly passing: RegExp
}

/**
 * Whether each acknowledgement came after all that was written was flushed, and each name made safe.
 */
export const flushes = (calls: ReadonlyArray<Call>, root: string, { passing, spares }: Later): Flushes => {
  const dirty = new Set<string>()
  const unnamed = new Map<string, Set<string>>()
  const known = new Set<string>()
  const faults: Array<string> = []
  let acks = 0
  let fsyncs = 0
  const name = (path: string) => {
    if (passing.test(path) || known.has(path)) return
    known.add(path)
    unnamed.set(dirname(path), (unnamed.get(dirname(path)) ?? new Set()).add(path))
  }
  const forget = (path: string) => {
    dirty.delete(path)
    known.delete(path)
    unnamed.get(dirname(path))?.delete(path)
  }
  for (const call of calls) {
    if (isAck(call)) {
      acks += 1
      for (const path of dirty) faults.push(`acknowledged before ${path.slice(root.length)} was flushed`)
      for (const paths of unnamed.values())
        for (const path of paths) faults.push(`acknowledged before the name ${path.slice(root.length)} was flushed`)
      dirty.clear()
      unnamed.clear()
      continue
    }
    if (!call.ok || !isStore(call, root)) continue
    const { from, path } = call
    if (/^(write|pwrite64|ftruncate)$/.test(call.name) && !spares.test(path)) dirty.add(path)
    if (/^(fsync|fdatasync)$/.test(call.name)) {
      fsyncs += 1
      dirty.delete(path)
      unnamed.delete(path)
    }
    if (call.name === "mkdir" || (call.name === "openat" && call.creates)) name(path)
    if (call.name.startsWith("rename")) {
      if (dirty.has(from)) faults.push(`renamed before ${from.slice(root.length)} was flushed`)
      forget(from)
      known.delete(path)
      name(path)
    }
    if (call.name === "unlink") forget(path)
  }
  return { acks, fsyncs, faults }
}
