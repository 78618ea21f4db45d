/** Bugs of what comes from outside and what goes out: arguments, files, secrets, errors. */
import type { Planted } from "./Planted.ts"

const text = "src/kernel/JsonText.ts"
const folder = "src/programs/SkillFolder.ts"
const issues = "src/kernel/Issues.ts"
const cassette = "src/services/CassetteLLM.ts"
const error = "src/services/AiSdkError.ts"

export const input: ReadonlyArray<Planted> = [
  {
    id: "depth-after-the-parse",
    changes: [{ file: text, search: "maxDepth: 64,", replace: "maxDepth: 1_000_000," }],
    test: "test/kernel/Json.test.ts"
  },
  {
    id: "prototype-keys",
    changes: [
      {
        file: text,
        search: `new Set(["__proto__", "constructor", "prototype"])`,
        replace: `new Set(["constructor", "prototype"])`
      }
    ],
    test: "test/kernel/Json.test.ts"
  },
  {
    id: "no-limit-of-size",
    changes: [{ file: text, search: "  maxChars: 1_048_576,", replace: "  maxChars: Infinity," }],
    test: "test/kernel/Json.test.ts"
  },
  {
    id: "value-in-the-text-of-an-error",
    changes: [
      {
        file: issues,
        search: `    case "Type":
      found.push(\`\${at(path)} must be \${expected(issue.ast)}; found \${Problem.kindOf(issue.actual)}\`)`,
        replace: `    case "Type":
      found.push(\`\${at(path)} must be \${expected(issue.ast)}; found \${String(issue.actual)}\`)`
      }
    ],
    test: "test/programs/Dispatch.test.ts"
  },
  {
    id: "no-end-of-issues",
    changes: [{ file: issues, search: "const most = 50", replace: "const most = 5_000" }],
    test: "test/programs/Dispatch.test.ts"
  },
  {
    id: "path-starts-with",
    changes: [
      {
        file: folder,
        search: "real === root || real.startsWith(root.endsWith(path.sep) ? root : `${root}${path.sep}`)",
        replace: 'path.sep !== "" && real.startsWith(root)'
      }
    ],
    test: "test/programs/Skills.test.ts"
  },
  {
    id: "path-climbs",
    changes: [
      {
        file: folder,
        search: `link.includes("\\\\") || link.split("/").includes("..")`,
        replace: `link.includes("\\\\")`
      }
    ],
    test: "test/programs/Skills.test.ts"
  },
  {
    id: "link-swapped-while-read",
    changes: [
      {
        file: folder,
        search: "if (!isSame || (yield* fs.realPath(real)) !== real) return undefined",
        replace: "if (!isSame && (yield* fs.realPath(real)) !== real) return undefined"
      }
    ],
    test: "test/programs/Skills.test.ts"
  },
  {
    id: "canary-split-across-chunks",
    changes: [
      {
        file: cassette,
        search: 'return [joined("Text"), joined("Reasoning"), ...args, JSON.stringify(parts)].join("\\n")',
        replace:
          'return [joined("Text").slice(0, 0), joined("Reasoning").slice(0, 0), ...args, JSON.stringify(parts)].join("\\n")'
      }
    ],
    test: "test/services/CassetteLLM.test.ts",
    only: "however it is cut"
  },
  {
    id: "secret-in-another-spelling",
    changes: [
      {
        file: "src/services/CassetteSecret.ts",
        search: "    ...standard,\n",
        replace: ""
      }
    ],
    test: "test/services/CassetteLLM.test.ts",
    only: "is found as"
  },
  {
    id: "secret-in-what-a-provider-says",
    changes: [
      {
        file: error,
        search: 'longestFirst.reduce((rest, secret) => rest.replaceAll(secret, "[masked]"), text)',
        replace: 'longestFirst.slice(0, 0).reduce((rest, secret) => rest.replaceAll(secret, "[masked]"), text)'
      }
    ],
    test: "test/services/ProviderData.test.ts"
  },
  {
    id: "redirect-takes-the-key-along",
    changes: [{ file: "src/services/ProviderFetch.ts", search: 'redirect: "manual"', replace: 'redirect: "follow"' }],
    test: "test/services/ProviderFetch.test.ts"
  },
  {
    id: "reply-without-end",
    changes: [
      {
        file: "src/services/LLMDraft.ts",
        search: "const maxChars = 5_000_000",
        replace: "const maxChars = 5_000_000_000"
      }
    ],
    test: "test/services/Endless.test.ts"
  },
  {
    id: "finish-is-not-the-end",
    changes: [{ file: "src/services/LLMDraft.ts", search: "  if (late > 0) {", replace: "  if (late < 0) {" }],
    test: "test/services/LLM.test.ts",
    only: "goes on after its finish"
  },
  {
    id: "escape-reaches-the-terminal",
    changes: [
      {
        file: "src/kernel/Printable.ts",
        search: "wellFormed(text).replace(unprintable, escape)\n",
        replace: 'wellFormed(text).replace(/[\\r\\n]/g, " ")\n'
      }
    ],
    test: "test/kernel/Printable.test.ts"
  },
  {
    id: "units-are-cut",
    changes: [
      {
        file: "src/kernel/Window.ts",
        search: ".filter((at) => !pins.has(at))",
        replace: ".filter((at) => at >= 0)"
      }
    ],
    test: "test/kernel/Window.test.ts"
  },
  {
    id: "wire-drifts-unseen",
    changes: [
      {
        file: "src/kernel/WireHash.ts",
        search: "${rolled.messages}\\n${rolled.tools}",
        replace: "${rolled.tools}"
      }
    ],
    test: "test/kernel/Wire.test.ts"
  }
]
