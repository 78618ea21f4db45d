import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"

interface Manifest {
  readonly name: string
  readonly version: string
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

const read = (folder: string): Manifest => JSON.parse(readFileSync(`${folder}/package.json`, "utf8"))

/** Every package installed in a folder, and in the folders of those packages. */
const installed = (folder: string): ReadonlyArray<Manifest> => {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@") ? readdirSync(`${folder}/${name}`).map((inner) => `${name}/${inner}`) : [name]
    )
    .flatMap((name) => [
      ...(existsSync(`${folder}/${name}/package.json`) ? [read(`${folder}/${name}`)] : []),
      ...installed(`${folder}/${name}/node_modules`)
    ])
}

const isEffect = (name: string) => name === "effect" || name.startsWith("@effect/")

const ours = read(".")
const pins = Object.entries(ours.devDependencies ?? {}).filter(([name]) => isEffect(name))
const effects = installed("node_modules").filter(({ name }) => isEffect(name))

describe("Versions", () => {
  it("has one effect, of the third line", () => {
    const versions = effects.filter(({ name }) => name === "effect").map(({ version }) => version)
    assert.lengthOf(versions, 1)
    assert.match(versions[0] ?? "", /^3\./)
  })

  for (const [name, pin] of pins) {
    it(`has ${name} exactly as pinned, once`, () => {
      assert.match(pin, /^\d+\.\d+\.\d+$/)
      assert.deepStrictEqual(
        effects.filter((one) => one.name === name).map(({ version }) => version),
        [pin]
      )
    })
  }

  for (const { name, peerDependencies } of effects.filter(({ peerDependencies }) => peerDependencies?.["effect"])) {
    it(`has a ${name} made for the third line`, () => {
      assert.match(peerDependencies?.["effect"] ?? "", /^\^3\.\d+\.\d+$/)
    })
  }

  for (const [name, range] of Object.entries(ours.peerDependencies ?? {}).filter(([name]) => isEffect(name))) {
    it(`asks users for the ${name} it is tested with`, () => {
      assert.strictEqual(range, `^${ours.devDependencies?.[name]}`)
    })
  }
})
