/**
 * A `ChatFilter` leaves of a reply by the chat-completions protocol what we read, and says which call each piece of a
 * streamed call is of. Packages guess that from ids and names: they give a call whose id there was already an id of their
 * own, and drop one without a name, where the same reply as a whole keeps both.
 *
 * @internal
 */
import * as Predicate from "effect/Predicate"
import * as ReplyFilter from "./ReplyFilter.ts"

type Fields = ReplyFilter.Fields

/** A message or a delta of one, without what is told of its text. */
const bare = (choice: unknown, key: string, more: (fields: Fields) => Fields): unknown => {
  if (!Predicate.isRecord(choice)) return choice
  const { logprobs: _, ...rest } = choice
  const given = ReplyFilter.objectIn(rest, key)
  if (given === undefined) return rest
  const { annotations: __, ...message } = given
  return { ...rest, [key]: more(message) }
}

/** One choice is asked for, and the first is read. */
const choices = (fields: Fields, key: string, more: (message: Fields, choice: unknown) => Fields): Fields =>
  Array.isArray(fields["choices"])
    ? {
        ...fields,
        choices: fields["choices"].slice(0, 1).map((one: unknown) => bare(one, key, (given) => more(given, one)))
      }
    : fields

const callsIn = (message: Fields): ReadonlyArray<Fields> | undefined => {
  const { tool_calls: calls } = message
  return Array.isArray(calls) && calls.every(Predicate.isRecord) ? calls : undefined
}

/** What is said of a call. A blank id or name is none. */
const told = (call: Fields) => {
  const { arguments: args, name } = ReplyFilter.objectIn(call, "function") ?? {}
  const { extra_content, id, index } = call
  return {
    args: args ?? "",
    ...(Predicate.isString(id) && id.trim() !== "" ? { id } : {}),
    ...(Predicate.isNumber(index) ? { index } : {}),
    ...(Predicate.isString(name) && name.trim() !== "" ? { name } : {}),
    more: extra_content === undefined ? {} : { extra_content }
  }
}

type Told = ReturnType<typeof told>

/** A call of a whole reply. */
const call = (given: Fields): Fields => {
  const { args, id, more, name = "" } = told(given)
  return { ...(id === undefined ? {} : { id }), type: "function", function: { name, arguments: args }, ...more }
}

/** A call that is being written. */
interface Open {
  readonly n: number
  readonly index: number
  id: string | undefined
  name: string | undefined
  /** What came before its name. */
  held: string
  sent: boolean
  /** How deep in objects and lists its arguments are; `whole` once they have come out of all. */
  depth: number
  quoted: false | "text" | "escape"
  whole: boolean
}

const opens = (args: unknown): boolean => Predicate.isString(args) && /^\s*[{[]/.test(args)

const follow = (open: Open, args: string): void => {
  for (let at = 0; at < args.length && !open.whole; at++) {
    const c = args.charAt(at)
    if (open.quoted === "escape") open.quoted = "text"
    else if (open.quoted === "text") open.quoted = c === "\\" ? "escape" : c === '"' ? false : "text"
    else if (c === '"') open.quoted = "text"
    else if (c === "{" || c === "[") open.depth++
    else if ((c === "}" || c === "]") && --open.depth <= 0) open.whole = true
  }
}

/** A call without a name is sent when its reply ends, or when it is this long. */
const maxHeld = 65_536

/** No call of a reply has as many others before it. */
const many = 1_000_000

/** Which call a piece is of, by its place, or where servers tell none by its id; a new one if it begins another. */
const isOf = (open: Open, { args, id, name }: Told): boolean => {
  if (name === undefined || open.name === undefined) return true
  if (name !== open.name) return false
  const isOther = id !== undefined && open.id !== undefined && id !== open.id
  return open.whole ? !isOther && !opens(args) : !(isOther && opens(args))
}

/**
 * Ids and names as the package is given them, so that no two ids are the same and no name is empty: the number of the
 * call stands before its id, and a colon before its name.
 */
const spelled = {
  id: ({ id, n }: Open) => (id === undefined ? {} : { id: `${n}:${id}` }),
  name: ({ name }: Open) => `:${name ?? ""}`
}

/** What was spelled so by a stream. */
export const unspelled = (id: string, name: string): { readonly id: string; readonly name: string } => ({
  id: id.replace(/^\d+:/, ""),
  name: name.replace(/^:/, "")
})

const deltas = () => {
  const all: Array<Open> = []
  /** The last call at a place, and the last with an id. */
  const byIndex = new Map<number, Open>()
  const byId = new Map<string, Open>()

  const find = (piece: Told): Open | undefined => {
    const { id, index, name } = piece
    const named = id === undefined ? undefined : byId.get(id)
    const here = index === undefined ? named : byIndex.get(index)
    if (here !== undefined) return isOf(here, piece) ? here : undefined
    if (name !== undefined) return undefined
    return index === undefined ? all.at(-1) : named
  }

  const begin = ({ id, index, name }: Told): Open => {
    const n = all.length
    const open: Open = {
      n,
      index: index ?? n,
      id,
      name,
      held: "",
      sent: false,
      depth: 0,
      quoted: false,
      whole: false
    }
    all.push(open)
    byIndex.set(open.index, open)
    return open
  }

  /** Calls stand in the order of their places, and those at one place in the order in which they came. */
  const at = ({ index, n }: Open): number => index * many + n

  const first = (open: Open, args: unknown, more: Fields): Fields => {
    open.sent = true
    const written = Predicate.isString(args) ? open.held + args : args
    open.held = ""
    return {
      index: at(open),
      ...spelled.id(open),
      type: "function",
      function: { name: spelled.name(open), arguments: written },
      ...more
    }
  }

  const one = (given: Fields): ReadonlyArray<Fields> => {
    const piece = told(given)
    const open = find(piece) ?? begin(piece)
    const { args, id, more, name } = piece
    open.name ??= name
    open.id ??= id
    if (open.id !== undefined) byId.set(open.id, open)
    if (Predicate.isString(args)) follow(open, args)
    if (open.sent) return [{ index: at(open), function: { arguments: args }, ...more }]
    if (open.name !== undefined || !Predicate.isString(args) || open.held.length > maxHeld) {
      return [first(open, args, more)]
    }
    open.held += args
    return []
  }

  return (delta: Fields, choice: unknown): Fields => {
    const calls = callsIn(delta)
    const pieces = (calls ?? []).flatMap(one)
    const isEnd = Predicate.isRecord(choice) && Predicate.isString(choice["finish_reason"])
    const rest = isEnd ? all.filter(({ sent }) => !sent).map((open) => first(open, "", {})) : []
    return calls === undefined && rest.length === 0 ? delta : { ...delta, tool_calls: [...pieces, ...rest] }
  }
}

export const filter: ReplyFilter.Filter = {
  events: () => {
    const delta = deltas()
    return (event) => choices(event, "delta", delta)
  },
  body: (body) =>
    choices(body, "message", (message) => {
      const calls = callsIn(message)
      return calls === undefined ? message : { ...message, tool_calls: calls.map(call) }
    })
}
