/**
 * C1: lists of operations have the same results in memory, a file, SQLite and PostgreSQL.
 */
import * as Parity from "../../test/campaigns/Parity.ts"
import * as Database from "../../test/services/RecordDatabase.ts"
import type { Campaign } from "./Campaign.ts"

export const campaign: Campaign = {
  sizes: { "pull-request": 500, nightly: 20_000, release: 100_000 },
  run: (trials, seed) => Parity.run(trials, seed, trials <= 500 ? 50 : 100).finally(() => Database.closePool())
}
