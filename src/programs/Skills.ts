/**
 * `Skills` are read from folders that hold a `SKILL.md`: YAML that names and describes the skill, then its instructions
 * in Markdown. What a skill says of itself is read when it is loaded; its body and its other files when they are asked
 * for, from the disk each time, and only from inside its folder.
 *
 * The format is that of agentskills.io/specification.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Printable from "../kernel/Printable.ts"
import * as SafeId from "../kernel/SafeId.ts"
import type * as Skill from "../kernel/Skill.ts"
import * as Frontmatter from "./Frontmatter.ts"
import * as SkillCheck from "./SkillCheck.ts"
import * as SkillError from "./SkillError.ts"
import * as SkillFolder from "./SkillFolder.ts"
import * as SkillLinks from "./SkillLinks.ts"
import * as SkillSearch from "./SkillSearch.ts"

export type { Value } from "./Frontmatter.ts"
export type { Facts } from "./SkillCheck.ts"
export { Rule, SkillError, SkillProblem } from "./SkillError.ts"

/** In bytes. */
const maxSkillFile = 1_048_576
const maxFile = 8_388_608

/** A skill as its folder has it. */
export interface Loaded extends SkillCheck.Facts {
  /** The real path of its folder. */
  readonly directory: string
  /** What a stricter reader of the format would refuse. */
  readonly warnings: ReadonlyArray<SkillError.SkillProblem>
  /**
   * The instructions, without the blank lines around them, each line ending at LF. The file is read and checked again
   * whenever this is run, so that they are what stands on the disk.
   */
  readonly body: Effect.Effect<string, SkillError.SkillError>
  /** The files that the body links to, by their paths in the folder. It fails with every link that leads to none. */
  readonly references: Effect.Effect<ReadonlyArray<string>, SkillError.SkillError>
  /** A file of the folder as text: UTF-8, at most 8 MiB. */
  readonly file: (relative: string) => Effect.Effect<string, SkillError.SkillError>
  /** A file of the folder: at most 8 MiB. */
  readonly bytes: (relative: string) => Effect.Effect<Uint8Array, SkillError.SkillError>
}

interface Opened extends SkillCheck.Checked, Pick<Frontmatter.Split, "body" | "bodyLine"> {}

/** The `SKILL.md` of a folder, read and checked. */
const open = (folder: SkillFolder.SkillFolder): Effect.Effect<Opened, SkillError.Fault> =>
  Effect.gen(function* () {
    const bytes = yield* SkillFolder.read(folder, SkillSearch.fileName, maxSkillFile)
    const { body, bodyLine, yaml } = yield* Either.flatMap(SkillFolder.text(bytes), Frontmatter.split)
    return { ...SkillCheck.of(yaml, folder.path.basename(folder.root)), body, bodyLine }
  })

type Problems = ReadonlyArray<SkillError.SkillProblem>

const within = (file: string, faults: ReadonlyArray<SkillError.Fault>): Problems =>
  faults.map((fault) => ({ file, ...fault }))

/** The skill of a folder. `shown` is the folder as the application named it. */
const load = (folder: SkillFolder.SkillFolder, shown: string): Effect.Effect<Either.Either<Loaded, Problems>> => {
  const { path, root } = folder
  const skillFile = path.join(shown, SkillSearch.fileName)
  const inFile = (fault: SkillError.Fault) => within(skillFile, [{ line: 1, ...fault }])

  const again = Effect.gen(function* () {
    const opened = yield* Effect.mapError(open(folder), (fault) =>
      SkillError.malformed([{ file: skillFile, line: 1, ...fault }])
    )
    const problems = within(skillFile, opened.faults)
    return Arr.isNonEmptyReadonlyArray(problems) ? yield* SkillError.malformed(problems) : opened
  })

  const unread = (link: string) => (fault: SkillError.Fault) =>
    SkillError.unread(path.basename(root), { file: Printable.line(link), ...fault })

  const bytes = (link: string) => Effect.mapError(SkillFolder.read(folder, link, maxFile), unread(link))

  const references = Effect.gen(function* () {
    const { body, bodyLine } = yield* again
    const problems: Array<SkillError.SkillProblem> = []
    const files = new Set<string>()
    for (const { line, target } of SkillLinks.of(body)) {
      const located = yield* Effect.either(SkillFolder.locate(folder, target))
      if (Either.isLeft(located)) {
        const what = `The link to ${SafeId.literal(target)} cannot be followed. ${located.left.what}`
        problems.push({ ...located.left, file: skillFile, line: line + bodyLine - 1, what })
      } else if (located.right.type === "File") {
        for (const inner of Either.match(SkillFolder.relative(target), { onLeft: () => [], onRight: Arr.of }))
          files.add(inner)
      }
    }
    return Arr.isNonEmptyReadonlyArray(problems) ? yield* SkillError.unlinked(problems) : Array.from(files)
  })

  return Effect.map(Effect.either(open(folder)), (opened) => {
    if (Either.isLeft(opened)) return Either.left(inFile(opened.left))
    const { facts, faults, warnings } = opened.right
    if (facts === undefined) return Either.left(within(skillFile, faults))
    return Either.right({
      ...facts,
      directory: root,
      warnings: within(skillFile, warnings),
      body: Effect.map(again, ({ body }) => body.replaceAll("\r\n", "\n").trim()),
      references,
      file: (link) => Effect.flatMap(bytes(link), (found) => Either.mapLeft(SkillFolder.text(found), unread(link))),
      bytes
    })
  })
}

