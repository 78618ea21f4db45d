/**
 * A `CheckState` is where the checks of a run stand: what they have come to, which faults are on the record and which are
 * still to be written. Looks at the compose and the wire seam are functions of the state, so that a fold repeats them.
 *
 * @since 0.1.0
 */
import * as CallOutcome from "./CallOutcome.ts"
import type * as Check from "./Check.ts"
import type * as CheckEvent from "./CheckEvent.ts"
import * as CheckLedger from "./CheckLedger.ts"
import * as ClaimCheck from "./ClaimCheck.ts"
import type * as ClaimEvent from "./ClaimEvent.ts"
import type * as Event from "./Event.ts"
import * as Fault from "./Fault.ts"
import * as FindingWire from "./FindingWire.ts"
import * as GroundCheck from "./GroundCheck.ts"
import * as ParkCheck from "./ParkCheck.ts"
import * as SkillState from "./SkillState.ts"
import type * as State from "./State.ts"
import * as WindowWire from "./WindowWire.ts"
import * as WireCheck from "./WireCheck.ts"

export interface CheckState {
  readonly ledger: CheckLedger.CheckLedger
  /** Whether the run can park a map. */
  readonly parks: boolean
  /** Whether results can leave the window of the run. */
  readonly trims: boolean
  /** The faults on the record. */
  readonly faults: ReadonlyArray<Fault.Fault>
  /** Faults of the last reply that are not on the record yet. */
  readonly owed: ReadonlyArray<CheckEvent.FaultFound>
  readonly filed?: CheckEvent.ChecksFiled
  /** What the agent claims, and what the run has of it. Absent in a run that claims nothing. */
  readonly claims?: Claims
}

/** `ledger` is what results have settled; `read` is what the answer says. */
export interface Claims {
  readonly declared: ReadonlyArray<ClaimCheck.DeclaredClaim>
  readonly ledger: ReadonlyArray<ClaimCheck.ClaimLedgerRow>
  readonly read?: ClaimEvent.ClaimsRead
}

/** The checks of a run that says that it has them. A foreign trace and an old record say nothing. */
export const begin = ({ manifest: { checks, skills, window } }: Event.RunStarted): CheckState | undefined => {
  if (checks === undefined) return undefined
  const parks = skills?.renewalGrace !== undefined && skills.maps.length > 0
  const trims = window !== undefined
  const { claims, posture } = checks
  const armed = [
    WireCheck.check,
    ...(parks ? [ParkCheck.check] : []),
    ...(trims ? [GroundCheck.check] : []),
    ...(claims === undefined ? [] : [ClaimCheck.check])
  ]
  return {
    ledger: CheckLedger.open({ posture, armed }),
    parks,
    trims,
    faults: [],
    owed: [],
    ...(claims === undefined ? {} : { claims: { declared: claims, ledger: [] } })
  }
}

const found = (
  checks: CheckState,
  { faults }: Check.Verdict,
  iteration: number
): ReadonlyArray<CheckEvent.FaultFound> =>
  Fault.once(checks.faults, faults).map((fault) => ({ _tag: "FaultFound", iteration, ...fault }))

const parkVerdict = ({ selection, skills, tools }: State.State): Check.Verdict => {
  const { engagement } = SkillState.after(skills, skills.decided)
  const owned = new Map(tools.map(({ declared: { name, owners = [] } }) => [name, { name, owners }] as const))
  return ParkCheck.judge({
    parkedMapIds: engagement.flatMap(({ mapId, standing }) => (standing === "parked" ? [mapId] : [])),
    owned: Array.from(owned.values()),
    listed: selection.tools.map(({ tool: { name } }) => name)
  })
}

/** The results that have left, and those that can be read: no ticket is sent for them. */
const groundVerdict = ({ findings, messages, selection, tools, window }: State.State): Check.Verdict => {
  const served = selection.tools.flatMap(({ tool: { name } }) => {
    const found = tools.findLast(({ declared }) => declared.name === name)?.declared.annotations.argumentsFrom
    return found === undefined ? [] : [{ name, argumentsFrom: found }]
  })
  if (served.length === 0 || window === undefined) return GroundCheck.judge({ served, dropped: [], present: [] })
  const dropped: Array<GroundCheck.Result> = []
  const present: Array<GroundCheck.Result> = []
  for (const [at, { message }] of messages.entries()) {
    if (message.role !== "tool" || !CallOutcome.hasRun(message.outcome)) continue
    if (WindowWire.isGone(window.view, at)) dropped.push(message)
    else if (findings === undefined || !FindingWire.isCollapsed(findings.ledger, findings.config, message)) {
      present.push(message)
    }
  }
  return GroundCheck.judge({ served, dropped, present })
}

