/**
 * C5: whole runs are simulated, with everything around them that goes wrong; each seed twice, to the same story.
 */
import * as Simulated from "../../test/campaigns/Campaign.ts"
import type { Campaign } from "./Campaign.ts"

export const campaign: Campaign = {
  sizes: { "pull-request": 1_000, nightly: 10_000, release: 100_000 },
  run: Simulated.run
}
