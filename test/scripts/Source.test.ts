import { assert, describe, it } from "@effect/vitest"
import * as Source from "../../scripts/Source.ts"

const of = (text: string) => Source.of("Example.ts", text)

describe("Source", () => {
  for (const [text, code] of [
    ["a // b", "a     "],
    ["a /* b\nc */ d", "a     \n     d"],
    ['f("x // y") + 1', 'f("      ") + 1'],
    ["'it\\'s' + a", "'     ' + a"],
    ["`a ${b ? `c ${d}` : {}} e` + f", "`  ${b ? `  ${d}` : {}}  ` + f"],
    ["`\\${a` + b", "`    ` + b"],
    ['x.replace(/[/"]/g, y) / 2 / z', "x.replace(/    /g, y) / 2 / z"],
    ["const a = 1 / b // c", "const a = 1 / b     "]
  ] as const) {
    it(`reads the code of ${JSON.stringify(text)}`, () => {
      assert.strictEqual(Source.code(text), code)
    })
  }

  it("reads imports, of whatever kind", () => {
    const source = of(`
      import * as A from "./A.ts"
      import type * as B from "./B.ts"
      import {
        c
      } from "./C.ts"
      import "./D.ts"
      export * as E from "./E.ts"
      const f = () => import("./F.ts")
      // import * as G from "./G.ts"
      const h = Array.from("./H.ts")
      const i = 'import * as I from "./I.ts"'
    `)
    const froms = Source.imports(source).map(({ from, isType }) => (isType ? `type ${from}` : from))
    assert.deepStrictEqual(froms, ["./A.ts", "type ./B.ts", "./C.ts", "./D.ts", "./E.ts", "./F.ts"])
  })

  it("reads exports, each once", () => {
    const source = of(
      [
        "export const a = 1",
        "export type a = 1",
        "export interface B {}",
        "export class C {}",
        "export function* d() {}",
        "export const { e, f: g } = h",
        "export { i, j as k } from './L.ts'",
        "export * as m from './M.ts'",
        "// export const n = 1"
      ].join("\n")
    )
    assert.deepStrictEqual(Source.exports(source), ["B", "C", "a", "d", "e", "g", "i", "k", "m"])
  })
})
