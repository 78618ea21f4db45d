import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck, Schema } from "effect"
import * as Digest from "../../src/kernel/Digest.ts"
import * as Json from "../../src/kernel/Json.ts"
import * as JsonProblem from "../../src/kernel/JsonProblem.ts"
import * as Problem from "../../src/kernel/Problem.ts"

const refused = (text: string, limits?: Json.Limits): Json.JsonProblem => {
  const parsed = Json.parse(text, limits)
  if (Either.isRight(parsed)) assert.fail(`not refused: ${JSON.stringify(text.slice(0, 100))}`)
  return parsed.left
}

const accepted = (text: string, limits?: Json.Limits): unknown => {
  const parsed = Json.parse(text, limits)
  if (Either.isLeft(parsed)) assert.fail(`refused: ${JSON.stringify(text.slice(0, 100))} ${parsed.left.what}`)
  return parsed.right
}

const notJson = (value: unknown): readonly [path: string, reason: string] => {
  const written = Json.canonical(value)
  if (Either.isRight(written)) assert.fail(`not refused: ${written.right}`)
  return [written.left.path, written.left.reason]
}

/** What `JSON.parse` does with a text, as a value. */
const native = (text: string): Either.Either<unknown, unknown> => Either.try((): unknown => JSON.parse(text))

const isProblem = Schema.is(Json.JsonProblem)
const reserved = ["__proto__", "constructor", "prototype"]

/** The properties below hold for values without what the gate refuses by rule. JSON has no negative zero that is kept. */
const plain = FastCheck.jsonValue({ maxDepth: 6, stringUnit: "grapheme" })
  .filter((value) => {
    const text = JSON.stringify(value)
    return !text.includes("\\u0000") && !reserved.some((key) => text.includes(`"${key}"`))
  })
  .map((value): unknown => JSON.parse(JSON.stringify(value)))

/** The value as text, with white space where JSON allows it and characters escaped, as `choice` says. */
const spelled = (value: unknown, choice: () => number): string => {
  const space = (): string => ["", "", "", " ", "\n", "\t\r\n  "][choice() % 6] ?? ""
  const text = (string: string): string =>
    `"${Array.from({ length: string.length }, (_, index) => {
      const unit = string.charAt(index)
      const hex = `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
      if (choice() % 8 === 0) return choice() % 2 === 0 ? hex : hex.toUpperCase().replace("U", "u")
      if (unit === "/") return choice() % 2 === 0 ? "\\/" : "/"
      return /[\ud800-\udfff]/.test(unit) ? unit : JSON.stringify(unit).slice(1, -1)
    }).join("")}"`
  const write = (part: unknown): string => {
    if (Array.isArray(part)) return `[${space()}${part.map(write).join(`${space()},${space()}`)}${space()}]`
    if (typeof part === "object" && part !== null) {
      const members = Object.entries(part).map(([key, of]) => `${text(key)}${space()}:${space()}${write(of)}`)
      return `{${space()}${members.join(`${space()},${space()}`)}${space()}}`
    }
    return typeof part === "string" ? text(part) : JSON.stringify(part)
  }
  return `${space()}${write(value)}${space()}`
}

const choices = FastCheck.infiniteStream(FastCheck.nat(1_000))

/** How often the reader looks at a character while `run` works. */
const steps = (run: () => void): number => {
  const original = Object.getOwnPropertyDescriptor(String.prototype, "charCodeAt")
  if (original === undefined) assert.fail("no charCodeAt")
  const look = String.prototype.charCodeAt
  let count = 0
  String.prototype.charCodeAt = function (index) {
    count++
    return look.call(this, index)
  }
  try {
    run()
  } finally {
    Object.defineProperty(String.prototype, "charCodeAt", original)
  }
  return count
}

