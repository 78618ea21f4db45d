/**
 * A `SkillCheck` holds the frontmatter of a skill against the rules of the format.
 *
 * What the format forbids is a fault. What its guide for readers lets pass, or it does not mention, is a warning: a name
 * that is not that of the folder, a key that the format does not know, and commas between the names of tools.
 *
 * @internal
 */
import * as SafeId from "../kernel/SafeId.ts"
import * as Frontmatter from "./Frontmatter.ts"
import type * as SkillError from "./SkillError.ts"

/** What the frontmatter of a skill says. */
export interface Facts {
  /** 1 to 64 lower case letters, digits and single hyphens. */
  readonly name: string
  /** What the skill does and when to use it: 1 to 1,024 characters. */
  readonly description: string
  readonly license?: string
  /** What the skill needs around it: 1 to 500 characters. */
  readonly compatibility?: string
  readonly metadata: Readonly<Record<string, string>>
  /** As they are written, such as `Read` or `Bash(git add:*)`, each once. Absent if the skill names none. */
  readonly allowedTools?: ReadonlyArray<string>
  /** The keys that the format does not know. */
  readonly other: Readonly<Record<string, Frontmatter.Value>>
}

/** `facts` is absent iff there are faults. */
export interface Checked {
  readonly facts?: Facts
  readonly faults: ReadonlyArray<SkillError.Fault>
  readonly warnings: ReadonlyArray<SkillError.Fault>
}

const maxName = 64
const maxDescription = 1_024
const maxCompatibility = 500

const known = new Set(["name", "description", "license", "compatibility", "metadata", "allowed-tools"])

const namePattern = /^[a-z0-9]+(-[a-z0-9]+)*$/

/** A name, with what stands in parentheses after it. */
const toolPattern = /(?:[^\s,(]|\([^)]*\)?)+/g

const lengthOf = (text: string): number => Array.from(text).length

/** `folder` is the name of the folder that holds the file. */
export const of = (yaml: string, folder: string): Checked => {
  const parsed = Frontmatter.parse(yaml)
  const faults = [...parsed.faults]
  const warnings: Array<SkillError.Fault> = []
  if (faults.some(({ rule }) => rule === "yaml" || rule === "yaml-depth" || rule === "mapping")) {
    return { faults, warnings }
  }
  const blame = (
    { column, line }: Frontmatter.Field,
    rule: SkillError.Rule,
    what: string,
    next: string,
    kept = faults
  ): void => {
    // A value that was refused as YAML is not judged again.
    if (!parsed.faults.some((fault) => fault.line === line)) kept.push({ rule, line, column, what, next })
  }

  const fieldOf = (key: string) => parsed.fields.find((field) => field.key === key)
  const missing = (rule: "name" | "description", next: string): string => {
    faults.push({ rule, line: 1, what: `The frontmatter has no ${rule}.`, next })
    return ""
  }
  const textOf = (field: Frontmatter.Field, rule: SkillError.Rule, max = Infinity): string => {
    const text = typeof field.value === "string" ? field.value.trim() : undefined
    if (text === undefined) blame(field, rule, `The ${field.key} is no text.`, "Write it as one text.")
    else if (text === "") blame(field, rule, `The ${field.key} is blank.`, "Write something, or leave the key out.")
    else if (lengthOf(text) > max) {
      const what = `The ${field.key} has ${lengthOf(text)} characters; the limit is ${max}.`
      blame(field, rule, what, "Shorten it; the body has room.")
    }
    return text ?? ""
  }

  const nameOf = (field: Frontmatter.Field | undefined): string => {
    const next = "Use 1 to 64 lower case letters, digits and single hyphens between them."
    if (field === undefined) return missing("name", "Add `name:` with the name of the folder.")
    const name = textOf(field, "name", maxName)
    if (name === "") return name
    if (!namePattern.test(name)) blame(field, "name", `The name ${SafeId.print(name)} is not of the form.`, next)
    else if (name !== folder) {
      const what = `The name ${SafeId.print(name)} is not that of its folder, ${SafeId.print(folder)}.`
      blame(field, "name-is-folder", what, "Rename one of the two.", warnings)
    }
    return name
  }

  const metadataOf = (field: Frontmatter.Field): Readonly<Record<string, string>> => {
    const { value } = field
    if (value === "") return {}
    if (typeof value === "string" || Frontmatter.isList(value)) {
      blame(field, "metadata", "The metadata is no map.", "Write a key and a text on each line, indented.")
      return {}
    }
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, one]): ReadonlyArray<readonly [string, string]> => {
        if (typeof one === "string") return [[key, one]]
        blame(field, "metadata", `The value of ${SafeId.print(key)} is no text.`, "Write it as one text.")
        return []
      })
    )
  }

  const toolsOf = (field: Frontmatter.Field): ReadonlyArray<string> => {
    const { value } = field
    if (typeof value === "string") {
      if (value.replaceAll(toolPattern, "").includes(",")) {
        const what = "The allowed-tools have commas between them."
        blame(field, "allowed-tools", what, "Write the names with spaces between them.", warnings)
      }
      return [...new Set(value.match(toolPattern))]
    }
    const items = Frontmatter.isList(value) ? value : [value]
    const names = items.flatMap((one) => (typeof one === "string" && one.trim() !== "" ? [one.trim()] : []))
    if (names.length < items.length) {
      blame(field, "allowed-tools", "The allowed-tools are no texts.", "Write the names with spaces between them.")
    }
    return [...new Set(names)]
  }

  const [license, compatibility, metadata, tools] = ["license", "compatibility", "metadata", "allowed-tools"].map(
    fieldOf
  )
  const name = nameOf(fieldOf("name"))
  const described = fieldOf("description")
  const description =
    described === undefined
      ? missing("description", "Add `description:` with what the skill does and when to use it.")
      : textOf(described, "description", maxDescription)
  const facts: Facts = {
    name,
    description,
    ...(license === undefined ? {} : { license: textOf(license, "license") }),
    ...(compatibility === undefined ? {} : { compatibility: textOf(compatibility, "compatibility", maxCompatibility) }),
    metadata: metadata === undefined ? {} : metadataOf(metadata),
    ...(tools === undefined ? {} : { allowedTools: toolsOf(tools) }),
    other: Object.fromEntries(parsed.fields.flatMap(({ key, value }) => (known.has(key) ? [] : [[key, value]])))
  }
  for (const field of parsed.fields) {
    if (known.has(field.key)) continue
    const what = `The format has no key ${SafeId.print(field.key)}.`
    blame(field, "unknown-key", what, "Put it under metadata, or correct its name.", warnings)
  }
  const byLine = (one: SkillError.Fault, other: SkillError.Fault) => (one.line ?? 0) - (other.line ?? 0)
  return { ...(faults.length > 0 ? {} : { facts }), faults: faults.sort(byLine), warnings: warnings.sort(byLine) }
}
