/**
 * A `SkillSearch` finds the folders that hold a `SKILL.md`: the folder that is searched, or those below it in the order
 * of their names. A folder that holds one is not searched further; what is in it is its own. Names that begin with a
 * dot, `node_modules` and symbolic links are passed by.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as SafeId from "../kernel/SafeId.ts"
import type * as SkillError from "./SkillError.ts"
import * as SkillFolder from "./SkillFolder.ts"

/** The name of the file that makes a folder a skill. */
export const fileName = "SKILL.md"

const maxDepth = 6
const maxFolders = 2_000

/** Folders and faults, each with a path from the one that is searched. */
export interface Found {
  readonly folders: ReadonlyArray<string>
  readonly faults: ReadonlyArray<{ readonly path: string; readonly fault: SkillError.Fault }>
}

const misnamed = (name: string): SkillError.Fault => ({
  rule: "file-name",
  what: `The file is named ${SafeId.print(name)}; the format says ${fileName}.`,
  next: "Rename it."
})

const linked: SkillError.Fault = {
  rule: "inside-folder",
  what: "The skill is a symbolic link to a folder that the search does not reach.",
  next: "Put the folder there, or load the skill from where it is."
}

const tooMany: SkillError.Fault = {
  rule: "search-limit",
  what: `There are more than ${maxFolders} folders to search.`,
  next: "Name the folder of the skills."
}

const isPassedBy = (name: string): boolean => name.startsWith(".") || name === "node_modules"

export const find = ({ fs, path, root }: SkillFolder.SkillFolder): Effect.Effect<Found> =>
  Effect.gen(function* () {
    const folders: Array<string> = []
    const links: Array<{ readonly path: string; readonly real: string }> = []
    const faults: Array<{ readonly path: string; readonly fault: SkillError.Fault }> = []
    // The next to be searched is the last.
    const open: Array<{ readonly inner: string; readonly depth: number }> = [{ inner: "", depth: 0 }]
    for (let visited = 0; open.length > 0; visited += 1) {
      const here = open.pop() ?? { inner: "", depth: 0 }
      if (visited === maxFolders) {
        faults.push({ path: here.inner, fault: tooMany })
        break
      }
      const listed = yield* Effect.either(fs.readDirectory(path.join(root, here.inner)))
      if (Either.isLeft(listed)) {
        faults.push({ path: here.inner, fault: SkillFolder.unreadable(listed.left) })
        continue
      }
      const names = listed.right.sort()
      if (names.includes(fileName)) {
        folders.push(here.inner)
        continue
      }
      for (const name of names.filter((name) => name.toUpperCase() === fileName.toUpperCase())) {
        faults.push({ path: path.join(here.inner, name), fault: misnamed(name) })
      }
      const below: Array<{ readonly inner: string; readonly depth: number }> = []
      for (const name of names.filter((name) => !isPassedBy(name))) {
        const inner = path.join(here.inner, name)
        const full = path.join(root, inner)
        const stat = yield* Effect.option(Effect.all([fs.stat(full), fs.realPath(full)]))
        if (stat._tag === "None" || stat.value[0].type !== "Directory") continue
        const [, real] = stat.value
        if (real === full) {
          if (here.depth < maxDepth) below.push({ inner, depth: here.depth + 1 })
          continue
        }
        const holds = yield* Effect.orElseSucceed(fs.exists(path.join(real, fileName)), () => false)
        if (holds) links.push({ path: inner, real })
      }
      open.push(...below.reverse())
    }
    const reached = new Set(folders.map((inner) => path.join(root, inner)))
    for (const { path, real } of links) if (!reached.has(real)) faults.push({ path, fault: linked })
    return { folders, faults }
  })