describe("Json.parse", () => {
  it("reads what JSON.parse reads, however it is spaced and escaped", () => {
    FastCheck.assert(
      FastCheck.property(plain, choices, (value, stream) => {
        const text = spelled(value, () => stream.next().value)
        assert.deepStrictEqual(accepted(text), JSON.parse(text))
      }),
      { numRuns: 1_000 }
    )
  })

  it("answers any mutation of a valid text as JSON.parse does, or with a problem, and never throws", () => {
    const pieces = [
      '"',
      "\\",
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      "0",
      "-",
      ".",
      "e",
      "t",
      "\\u",
      "\\ud800",
      "\ud800",
      "\0",
      " ",
      "1e9"
    ]
    const edit = FastCheck.record({
      at: FastCheck.nat(),
      cut: FastCheck.nat(3),
      put: FastCheck.oneof(FastCheck.constantFrom(...pieces), FastCheck.constant(""))
    })
    let read = 0
    let malformed = 0
    FastCheck.assert(
      FastCheck.property(
        plain,
        choices,
        FastCheck.array(edit, { minLength: 1, maxLength: 3 }),
        (value, stream, edits) => {
          const text = edits.reduce(
            (before, { at, cut, put }) => {
              const from = at % (before.length + 1)
              return before.slice(0, from) + put + before.slice(from + cut)
            },
            spelled(value, () => stream.next().value)
          )
          const parsed = Json.parse(text)
          const expected = native(text)
          if (Either.isRight(parsed)) {
            read++
            assert.deepStrictEqual(parsed, expected)
          } else {
            assert.isTrue(isProblem(parsed.left))
            if (parsed.left._tag === "MalformedJson") {
              malformed++
              assert.isTrue(Either.isLeft(expected), text)
            }
          }
        }
      ),
      { numRuns: 5_000 }
    )
    assert.isAbove(read, 100)
    assert.isAbove(malformed, 1_000)
  })

  it("answers any text at all", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.string({ unit: "binary" }), (text) => {
        const parsed = Json.parse(text)
        if (Either.isRight(parsed)) assert.deepStrictEqual(parsed, native(text))
        else assert.isTrue(isProblem(parsed.left))
      })
    )
  })

  it("reads every kind of value", () => {
    const texts = [
      "null",
      "true",
      "false",
      "0",
      "-1",
      "10",
      "1.50",
      "1e3",
      "1E+2",
      "25e-1",
      '""',
      "[]",
      "{}",
      " [ ] ",
      "[[],{}]"
    ]
    for (const text of [
      ...texts,
      '{"a":{"b":[1,{"c":null}]}}',
      '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00"',
      '{"":0}'
    ]) {
      assert.deepStrictEqual(accepted(text), JSON.parse(text), text)
    }
  })

  it("puts every object on the plain prototype and keeps the order of keys", () => {
    const value = accepted('{"b":1,"a":2,"1":3}')
    assert.strictEqual(Object.getPrototypeOf(value), Object.prototype)
    assert.strictEqual(JSON.stringify(value), '{"1":3,"b":1,"a":2}')
  })

  // text, offset, line, column, expected, found
  const malformed: ReadonlyArray<readonly [string, number, number, number, string, string]> = [
    ["", 0, 1, 1, "a value", "the end of the text"],
    ["  ", 2, 1, 3, "a value", "the end of the text"],
    ["\ufeff1", 0, 1, 1, "a value", "another character"],
    ["nul", 3, 1, 4, "null", "the end of the text"],
    ["trUe", 2, 1, 3, "true", "a letter"],
    ["undefined", 0, 1, 1, "a value", "a letter"],
    ["01", 1, 1, 2, "the end of the text", "a digit"],
    ["1.", 2, 1, 3, "a digit", "the end of the text"],
    ["-", 1, 1, 2, "a digit", "the end of the text"],
    ["-a", 1, 1, 2, "a digit", "a letter"],
    ["+1", 0, 1, 1, "a value", "another character"],
    ["1e", 2, 1, 3, "a digit", "the end of the text"],
    ["tr ue", 2, 1, 3, "true", "another character"],
    ["1d5", 1, 1, 2, "the end of the text", "a letter"],
    ["1e+", 3, 1, 4, "a digit", "the end of the text"],
    ["1 2", 2, 1, 3, "the end of the text", "a digit"],
    ["[1,]", 3, 1, 4, "a value", "]"],
    ["[,", 1, 1, 2, "a value, or ]", ","],
    ["[1 2]", 3, 1, 4, "a comma, or ]", "a digit"],
    ["[1}", 2, 1, 3, "a comma, or ]", "}"],
    ["{", 1, 1, 2, "a key in double quotes, or }", "the end of the text"],
    ["{'a':1}", 1, 1, 2, "a key in double quotes, or }", "another character"],
    ['{"a"}', 4, 1, 5, "a colon", "}"],
    ['{"a":}', 5, 1, 6, "a value", "}"],
    ['{"a":1,}', 7, 1, 8, "a key in double quotes", "}"],
    ['{"a":1]', 6, 1, 7, "a comma, or }", "]"],
    ['{"a":[1],\n "b":x}', 15, 2, 6, "a value", "a letter"],
    ["[\r\n1,\r2,\n3,\n\r!]", 13, 6, 1, "a value", "another character"],
    ['"abc', 4, 1, 5, "a closing quote", "the end of the text"],
    ['"a\nb"', 2, 1, 3, "an escape in place of a control character", "a control character"],
    ['"a\0b"', 2, 1, 3, "an escape in place of a control character", "a control character"],
    ['"\\x"', 2, 1, 3, "an escape that JSON knows", "a letter"],
    ['"\\u12g4"', 5, 1, 6, "four hexadecimal digits", "a letter"],
    ['"\\u12', 5, 1, 6, "four hexadecimal digits", "the end of the text"]
  ]
  for (const [text, offset, line, column, expected, found] of malformed) {
    it(`says where ${JSON.stringify(text)} stops being JSON`, () => {
      const problem = refused(text)
      assert.deepInclude(problem, { _tag: "MalformedJson", offset, line, column, expected, found })
      assert.isTrue(Either.isLeft(native(text)))
    })
  }

  it("counts in UTF-16 code units", () => {
    assert.deepInclude(refused('["😀" 1]'), { offset: 6, column: 7 })
  })

  it("refuses a text that is too long without reading it", () => {
    assert.deepInclude(refused("[".repeat(11), { maxChars: 10 }), { _tag: "InputTooLarge", limit: 10, got: 11 })
    assert.strictEqual(
      steps(() => refused("[".repeat(11), { maxChars: 10 })),
      0
    )
    assert.strictEqual(accepted("1".repeat(10), { maxChars: 10 }), 1_111_111_111)
    assert.deepInclude(refused(" ".repeat(1_048_577)), { limit: 1_048_576, got: 1_048_577 })
    assert.strictEqual(accepted(`1${" ".repeat(1_048_575)}`), 1)
  })

  it("reads 64 levels and no more, up to a million", () => {
    const nested = (depth: number, unit: string, end: string) => unit.repeat(depth) + "1" + end.repeat(depth)
    assert.deepStrictEqual(accepted(nested(64, "[", "]")), JSON.parse(nested(64, "[", "]")))
    assert.deepStrictEqual(accepted(nested(64, '{"a":', "}")), JSON.parse(nested(64, '{"a":', "}")))
    for (const depth of [65, 100, 1_000, 10_000, 100_000, 1_000_000]) {
      for (const end of ["]", ""]) {
        const problem = refused(nested(depth, "[", end), { maxChars: 3_000_000 })
        assert.deepInclude(problem, { _tag: "InputTooDeep", limit: 64, offset: 64 })
      }
      const problem = refused(nested(depth, '{"a":', "}"), { maxChars: 10_000_000 })
      assert.deepInclude(problem, { _tag: "InputTooDeep", limit: 64, offset: 320 })
    }
    assert.strictEqual(refused("[[1]]", { maxDepth: 1 })._tag, "InputTooDeep")
    assert.deepStrictEqual(accepted("[[1],[2]]", { maxDepth: 2 }), [[1], [2]])
    assert.strictEqual(accepted("1", { maxDepth: 0 }), 1)
  })

  it("does not recurse even where it is allowed to nest", () => {
    const text = "[".repeat(1_000_000)
    assert.deepInclude(refused(text, { maxDepth: 2_000_000 }), { _tag: "MalformedJson", offset: 1_000_000 })
    assert.isTrue(
      Either.isRight(Json.parse(text + "]".repeat(1_000_000), { maxDepth: 2_000_000, maxChars: 2_000_000 }))
    )
    const bad = refused(`${text}-0`, { maxDepth: 2_000_000, maxChars: 2_000_000 })
    assert.isBelow(JSON.stringify(bad).length, 2_000)
  })

  it("counts the members of all objects together", () => {
    const wide = (n: number) => `[${Array.from({ length: n }, (_, i) => `{"k${i}":0}`).join(",")}]`
    const one = (n: number) => `{${Array.from({ length: n }, (_, i) => `"k${i}":0`).join(",")}}`
    assert.lengthOf(accepted(wide(10_000)) as Array<unknown>, 10_000)
    assert.deepInclude(refused(wide(10_001)), { _tag: "InputTooWide", limit: 10_000 })
    assert.deepInclude(refused(one(100_000), { maxChars: 10_000_000 }), { _tag: "InputTooWide", limit: 10_000 })
    assert.deepStrictEqual(accepted(one(100_000), { maxChars: 10_000_000, maxKeys: 100_000 }), JSON.parse(one(100_000)))
    assert.lengthOf(accepted(`[${"0,".repeat(100_000)}0]`) as Array<unknown>, 100_001)
  })

  it("limits a single string, key or number", () => {
    const limits = { maxStringChars: 3, maxDigits: 3 }
    assert.deepStrictEqual(accepted('{"abc":["\\u0041bc",123,-1.5e2]}', limits), { abc: ["Abc", 123, -150] })
    const long = refused('{"a":[0,"abcd"]}', limits)
    assert.deepInclude(long, { _tag: "InputTooLarge", limit: 3, got: 4, where: "/a/1" })
    assert.deepInclude(refused('{"abcd":1}', limits), { _tag: "InputTooLarge", limit: 3, got: 4, where: "/abcd" })
    for (const text of ["1234", "1.234", "-0.1234", "1e0123", "12.34", "12.5e10"]) {
      assert.deepInclude(refused(text, limits), { _tag: "NotCanonicalJson", reason: "number out of range" }, text)
    }
    const ofLength = (n: number) => `"${"a".repeat(n)}"`
    assert.strictEqual(accepted(ofLength(1_048_576), { maxChars: 2_000_000 }), "a".repeat(1_048_576))
    assert.deepInclude(refused(ofLength(1_048_577), { maxChars: 2_000_000 }), { limit: 1_048_576, got: 1_048_577 })
    assert.strictEqual(accepted("9".repeat(64)), 1e64)
    assert.deepInclude(refused("9".repeat(65)), { reason: "number out of range" })
    assert.strictEqual(accepted("0.00", limits), 0)
    assert.deepInclude(refused("0.000", limits), { reason: "number out of range" })
  })

  for (const key of reserved) {
    it(`refuses the key ${key}, spelled out or escaped, at any place`, () => {
      const escaped = Array.from(key, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      const first = `${escaped[0]}${key.slice(1)}`
      for (const spelling of [key, first, escaped.join("")]) {
        assert.deepInclude(refused(`{"${spelling}":{"isAdmin":true}}`), { _tag: "ForbiddenKey", path: `/${key}` })
        const deep = refused(`{"args":[1,{"options":{"x":0,"${spelling}":1}}]}`)
        assert.deepInclude(deep, { _tag: "ForbiddenKey", path: `/args/1/options/${key}` })
      }
      assert.deepStrictEqual(accepted(`["${key}",{"a":"${key}"}]`), [key, { a: key }])
      assert.deepStrictEqual(accepted(`{"${key}_":1}`), { [`${key}_`]: 1 })
    })
  }

  it("accepts the names that an object inherits, when they are not reserved", () => {
    assert.strictEqual(
      JSON.stringify(accepted('{"toString":1,"hasOwnProperty":2}')),
      '{"toString":1,"hasOwnProperty":2}'
    )
  })

  // text, path, reason
  const uncanonical: ReadonlyArray<readonly [string, string, JsonProblem.Rule]> = [
    ['{"a":1,"a":1}', "/a", "duplicate key"],
    ['[{"a":{"b":1,"c":2,"\\u0062":3}}]', "/0/a/b", "duplicate key"],
    ['{"":1,"":2}', "/", "duplicate key"],
    ['"\\ud800"', "", "lone surrogate"],
    ['"\ud800"', "", "lone surrogate"],
    ['["a","\\udc00x"]', "/1", "lone surrogate"],
    ['{"a":"\\ude00\\ud83d"}', "/a", "lone surrogate"],
    ['{"a":"\udc00"}', "/a", "lone surrogate"],
    ['{"\ud800":1}', "/\ufffd", "lone surrogate"],
    ['{"\\udfff":1}', "/\ufffd", "lone surrogate"],
    ['"\\u0000"', "", "NUL"],
    ['{"x":{"a\\u0000":1}}', "/x/a\\u0000", "NUL"],
    ["[1e999]", "/0", "number out of range"],
    ['{"n":-1e400}', "/n", "number out of range"],
    ["-0", "", "negative zero"],
    ["[[1],[2,-0.0e5]]", "/1/1", "negative zero"],
    ["-1e-999", "", "negative zero"]
  ]
  for (const [text, path, reason] of uncanonical) {
    it(`refuses ${JSON.stringify(text)}: ${reason}`, () => {
      assert.deepInclude(refused(text), { _tag: "NotCanonicalJson", path, reason })
      assert.isTrue(isProblem(refused(text)))
    })
  }

  it("joins a surrogate pair however its halves are spelled", () => {
    for (const text of ['"😀"', '"\\ud83d\\ude00"', '"\ud83d\\uDE00"', '"\\uD83D\ude00"']) {
      assert.strictEqual(accepted(text), "😀")
    }
  })

  it("reports the first fault in reading order", () => {
    assert.strictEqual(refused('{"__proto__":1,')._tag, "ForbiddenKey")
    assert.strictEqual(refused('{"a":1,"a"')._tag, "NotCanonicalJson")
    assert.strictEqual(refused('[x,{"__proto__":1}]')._tag, "MalformedJson")
  })

  it("reads numbers as the nearest double", () => {
    for (const text of [
      "9007199254740993",
      "0.1",
      "1e-999",
      "123456789012345678901234567890",
      "5e-324",
      "1.7976931348623157e308"
    ]) {
      assert.strictEqual(accepted(text), Number(text))
    }
  })

  it("says in its problems what, where and what next, and nothing of the content", () => {
    const secret = "sk-canary-93715"
    const long = `${secret}${"k".repeat(100)}`
    const texts: ReadonlyArray<readonly [string, Json.Limits?]> = [
      [`"${secret}`],
      [`["${secret}" ${secret}]`],
      [`"${secret}\\ud800"`],
      [`["${secret}"]`, { maxStringChars: 4 }],
      [`["${secret}"]`, { maxChars: 4 }],
      [`["${secret}",[]]`, { maxDepth: 1 }],
      [`{"a":"${secret}"}`, { maxKeys: 0 }],
      [`{"a":"${secret}","a":1}`],
      [`["${secret}",{"__proto__":"${secret}"}]`]
    ]
    const codes = new Set<string>()
    for (const [text, limits] of texts) {
      const problem = refused(text, limits)
      codes.add(problem.code)
      assert.notInclude(JSON.stringify(problem), "canary")
      assert.isTrue(isProblem(problem))
      assert.deepInclude(problem, { outcome: "not-applied", retry: "never" })
      assert.isNotEmpty(problem.what)
      assert.isNotEmpty(problem.next)
      assert.isBelow(Problem.render(problem).length, 400)
      assert.notMatch(problem.what, /\.\.|\n/)
    }
    assert.lengthOf(Array.from(codes), 6)
    const digest = Digest.of(long).slice(0, 16)
    const { path } = Schema.decodeUnknownSync(JsonProblem.NotCanonicalJson)(refused(`{"${long}":1,"${long}":1}`))
    assert.strictEqual(path, `/sk-canary-93715k…115 characters, sha256 ${digest}`)
    assert.include(refused(`{"${"k".repeat(64)}":-0}`).where, "k".repeat(64))
  })

  it("escapes what a key could do to a terminal or to the path", () => {
    assert.deepInclude(refused('{"a/b~\\u001b[2J\\u202e\\n":-0}'), { path: "/a~1b~0\\u001b[2J\\u202e\\u000a" })
  })

  it("keeps its sentences", () => {
    const rendered = [
      refused("x".repeat(2_000_000)),
      refused("[".repeat(70)),
      refused('{"a":1,"b":2}', { maxKeys: 1 }),
      refused('{"a":\n  [1,]}'),
      refused('{"args":{"__proto__":1}}'),
      refused('{"args":[1,-0]}')
    ].map(Problem.render)
    assert.deepStrictEqual(rendered, [
      "The text has 2,000,000 characters; the limit is 1,048,576. Store large content as an artifact and pass its reference.",
      "JSON nesting passes 64 levels at character 64. Flatten the value or store it as an artifact.",
      "The objects of the JSON text have more than 1 members. Send fewer members, or store the value as an artifact.",
      "The text is not JSON: line 2, column 6 should be a value. At character 11. Expected a value, found ]. Correct the text at that place.",
      "Key at /args/__proto__ is reserved and is not accepted. At /args/__proto__. Use another key.",
      "Value at /args/1 is negative zero. At /args/1. Write 0."
    ])
  })

  it("keeps its codes", () => {
    const problems = [
      refused("11", { maxChars: 1 }),
      refused("[]", { maxDepth: 0 }),
      refused('{"a":1}', { maxKeys: 0 }),
      refused(""),
      refused('{"prototype":1}'),
      refused("-0"),
      Either.getOrThrow(Either.flip(Json.canonical(undefined)))
    ]
    assert.deepStrictEqual(
      problems.map(({ _tag, code }) => `${code} ${_tag}`),
      [
        "WF-JSON-001 InputTooLarge",
        "WF-JSON-002 InputTooDeep",
        "WF-JSON-003 InputTooWide",
        "WF-JSON-004 MalformedJson",
        "WF-JSON-005 ForbiddenKey",
        "WF-JSON-006 NotCanonicalJson",
        "WF-JSON-007 NotJson"
      ]
    )
  })

  it("names the rule and the way out", () => {
    const said = (problem: Problem.Problem) => `${problem.what} ${problem.next}`
    assert.deepStrictEqual(
      [
        refused('{"a":1,"a":1}'),
        refused('["\ud800"]'),
        refused('"\\u0000"'),
        refused("[1e999]"),
        refused('["abc"]', { maxStringChars: 2 }),
        Either.getOrThrow(Either.flip(Json.canonical([NaN])))
      ].map(said),
      [
        "Key at /a occurs twice in its object. Keep one of the two.",
        "Value at /0 holds half a surrogate pair. Write whole characters, or U+FFFD where one was cut.",
        "Value at the top level holds the character U+0000. Leave that character out.",
        "Value at /0 is a number that is too large or has too many digits. Send it as a string.",
        "The string has 3 characters; the limit is 2. Store large content as an artifact and pass its reference.",
        "The value at /0 is not JSON: it is not a finite number. Convert it before it is handed over."
      ]
    )
  })

  it("shortens a long path and a long key", () => {
    const path = (keys: ReadonlyArray<string>) => JsonProblem.notJson(keys, "test").path
    const keys = (n: number) => Array.from({ length: n }, (_, index) => String(index))
    assert.strictEqual(path(keys(64)), `/${keys(64).join("/")}`)
    assert.strictEqual(path(keys(65)), `/${keys(32).join("/")}/…/${keys(65).slice(33).join("/")}`)
    assert.strictEqual(path(["k".repeat(64)]), `/${"k".repeat(64)}`)
    assert.include(path(["k".repeat(65)]), "…65 characters, sha256 ")
  })

  it("looks at each character a fixed number of times", () => {
    const shapes: ReadonlyArray<(n: number) => string> = [
      (n) => `"${"a".repeat(n)}"`,
      (n) => `"${"\\u0041".repeat(n)}"`,
      (n) => `"${"\\n".repeat(n)}`,
      (n) => `[${"1,".repeat(n)}1]`,
      (n) => "[".repeat(n),
      (n) => "[".repeat(n) + "]".repeat(n),
      (n) => " ".repeat(n),
      (n) => "9".repeat(n),
      (n) => `{${Array.from({ length: n }, (_, i) => `"${i}" : {}`).join(" , ")}}`,
      (n) => `[${'"x" ,\n'.repeat(n)}`
    ]
    const limits = { maxChars: 1e9, maxDepth: 1e9, maxKeys: 1e9, maxDigits: 1e9 }
    for (const shape of shapes) {
      const at = (n: number) => {
        const text = shape(n)
        const count = steps(() => Json.parse(text, limits))
        assert.isBelow(count, 4 * text.length + 10)
        return count / text.length
      }
      assert.approximately(at(4_000) / at(1_000), 1, 0.1)
    }
  })
})