/** The looks at the compose seam of a run that can have something there. */
const composeVerdicts = (state: State.State): ReadonlyArray<Check.Verdict> => [
  ...(state.checks?.parks === true ? [parkVerdict(state)] : []),
  ...(state.checks?.trims === true ? [groundVerdict(state)] : [])
]

/** What the checks of the compose seam find in the pass that is about to begin, and that is not on the record. */
export const composed = (state: State.State): ReadonlyArray<CheckEvent.FaultFound> =>
  composeVerdicts(state).flatMap((verdict) =>
    state.checks === undefined ? [] : found(state.checks, verdict, state.iteration + 1)
  )

/** The state, in which nothing of the pass counts yet, with the looks that its model call stands for. */
export const call = (state: State.State): CheckState | undefined =>
  state.checks && {
    ...state.checks,
    ledger: composeVerdicts(state).reduce(
      (ledger, verdict) => CheckLedger.file(ledger, verdict, state.iteration + 1),
      state.checks.ledger
    )
  }

/** The look at the body that was sent: read back as it was assembled, as a list of names, or not at all. */
export const reply = (
  { checks, marks }: State.State,
  iteration: number,
  sent: Event.ModelReplied["sentTools"]
): CheckState | undefined => {
  if (checks === undefined) return undefined
  const assembled = marks.at(-1)?.selection.tools.map(({ tool: { name } }) => name) ?? []
  const manifest = sent === "as-assembled" ? assembled : sent
  const verdict = WireCheck.judge({ assembled, ...(manifest === undefined ? {} : { manifest }) })
  return {
    ...checks,
    ledger: CheckLedger.file(checks.ledger, verdict, iteration),
    owed: found(checks, verdict, iteration)
  }
}

/** What results settle and answers say joins what claims are judged by. */
export const claim = (checks: CheckState, event: ClaimEvent.ClaimEvent): CheckState => {
  const { claims } = checks
  if (claims === undefined) return checks
  if (event._tag === "ClaimsRead") return { ...checks, claims: { ...claims, read: event } }
  const { iteration, rows, toolCallId, toolName } = event
  const ledger = [...claims.ledger, ...rows.map((row) => ({ ...row, toolName, toolCallId, iteration }))]
  return { ...checks, claims: { ...claims, ledger } }
}

/** An answer that was not given was denied, or its schema accepted none. */
const claimed = ({ answered, answering, checks, final }: State.State): Check.Verdict | undefined => {
  const claims = checks?.claims
  if (claims === undefined) return undefined
  const { declared, ledger, read } = claims
  if (answered !== undefined && read !== undefined) {
    return ClaimCheck.judge({ claims: declared, ledger, answer: { status: "read", values: read.values } })
  }
  const isRejected = answering !== undefined && final?.given === undefined
  return ClaimCheck.judge({ claims: declared, ledger, answer: { status: isRejected ? "rejected" : "denied" } })
}

/** Whether what the answer says of the claims is still to be read. Only the answer that is then given is. */
export const isUnread = ({ checks }: State.State): boolean =>
  checks?.claims !== undefined && checks.claims.read === undefined

/** What the last judge finds in an answer that has been given, and that is not on the record. */
export const answered = (state: State.State): ReadonlyArray<CheckEvent.FaultFound> => {
  const verdict = claimed(state)
  return state.checks === undefined || verdict === undefined ? [] : found(state.checks, verdict, state.iteration)
}

/** A fault is on the record. */
export const fault = (checks: CheckState, { _tag: _, iteration: __, ...fault }: CheckEvent.FaultFound): CheckState => {
  const faults = [...checks.faults, fault]
  return { ...checks, faults, owed: checks.owed.filter((one) => Fault.once(faults, [one]).length > 0) }
}

/** What is written of the checks before the run ends: once, if they are kept at all. */
export const close = (state: State.State): ReadonlyArray<CheckEvent.ChecksFiled> => {
  const { checks, spent } = state
  if (checks === undefined || checks.filed !== undefined) return []
  const verdict = claimed(state)
  const ledger = verdict === undefined ? checks.ledger : CheckLedger.file(checks.ledger, verdict, state.iteration)
  return [CheckLedger.close(ledger, spent.passes > 0)]
}
