/** Skills that others can read too: a folder with a SKILL.md. What is wrong with one is told with its line. */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { Skills } from "wherefore"
import * as Effect from "effect/Effect"
import { relative } from "node:path"
import { fileURLToPath } from "node:url"

const here = fileURLToPath(new URL("skills", import.meta.url))
const tools = [{ name: "look_up", description: "Looks up a day.", schema: { type: "object" } }]

const program = Effect.gen(function* () {
  for (const skill of yield* Skills.fromDirectory(`${here}/ready`)) {
    console.log(`${skill.name}: ${skill.description}`)
    if (skill.name !== "daily-report") continue

    // The body and the files it links to are read when they are asked for, and only inside the folder.
    console.log("  lines:", (yield* skill.body).split("\n").length)
    for (const file of yield* skill.references) console.log(`  ${file}: ${(yield* skill.file(file)).trim()}`)
    const escape = yield* Effect.flip(skill.file("../unit-names/SKILL.md"))
    console.log(`  ../unit-names/SKILL.md: ${escape.problems[0].what}`)

    const { skill: ours, unmatched } = yield* Skills.toSkill(skill, { tools })
    console.log("  tools:", ours.tools.map(({ name }) => name).join(), "| not given:", unmatched.join())
  }

  const error = yield* Effect.flip(Skills.fromDirectory(`${here}/draft`))
  for (const { column, file, line, next, what } of error.problems) {
    console.log(`${relative(here, file)}:${line}:${column}: ${what} ${next}`)
  }
})

Effect.runPromise(program.pipe(Effect.provide(NodeContext.layer))).catch(console.error)

// daily-report: Writes the report of a day at the weather station. Use it when somebody asks how the weather was on a day.
//   lines: 5
//   references/units.md: Rain is in millimetres, temperatures are in degrees Celsius, with one decimal.
//   ../unit-names/SKILL.md: It is outside the folder of the skill.
//   tools: look_up | not given: Mail(send:*)
// unit-names: Spells out units of measurement for readers who do not know their signs.
// draft/release-notes/SKILL.md:3:14: A value holds a colon and a space, which makes a key of it. Put the value in quotes.