describe("Json.canonical", () => {
  it("writes what it can read back, sorted by code unit", () => {
    FastCheck.assert(
      FastCheck.property(plain, (value) => {
        const text = Either.getOrThrow(Json.canonical(value))
        assert.deepStrictEqual(accepted(text), JSON.parse(JSON.stringify(value)))
        assert.strictEqual(Either.getOrThrow(Json.canonical(JSON.parse(text))), text)
        assert.strictEqual(text.length, JSON.stringify(value).length)
      })
    )
  })

  it("agrees with the examples of RFC 8785", () => {
    const value = {
      numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"/",
      literals: [null, true, false]
    }
    assert.strictEqual(
      Either.getOrThrow(Json.canonical(value)),
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    const keys = { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7 }
    assert.strictEqual(
      Either.getOrThrow(Json.canonical(keys)),
      '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}'
    )
  })

  it("takes prototype-free objects, NUL and reserved keys as data", () => {
    const bare = Object.assign(Object.create(null), { a: 1 })
    assert.deepStrictEqual(Json.canonical(bare), Either.right('{"a":1}'))
    assert.deepStrictEqual(Json.canonical("\0"), Either.right('"\\u0000"'))
    assert.deepStrictEqual(Json.canonical(JSON.parse('{"__proto__":1}')), Either.right('{"__proto__":1}'))
    assert.deepStrictEqual(Json.canonical({ toJSON: 1 }), Either.right('{"toJSON":1}'))
    assert.deepStrictEqual(Json.canonical({ a: {}, b: [], c: [{}] }), Either.right('{"a":{},"b":[],"c":[{}]}'))
    const shared = { x: 1 }
    assert.deepStrictEqual(Json.canonical([shared, shared]), Either.right('[{"x":1},{"x":1}]'))
  })

  const self: { a: Array<unknown> } = { a: [0] }
  self.a.push({ back: self })
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const throwing = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error("no")
      }
    }
  )
  const forgetful = new Proxy({}, { ownKeys: () => ["a"], getOwnPropertyDescriptor: () => undefined })
  // name, value, path, reason
  const outside: ReadonlyArray<readonly [string, unknown, string, string]> = [
    ["undefined", undefined, "", "it is undefined"],
    ["an undefined member", { a: { b: undefined } }, "/a/b", "it is undefined"],
    ["an undefined item", [1, undefined], "/1", "it is undefined"],
    ["NaN", [NaN], "/0", "it is not a finite number"],
    ["an infinity", { n: -Infinity }, "/n", "it is not a finite number"],
    ["-0", [[0, -0]], "/0/1", "it is negative zero"],
    ["a bigint", { big: 1n }, "/big", "it is a bigint"],
    ["a function", [() => 1], "/0", "it is a function"],
    ["a symbol", [Symbol("s")], "/0", "it is a symbol"],
    ["a symbol key", { a: { [Symbol("s")]: 1 } }, "/a", "it has a symbol for a key"],
    ["a hole", [0, [1, , 3]], "/1/1", "the list has a hole"],
    ["a hole at the end", [0, ,], "/1", "the list has a hole"],
    ["four billion holes", new Array(4_294_967_295), "/0", "the list has a hole"],
    ["a list with a name", Object.assign([1], { extra: 1 }), "", "the list has other members than its items"],
    ["a date", { at: new Date(0) }, "/at", "it is not a plain object or list"],
    ["a map", new Map(), "", "it is not a plain object or list"],
    ["a boxed string", [new String("a")], "/0", "it is not a plain object or list"],
    [
      "a class instance",
      new (class Point {
        x = 1
      })(),
      "",
      "it is not a plain object or list"
    ],
    ["a list of a subclass", new (class List extends Array<number> {})(), "", "it is not a plain object or list"],
    ["an inherited object", Object.create({ a: 1 }), "", "it is not a plain object or list"],
    [
      "an accessor",
      {
        get a() {
          return 1
        }
      },
      "/a",
      "it is computed by an accessor"
    ],
    [
      "an accessor in a list",
      Object.defineProperty([1, 2], "1", { get: () => 2, enumerable: true }),
      "/1",
      "it is computed by an accessor"
    ],
    ["a hidden property", Object.defineProperty({}, "a", { value: 1 }), "/a", "the property is hidden"],
    ["toJSON", { a: { toJSON: () => 1 } }, "/a", "it has a toJSON method"],
    ["a cycle", self, "/a/1/back", "it contains itself"],
    ["a lone surrogate", { a: ["\ud83d"] }, "/a/0", "it holds half a surrogate pair"],
    ["a lone surrogate in a key", { a: { "\udc00": 1 } }, "/a/\ufffd", "a key holds half a surrogate pair"],
    ["a revoked proxy", [revoked.proxy], "/0", "it cannot be read"],
    ["a proxy that forgets a key", [forgetful], "/0/a", "it cannot be read"],
    ["a proxy that throws", { a: throwing }, "/a", "it cannot be read"]
  ]
  for (const [name, value, path, reason] of outside) {
    it(`refuses ${name}`, () => {
      assert.deepStrictEqual(notJson(value), [path, reason])
      assert.isFalse(Json.equal(value, value))
      assert.isArray(Json.leaves(value))
    })
  }

  it("is total on anything, and what it accepts survives a round trip and a structured clone", () => {
    const anything = FastCheck.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: false,
      withObjectString: true,
      withSparseArray: true,
      withTypedArray: true
    })
    FastCheck.assert(
      FastCheck.property(anything, (value) => {
        const written = Json.canonical(value)
        if (Either.isRight(written)) {
          assert.deepStrictEqual(JSON.parse(written.right), value)
          assert.isTrue(Json.equal(structuredClone(value), value))
        } else assert.isTrue(Schema.is(Json.NotJson)(written.left))
        assert.isArray(Json.leaves(value))
      }),
      { numRuns: 2_000 }
    )
  })

  it("neither recurses nor writes without end", () => {
    let deep: unknown = 1
    for (let n = 0; n < 200_000; n++) deep = [deep]
    assert.strictEqual(Either.getOrThrow(Json.canonical(deep)).length, 400_001)
    assert.lengthOf(Json.leaves(deep), 1)
    assert.isTrue(Either.isRight(Json.canonical([1, 2], { maxChars: 5 })))
    assert.isTrue(Either.isLeft(Json.canonical([1, 2], { maxChars: 4 })))
    let shared: unknown = [1]
    for (let n = 0; n < 100; n++) shared = [shared, shared]
    const refusal = Either.flip(Json.canonical(shared, { maxChars: 10_000 }))
    assert.isTrue(Either.isRight(refusal))
    assert.include(Either.getOrThrow(refusal).reason, "longer than 10000")
  })
})

