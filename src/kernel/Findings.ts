/**
 * `Findings` are what the model declares it judged about earlier results: later passes serve that back, and stop sending
 * again what it judged useless. Nothing is inferred.
 *
 *     undeclared ──named in `_findings`──▶ fact | open | ruled-out | noise
 *     any standing ──named again──▶ the latest
 *
 * What a declaration says grounds nothing, and changes nothing about the call that carries it.
 *
 * @since 0.1.0
 */
export { Ask, CollapseMode } from "./Event.ts"
export { collapse } from "./FindingCollapse.ts"
export {
  contingent,
  type Contingencies,
  file,
  type Filed,
  mostContingent,
  mostRows,
  type Place,
  type Result,
  type Use,
  valuesOf
} from "./FindingFiling.ts"
export {
  type Conflict,
  empty,
  fold,
  type Fold,
  type Key,
  offered,
  servedToolCallIds,
  step,
  undeclared,
  type Witness
} from "./FindingFold.ts"
export { handles, type Handles, label, resolve } from "./FindingHandle.ts"
export { offer, type OfferBlock } from "./FindingOffer.ts"
export { ceiling, type FindingsPiece, piece } from "./FindingPiece.ts"
export {
  argument,
  type Declared,
  type Entry,
  most,
  offerIn,
  read,
  type Read,
  Rejection,
  RejectionCode,
  schema,
  type Unofferable
} from "./FindingRead.ts"
export {
  Assertion,
  Basis,
  Carrier,
  Contingent,
  DeclaredOn,
  Item,
  Limits,
  Row,
  Standing,
  StandingWord,
  Unsettled
} from "./FindingRow.ts"
