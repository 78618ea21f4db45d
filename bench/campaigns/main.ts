/**
 * Runs a campaign: `npm run campaign -- NAME [--size pull-request|nightly|release] [--seed N]`. Prints what was tried, and
 * one line a failure; exits with 1 if there is one. `npm run campaign -- planted [ID...]` sees whether the tests find bugs
 * that are there: see `planted/`.
 */
import { spawnSync } from "node:child_process"
import { parseArgs } from "node:util"
import type { Campaign, Size } from "./Campaign.ts"
import { run } from "./planted/main.ts"

const campaigns = new Map<string, () => Promise<Campaign>>([
  ["c1", async () => (await import("./c1.ts")).campaign],
  ["c3", async () => (await import("./c3.ts")).campaign],
  ["c5", async () => (await import("./c5.ts")).campaign],
  ["c6", async () => (await import("./c6.ts")).campaign]
])

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { size: { type: "string", default: "nightly" }, seed: { type: "string", default: "1" } }
})
if (positionals[0] === "planted") process.exit(run(positionals.slice(1)) === 0 ? 0 : 1)
const sizes: ReadonlyArray<Size> = ["pull-request", "nightly", "release"]
const size = sizes.find((name) => name === values.size)
const [name = ""] = positionals
const load = campaigns.get(name)
const first = Number(values.seed)
if (load === undefined || size === undefined || !Number.isSafeInteger(first)) {
  console.error(
    `Write: npm run campaign -- ${Array.from(campaigns.keys()).join("|")} --size ${sizes.join("|")} --seed N`
  )
  process.exit(2)
}
const campaign = await load()
const { counts, failures } = await campaign.run(campaign.sizes[size], first)
console.log(`${name}  ${size}  ${campaign.sizes[size]} trials  seed ${first}`)
for (const [what, count] of Object.entries(counts)) console.log(`  ${String(count).padStart(7)}  ${what}`)
const git = spawnSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" })
const commit = git.status === 0 ? git.stdout.trim() : "unknown"
for (const { fault, seed } of failures) console.log(`seed=${seed} commit=${commit} campaign=${name} fault=${fault}`)
process.exitCode = failures.length === 0 ? 0 : 1
