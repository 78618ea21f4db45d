/**
 * A `Terminal` is where the command writes: the result to standard output, progress and errors to standard error. Every
 * text passes the one printer on its way.
 */
import * as ScreenLine from "../programs/ScreenLine.ts"
import * as ScreenStatus from "../programs/ScreenStatus.ts"

export interface Terminal {
  readonly room: ScreenLine.Room
  readonly progressRoom: ScreenLine.Room
  readonly out: (lines: ReadonlyArray<ScreenLine.Line>) => void
  /** Data as it is, which is for files and programs: to a terminal it could say anything. */
  readonly raw: (data: string | Uint8Array) => void
  /** One object on a line of its own. */
  readonly json: (value: unknown) => void
  readonly progress: (lines: ReadonlyArray<ScreenLine.Line>) => void
  /** The line that says what goes on now; each call replaces the one before. Only a terminal shows it. */
  readonly status: (line: ScreenLine.Line | undefined) => void
  /** The room of that line, as the terminal is now. */
  readonly statusRoom: () => { readonly width: number }
  /** How often that line may be written over. */
  readonly everyMs: number
}

const least = 60

/** A stream of the process, as far as it is used here. */
export interface Output {
  write(data: string | Uint8Array): unknown
  /** Absent for a pipe, as it is there. */
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

/** No terminal is narrower than 60 columns to us; what is no terminal has no width. */
const roomOf = ({ columns = 0, isTTY = false }: Output): ScreenLine.Room =>
  isTTY ? { width: Math.max(least, columns > 0 ? columns : 80) } : {}

const isSet = (name: string): boolean => (process.env[name] ?? "") !== ""

const colourOf = ({ isTTY = false }: Output): boolean =>
  isTTY && !isSet("NO_COLOR") && !isSet("CI") && process.env["TERM"] !== "dumb"

export const make = (stdout: Output, stderr: Output): Terminal => {
  const outColour = { colour: colourOf(stdout) }
  const progressColour = { colour: colourOf(stderr) }
  // What cannot be styled is taken to be read later, or by something that has no cursor.
  const live = progressColour.colour
  let standing = ScreenStatus.nothing

  const columns = (): number => stderr.columns ?? 0
  const over = (lines: ReadonlyArray<ScreenLine.Line>, status: ScreenLine.Line | undefined): void => {
    const next = ScreenStatus.over(standing, lines, status, { ...progressColour, columns: columns() })
    standing = next.standing
    if (next.text !== "") stderr.write(next.text)
  }
  const result = (text: string): void => {
    if (stdout.isTTY === true) over([], undefined)
    stdout.write(text)
  }

  return {
    room: roomOf(stdout),
    progressRoom: roomOf(stderr),
    out: (lines) => result(ScreenLine.print(lines, outColour)),
    raw: (data) => {
      stdout.write(data)
    },
    json: (value) => result(`${ScreenLine.json(value)}\n`),
    progress: (lines) => over(lines, undefined),
    status: (line) => {
      if (live) over([], line)
    },
    statusRoom: () => ScreenStatus.room(columns()),
    everyMs: isSet("TMUX") ? 1_000 : 125
  }
}

/** Says what went wrong, in two sentences or one object. */
export const complain = (
  terminal: Terminal,
  json: boolean,
  {
    code,
    exit,
    next,
    what
  }: { readonly code?: string; readonly exit: number; readonly next: string; readonly what: string },
  verb: string | undefined
): void => {
  const about = { what: ScreenLine.fit(what, 1_000), next: ScreenLine.fit(next, 1_000) }
  if (json) {
    terminal.json({
      format: "wherefore.error/1",
      ...(verb === undefined ? {} : { verb }),
      exit,
      ...(code === undefined ? {} : { code }),
      ...about
    })
    return
  }
  const { width } = terminal.progressRoom
  terminal.progress([
    ...ScreenLine.paragraph(about.what, width, 12).map((text) => [ScreenLine.span(text, "bad")]),
    ...ScreenLine.paragraph(about.next, width === undefined ? undefined : width - 2, 12).map((text) =>
      ScreenLine.plain(`  ${text}`)
    )
  ])
}