describe("Json.equal", () => {
  it("goes by canonical JSON", () => {
    assert.isTrue(Json.equal({ a: 1, b: [2, "3"] }, { b: [2, "3"], a: 1.0 }))
    assert.isFalse(Json.equal(1, "1"))
    assert.isFalse(Json.equal([1, 2], [2, 1]))
    assert.isFalse(Json.equal({ a: 1 }, { a: 1, b: null }))
    assert.isFalse(Json.equal(0, -0))
    assert.isTrue(Json.equal(null)(null))
  })
})

describe("Json.leaves", () => {
  it("lists keys and scalars in order, each with its pointer", () => {
    const value = { b: [1, { "x/y": null }, []], "~": "s", a: { "": true } }
    const listed = Json.leaves(value).map(({ part, pointer, value }) => [part, pointer, value])
    assert.deepStrictEqual(listed, [
      ["key", "/b", "b"],
      ["value", "/b/0", 1],
      ["key", "/b/1/x~1y", "x/y"],
      ["value", "/b/1/x~1y", null],
      ["key", "/~0", "~"],
      ["value", "/~0", "s"],
      ["key", "/a", "a"],
      ["key", "/a/", ""],
      ["value", "/a/", true]
    ])
    const shared = [1]
    assert.deepStrictEqual(
      Json.leaves({ a: shared, b: [shared] }).map(({ pointer }) => pointer),
      ["/a", "/a/0", "/b", "/b/0/0"]
    )
    assert.deepStrictEqual(Json.leaves("x"), [{ part: "value", pointer: "", value: "x" }])
  })

  it("has pointers that lead to the value", () => {
    const follow = (value: unknown, pointer: string): unknown =>
      pointer
        .split("/")
        .slice(1)
        .reduce<unknown>((at, step) => {
          const key = step.replaceAll("~1", "/").replaceAll("~0", "~")
          return Object.getOwnPropertyDescriptor(at, key)?.value
        }, value)
    FastCheck.assert(
      FastCheck.property(plain, (value) => {
        for (const leaf of Json.leaves(value)) {
          if (leaf.part === "value") assert.strictEqual(follow(value, leaf.pointer), leaf.value)
        }
      })
    )
  })

  it("leaves out what is outside the domain, and stops at a cycle", () => {
    const value: { ok: number; [key: string]: unknown } = { ok: 1, bad: NaN, at: new Date(0), "\ud800": 2 }
    value.self = value
    assert.deepStrictEqual(
      Json.leaves(value).map(({ value }) => value),
      ["ok", 1, "bad", "at", 2, "self"]
    )
  })
})
