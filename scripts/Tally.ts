/**
 * A `Tally` is the last line of a test run: how many passed, failed and, if some were, were skipped. A file that cannot be read, a hook
 * that fails and an error that nobody caught each count as one failure.
 */
import type { Reporter, SerializedError, TestModule, TestRunEndReason } from "vitest/node"

export default class Tally implements Reporter {
  #line = "0 passed, 1 failed"

  onInit(): void {
    // After every other reporter, whatever their order.
    process.once("exit", () => console.log(this.#line))
  }

  onTestRunEnd(
    modules: ReadonlyArray<TestModule>,
    errors: ReadonlyArray<SerializedError>,
    reason: TestRunEndReason
  ): void {
    let passed = 0
    let failed = errors.length
    let skipped = 0
    for (const module of modules) {
      failed += module.errors().length
      for (const suite of module.children.allSuites()) failed += suite.errors().length
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === "passed") passed += 1
        if (state === "failed") failed += 1
        if (state === "skipped") skipped += 1
      }
    }
    if (failed === 0 && reason !== "passed") failed = 1
    this.#line = `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`
  }
}
