import { defineConfig } from "vitest/config"
import Tally from "./scripts/Tally.ts"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/setup.ts"],
    pool: "forks",
    // Without it a run leaves one core idle.
    maxWorkers: "100%",
    minWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default", new Tally()]
  }
})
