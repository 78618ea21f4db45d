/**
 * C3: a process that is killed at a system call, or has it fail, has lost nothing that it acknowledged and left nothing that
 * it did not begin, in every store.
 */
import * as Crash from "../../test/campaigns/Crash.ts"
import type { Campaign } from "./Campaign.ts"

export const campaign: Campaign = {
  sizes: { "pull-request": 60, nightly: 2_000, release: 20_000 },
  run: (trials, seed) => Crash.run(trials, seed)
}
