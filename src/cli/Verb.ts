/**
 * A `Verb` is one thing that the command can do, as its user sees it: what it takes, what it says of itself, and where its
 * code is. The code is loaded when the verb runs.
 */

export interface Option {
  readonly name: string
  /** What stands for its value in the help. Without one it is a switch. */
  readonly value?: string
  readonly what: string
}

export interface Verb {
  readonly name: string
  /** What follows the name, as the help shows it. */
  readonly takes: string
  /** How many arguments it needs and how many it can use. */
  readonly least: number
  readonly most: number
  readonly what: string
  readonly options: ReadonlyArray<Option>
  readonly details: ReadonlyArray<string>
  readonly examples: ReadonlyArray<string>
}

export const common: ReadonlyArray<Option> = [
  { name: "dir", value: "DIR", what: "where the records are, or a database" },
  { name: "json", what: "one JSON object a line, the first with the format" },
  { name: "debug", what: "print the cause of an error" },
  { name: "help", what: "this text" }
]

const full: Option = { name: "full", what: "leave nothing out" }

const runs =
  "RUN is a run id or the start of one, a record file, @ for the newest run here, @2 for the one before that, or - for standard input."

const by: Option = { name: "by", value: "NAME", what: "who decides; the name of the system's user if absent" }

const deciding: ReadonlyArray<Option> = [{ name: "note", value: "TEXT", what: "why, for the record" }, by]

const refused = "Exits with 5 if that is not what the run waits for: decided already, about something else, too late."

