/**
 * A `Planted` is a bug that is put into a copy of the sources, and the test that has to fail for it. What no test fails for
 * could be there without anyone knowing.
 */
export interface Planted {
  readonly id: string
  /** Each `search` stands once in its file. */
  readonly changes: ReadonlyArray<{ readonly file: string; readonly search: string; readonly replace: string }>
  /** A file of tests, and of those in it only the ones whose names have these words, if they are given. */
  readonly test: string
  readonly only?: string
}