const noFolder = (file: string): Problems => [
  {
    file,
    rule: "folder-exists",
    what: "There is no such folder.",
    next: "Name a folder that holds SKILL.md, or folders that do."
  }
]

const noSkills = (file: string): Problems => [
  {
    file,
    rule: "has-skills",
    what: "Neither the folder nor a folder below it holds a file SKILL.md.",
    next: "Name a folder that holds SKILL.md, or folders that do."
  }
]

const repeated = (file: string, name: string, owner: string): SkillError.SkillProblem => ({
  file,
  line: 1,
  rule: "name-unique",
  what: `The skill of ${SafeId.literal(owner, 256)} has the name ${SafeId.print(name)} already.`,
  next: "Rename one of the two."
})

/** What a search found: the skills that can be used, and what is wrong with the others. */
export interface Scanned {
  readonly skills: ReadonlyArray<Loaded>
  readonly problems: ReadonlyArray<SkillError.SkillProblem>
}

/**
 * As `fromDirectory`, for folders whose skills others wrote: those that can be loaded are, and what is wrong with the
 * rest is told. Of two with the same name the first is loaded.
 */
export const scan = (directory: string): Effect.Effect<Scanned, never, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const looked = yield* Effect.either(
      Effect.flatMap(fs.realPath(path.resolve(directory)), (root) =>
        Effect.map(fs.stat(root), ({ type }) => ({ root, type }))
      )
    )
    if (Either.isLeft(looked)) {
      const fault = SkillFolder.unreadable(looked.left)
      const problems = fault.rule === "file-exists" ? noFolder(directory) : within(directory, [fault])
      return { skills: [], problems }
    }
    const { root, type } = looked.right
    if (type !== "Directory") return { skills: [], problems: noFolder(directory) }
    const found = yield* SkillSearch.find({ fs, path, root })
    const problems: Array<SkillError.SkillProblem> = []
    const owners = new Map<string, string>()
    const skills: Array<Loaded> = []
    for (const inner of found.folders) {
      const shown = path.join(directory, inner)
      const file = path.join(shown, SkillSearch.fileName)
      const loaded = yield* load({ fs, path, root: path.join(root, inner) }, shown)
      if (Either.isLeft(loaded)) {
        problems.push(...loaded.left)
        continue
      }
      const owner = owners.get(loaded.right.name)
      if (owner === undefined) {
        owners.set(loaded.right.name, file)
        skills.push(loaded.right)
      } else problems.push(repeated(file, loaded.right.name, owner))
    }
    for (const { fault, path: inner } of found.faults) problems.push({ file: path.join(directory, inner), ...fault })
    return { skills, problems: found.folders.length === 0 && problems.length === 0 ? noSkills(directory) : problems }
  })

/**
 * The skill of a folder that holds `SKILL.md`, or those of the folders below it that do, up to six levels down, in the
 * order of their paths. It is all of them or none: the error has what is wrong with each.
 *
 * A folder that holds `SKILL.md` is not searched further. Hidden folders and `node_modules` are passed by, and no
 * symbolic link is followed out of the folder.
 */
export const fromDirectory = (
  directory: string
): Effect.Effect<ReadonlyArray<Loaded>, SkillError.SkillError, FileSystem.FileSystem | Path.Path> =>
  Effect.flatMap(scan(directory), ({ problems, skills }) =>
    Arr.isNonEmptyReadonlyArray(problems) ? SkillError.malformed(problems) : Effect.succeed(skills)
  )

/** A skill of the kernel, and the tools that the folder allows and the application did not give. */
export interface Converted {
  readonly skill: Skill.Skill
  readonly unmatched: ReadonlyArray<string>
}

/**
 * The skill with its body as instructions, and of the tools that the application gives those that it allows: all if it
 * names none. A tool is matched by its whole name; `Bash(git:*)` names a part of a tool and does not match `Bash`.
 */
export const toSkill = (
  loaded: Loaded,
  options?: { readonly tools?: ReadonlyArray<Skill.SkillTool> }
): Effect.Effect<Converted, SkillError.SkillError> =>
  Effect.map(loaded.body, (instructions) => {
    const { allowedTools, description, name } = loaded
    const given = options?.tools ?? []
    const names = new Set(given.map((tool) => tool.name))
    return {
      skill: {
        id: name,
        description,
        instructions,
        tools: allowedTools === undefined ? given : given.filter((tool) => allowedTools.includes(tool.name))
      },
      unmatched: (allowedTools ?? []).filter((allowed) => !names.has(allowed))
    }
  })