export const verbs = [
  {
    name: "run",
    takes: "FILE.ts [-- ARGUMENTS]",
    least: 1,
    most: 1,
    what: "run a program and record it",
    options: [],
    details: [
      "The default export of FILE is an Effect, such as one of Agent.run. It may leave LLM, Record and ArtifactStore open: the record is kept in DIR, artifacts in DIR/artifacts, and the model is that of WHEREFORE_MODEL_URL, WHEREFORE_MODEL and WHEREFORE_API_KEY.",
      "What goes on is shown on standard error, what came of it on standard output."
    ],
    examples: ["wherefore run hello.ts", "wherefore run report.ts -- --month 5"]
  },
  {
    name: "resume",
    takes: "RUN FILE.ts [-- ARGUMENTS]",
    least: 2,
    most: 2,
    what: "go on with a run that waits or was stopped",
    options: [],
    details: [
      "FILE exports a function resume, which is given the id of the run and gives an Effect, such as that of Agent.resume. It may leave open what FILE may for run.",
      "What was decided is done, and what was done is not done again. A run that still waits, or that has ended, is shown as it is.",
      runs
    ],
    examples: ["wherefore resume @ pay.ts"]
  },
  {
    name: "runs",
    takes: "",
    least: 0,
    most: 0,
    what: "list the runs here, newest first",
    options: [
      { name: "full", what: "all of them, not the newest alone" },
      { name: "verify", what: "prove of each that it is listed from a whole record" }
    ],
    details: [
      "The list is read from the first and the last line of each record, and says nothing of what is between them. With --verify all of each record is read; exits with 1 if one is not whole."
    ],
    examples: ["wherefore runs", "wherefore runs --verify", "wherefore runs --json | head -3"]
  },
  {
    name: "show",
    takes: "RUN",
    least: 1,
    most: 1,
    what: "what was asked and answered, on what, and how",
    options: [{ name: "prices", value: "FILE", what: "a table of prices, to show what the run cost" }, full],
    details: [
      'FILE is JSON: {"currency": "USD", "models": [{"model": "m", "input": "3", "output": "15"}]}, per million tokens, where a model may also have a provider, cacheRead, cacheWrite and reasoning. What the record or the table does not say is named, and never guessed.',
      runs
    ],
    examples: ["wherefore show @", "wherefore show run.ndjson --full", "wherefore show @ --prices prices.json"]
  },
  {
    name: "why",
    takes: "RUN [--value TEXT | --call ID | --pass N | …]",
    least: 1,
    most: 2,
    what: "walk what was said back to what caused it",
    options: [
      { name: "value", value: "TEXT", what: "why the answer, or a reply before it, says this" },
      { name: "call", value: "ID", what: "why a tool was called as it was" },
      { name: "pass", value: "N", what: "why the model said and asked for what it did in a pass" },
      { name: "missing", value: "N", what: "what the run had and a pass was not sent" },
      { name: "decision", value: "N", what: "why a pass chose the calls that it made" },
      { name: "likely", what: "tell what is only likely, too" },
      { name: "lists", value: "LIST", what: "a field that lists ids, and what reads one" },
      full
    ],
    details: [
      "Without one of these, every value of the answer is asked about. If calls of several passes have the ID, --pass says which is meant; without it, it is the newest.",
      "LIST is TOOL:FIELD=TOOL.ARGUMENT, as search:/orders/*=get_order.id; several with commas. It is for records whose tools do not declare it.",
      "Exits with 1 if something asked about is nowhere in what the model was sent, or was listed and never read.",
      runs
    ],
    examples: ["wherefore why @", "wherefore why @ --value '$1,859'"]
  },
  {
    name: "findings",
    takes: "RUN",
    least: 1,
    most: 1,
    what: "what the model judged of its results",
    options: [full],
    details: [
      "Facts, open, ruled out and noise are what the model declared of a result; all else is read off the record: values used with no fact for a source, what absences left unsettled, conflicts, what was dropped, results that nobody named, and what wires were served of it.",
      "Exits with 1 if findings were off in the run.",
      runs
    ],
    examples: ["wherefore findings @", "wherefore findings @ --json"]
  },
  {
    name: "artifacts",
    takes: "ACTION [RUN] [REF]",
    least: 1,
    most: 3,
    what: "list, get or verify what runs stored",
    options: [
      { name: "store", value: "DIR", what: "where the artifacts are; DIR/artifacts if absent" },
      { name: "conversation", value: "ID", what: "whose they are, instead of RUN" },
      { name: "tenant", value: "NAME", what: "and the tenant of the conversation" },
      { name: "principal", value: "NAME", what: "and its principal" },
      { name: "repair", what: "let verify remove what crashes have left" }
    ],
    details: [
      "list RUN shows the tickets that the run may see, newest first; get RUN REF gives the data as it was stored, or an error. The record of the run says whose artifacts it may see. Without a run or a conversation nothing is shown.",
      "verify reads every artifact of the directory. It exits with 1 if one is not what was put, and with 3 if there is only what a crash left, which --repair removes. No artifact is removed.",
      runs
    ],
    examples: ["wherefore artifacts list @", "wherefore artifacts get @ art_…", "wherefore artifacts verify --repair"]
  },
  {
    name: "approvals",
    takes: "[RUN]",
    least: 0,
    most: 1,
    what: "what runs wait for from a person",
    options: [],
    details: [
      "Of each call that needs an approval all arguments are shown, and nothing is cut; characters that cannot be seen are written as escapes. Without RUN, those of all runs here that have not ended.",
      runs
    ],
    examples: ["wherefore approvals", "wherefore approvals @ --json"]
  },
  {
    name: "approve",
    takes: "RUN TICKET",
    least: 2,
    most: 2,
    what: "let a call run that waits for a person",
    options: deciding,
    details: [
      "TICKET, or the start of one, is bound to the call, its arguments and its tool as they were shown. The id of a call will do, too, and takes what waits then. The call runs when the run is resumed: wherefore resume, or Agent.resume.",
      refused,
      runs
    ],
    examples: ["wherefore approve @ apr_uXkq9", "wherefore approve @ apr_uXkq9 --note checked"]
  },
  {
    name: "deny",
    takes: "RUN TICKET",
    least: 2,
    most: 2,
    what: "keep a call from running that waits for a person",
    options: deciding,
    details: [
      "As approve. The model reads that a person declined, with the note, when the run is resumed.",
      refused,
      runs
    ],
    examples: ["wherefore deny @ apr_uXkq9 --note later"]
  },
  {
    name: "resolve",
    takes: "RUN CALL FOUND",
    least: 3,
    most: 3,
    what: "say what became of a call that was lost",
    options: [
      { name: "because", value: "TEXT", what: "how you know; the model reads it" },
      { name: "pass", value: "N", what: "the pass of the call, if several have its id" },
      by
    ],
    details: [
      "CALL is the id of a call whose outcome nobody knows: it was running when its process was lost, or took too long. It is never run again by itself. FOUND is applied or not-applied, and --because has to be given.",
      refused,
      runs
    ],
    examples: ["wherefore resolve @ c3 applied --because booked"]
  },
  {
    name: "verify",
    takes: "RUN",
    least: 1,
    most: 1,
    what: "prove that a record is as it was written",
    options: [{ name: "anchor", value: "N:HASH", what: "an event and its hash that were kept elsewhere" }],
    details: ["Exits with 1 and names the first bad event if the record was changed.", runs],
    examples: ["wherefore verify @", "wherefore verify run.ndjson --anchor 24:9c1e…"]
  },
  {
    name: "replay",
    takes: "RUN",
    least: 1,
    most: 1,
    what: "make each request again; calls nothing",
    options: [],
    details: [
      "Each request is made anew from what the record holds up to there, and compared with what was sent. Exits with 1 and names the first pass that differs, and its piece. What an agent would do now is asked in a program: Replay.run.",
      runs
    ],
    examples: ["wherefore replay @", "wherefore replay run.ndjson --json"]
  },
  {
    name: "anchor",
    takes: "ACTION [WHAT]",
    least: 1,
    most: 2,
    what: "sign how far runs are, to keep elsewhere",
    options: [
      { name: "key", value: "FILE", what: "the key that signs; keygen writes it there" },
      { name: "trust", value: "KEY", what: "its public half, as keygen prints it" }
    ],
    details: [
      "A record proves by itself that nothing in it was changed, and not that nothing was cut off its end. keygen NAME makes a key (Ed25519) and prints its public half. sign signs RUN, or all runs here, and prints the checkpoints (signed notes of C2SP): keep them where who can write the records cannot.",
      "check FILE compares all runs here with such a file. Exits with 1 if one was cut, written anew, or is gone."
    ],
    examples: [
      "wherefore anchor keygen example.org/agents --key anchor.key",
      "wherefore anchor sign --key anchor.key | tee runs.anchor",
      "wherefore anchor check runs.anchor --trust example.org/agents+1a2b3c4d+…"
    ]
  },
  {
    name: "import",
    takes: "FILE",
    least: 1,
    most: 1,
    what: "make records of conversations from elsewhere",
    options: [{ name: "format", value: "NAME", what: "openai-chat, which is also the default" }],
    details: [
      "FILE, or - for standard input, is JSON or JSON lines: a conversation is an array of messages, or an object with messages. Several of them become several runs.",
      "If one of them cannot be read, none is imported, and the first mistake is named with its place."
    ],
    examples: ["wherefore import chat.json", "wherefore import traces.jsonl --format openai-chat"]
  },
  {
    name: "serve",
    takes: "--cluster [OPTIONS]",
    least: 0,
    most: 0,
    what: "drive durable runs, with other runners",
    options: [
      { name: "cluster", what: "be one of the runners over a database" },
      { name: "agents", value: "FILE", what: "whose default export is Durable.layer({ agents })" },
      { name: "database", value: "URL", what: "PostgreSQL; that of WHEREFORE_DATABASE if absent" },
      { name: "runner-address", value: "HOST:PORT", what: "where others reach it; localhost:34431" },
      { name: "listen", value: "HOST:PORT", what: "where it listens, if that is another place" },
      { name: "lease", value: "SECONDS", what: "how long its runs stay with it if it is silent; 12" },
      { name: "handover", value: "SECONDS", what: "how long its runs may go on when it ends; 5" }
    ],
    details: [
      "The default export of FILE is a layer of Durable. It may leave the engine, Record, ArtifactStore and LLM open: records and artifacts are kept in the database, and the model is that of WHEREFORE_MODEL_URL, WHEREFORE_MODEL and WHEREFORE_API_KEY.",
      "Prints one line when it is ready. SIGTERM and SIGINT end it with 0: its runs are left to the other runners. Other processes see the words of a command: a URL with a password is best given in WHEREFORE_DATABASE."
    ],
    examples: [
      "wherefore serve --cluster --agents app.ts --database postgres://localhost/app",
      "wherefore serve --cluster --agents app.ts --runner-address 10.0.0.7:34431"
    ]
  },
  {
    name: "help",
    takes: "[VERB]",
    least: 0,
    most: 1,
    what: "this text, or that of a verb",
    options: [],
    details: [],
    examples: ["wherefore help why"]
  }
] as const satisfies ReadonlyArray<Verb>

export type Name = (typeof verbs)[number]["name"]

export const find = (name: string): (Verb & { readonly name: Name }) | undefined =>
  verbs.find((verb) => verb.name === name)

/** How many letters have to be changed, added, left out or swapped to get from one word to the other. */
const distance = (left: string, right: string): number => {
  let before: Array<number> = []
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i++) {
    const next = [i]
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1] ? 0 : 1
      const swapped =
        left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1] ? (before[j - 2] ?? Infinity) + 1 : Infinity
      next[j] = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same, swapped)
    }
    before = row
    row = next
  }
  return row[right.length] ?? 0
}

/** The name that was probably meant. */
export const nearest = (word: string, names: ReadonlyArray<string>): string | undefined => {
  if (word.length > 32) return undefined
  const [best] = names
    .map((name) => ({ name, far: name.startsWith(word) && word.length > 1 ? 0 : distance(word, name) }))
    .sort((a, b) => a.far - b.far || Math.abs(a.name.length - word.length) - Math.abs(b.name.length - word.length))
  return best !== undefined && best.far <= Math.max(1, Math.floor(best.name.length / 3)) ? best.name : undefined
}
