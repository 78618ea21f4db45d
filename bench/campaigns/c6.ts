/**
 * C6: a run that was changed where it is stored is found, and where, or is one of those that nobody can find.
 */
import * as Corruption from "../../test/campaigns/Corruption.ts"
import type { Campaign } from "./Campaign.ts"

export const campaign: Campaign = {
  sizes: { "pull-request": 2_000, nightly: 20_000, release: 100_000 },
  run: Corruption.run
}
