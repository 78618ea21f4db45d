import { defineConfig } from "vitest/config"
import Tally from "./scripts/Tally.ts"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/setup.ts"],
    pool: "forks",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ["default", new Tally()]
  }
})
