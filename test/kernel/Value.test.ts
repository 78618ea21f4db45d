import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import { existsSync, readFileSync } from "node:fs"
import * as Json from "../../src/kernel/Json.ts"
import * as Value from "../../src/kernel/Value.ts"

const texts = (text: string) => Value.tokens(text).map((token) => token.text)
const values = (text: string) => Value.tokens(text).map((token) => token.value)
const candidates = (text: string, options?: Value.Options) => Value.extract(text, options).map((token) => token.value)

/** Text with much of what the rules look at. */
const busy = FastCheck.array(
  FastCheck.oneof(
    FastCheck.string({ unit: "binary", maxLength: 4 }),
    FastCheck.constantFrom(..."0123456789,.-:/$%#@+_'\"()[]− \u202f\ud800\udc00aAxXpPmMkK"),
    FastCheck.constantFrom(
      "10:00",
      " AM",
      " p.m.",
      "0x1F",
      "1,234",
      ",567",
      ".00",
      "12.5ms",
      "$-",
      "-$",
      "GB/s",
      "\u212a",
      "İ",
      "ΑΣ"
    )
  ),
  { maxLength: 30 }
).map((parts) => parts.join(""))

/** How often a text is looked into while `run` works: characters, slices and searches. */
const steps = (run: () => void): number => {
  const names = ["charCodeAt", "charAt", "slice", "indexOf"] as const
  const originals = names.map((name) => ({ name, value: String.prototype[name] }))
  let count = 0
  for (const { name, value } of originals) {
    Object.defineProperty(String.prototype, name, {
      configurable: true,
      writable: true,
      value(this: string, ...args: Array<unknown>) {
        count++
        return Reflect.apply(value, this, args)
      }
    })
  }
  try {
    run()
  } finally {
    for (const { name, value } of originals) {
      Object.defineProperty(String.prototype, name, { configurable: true, writable: true, value })
    }
  }
  return count
}

describe("Value.normalise", () => {
  const spellings: ReadonlyArray<readonly [normal: string, ...spellings: Array<string>]> = [
    [
      "10519",
      "10519",
      "10519.0",
      "10,519",
      "$10,519.00",
      "$10,519",
      ' "10,519". ',
      "#10519",
      "@10519",
      "+10519",
      "(10519)",
      "[10,519]",
      "10519%",
      "10519.",
      "‘10519’",
      "«10519»",
      "{<10519>}",
      "`10519`:",
      "10519;!?"
    ],
    ["-6594", "-6594", "-6,594.00", "-$6,594", "$-6594", "\u22126594", "\u2212$6,594.0", "(-6594)"],
    ["0.5", "0.5", "0.50", "0.5%", "+0.500"],
    ["12.5", "12.50", "12.5 % "],
    ["0", "0", "0.0", "$0.00"],
    ["100", "100", "100.0"],
    ["1000000", "1,000,000", "$1,000,000.00"],
    ["999.99", "$999.99", "999.990"],
    ["123456789012345", "123456789012345", "123,456,789,012,345"],
    ["12345678901234.5", "12345678901234.5", "-+12345678901234.5".slice(1)],
    ["jg7fmm", "JG7FMM", "jg7fmm", "#JG7FMM", "'Jg7Fmm'", "@jg7fmm,"],
    ["10:00 am", "10:00 AM", "10:00 am.", "(10:00 Am)"],
    ["1,23456", "1,23,456"],
    ["12,5", "12,5"],
    ["0,519", "0,519"],
    ["1234,567", "1234,567"],
    ["1,2345", "1,2345"],
    [",1234", ",1,234"],
    ["1,,034,567", "1,,034,567"],
    ["a,1234,567", "a,1234,567"],
    ["1.5,300", "1.5,300"],
    ["a1,234", "A1,234"],
    ["x_1,234", "x_1,234"],
    ["1234ms", "1,234ms"],
    ["total:1234", "Total:1,234"],
    ["007", "007"],
    ["00.50", "00.50"],
    [".50", ".50"],
    ["1e3", "1e3"],
    ["-", "-", "-$", "\u2212", "-.", "\u2212)"],
    ["100$", "100$"],
    ["€100", "€100"],
    ["", "", " ", "\"'", "$", "...", "%", "+#@$"]
  ]
  for (const [normal, ...given] of spellings) {
    it(`gives ${JSON.stringify(normal)} for ${given.map((text) => JSON.stringify(text)).join(" ")}`, () => {
      for (const text of given) assert.strictEqual(Value.normalise(text), normal, text)
    })
  }

  it("leaves the zeros of numbers of more than 15 digits", () => {
    assert.strictEqual(Value.normalise("1234567890123.10"), "1234567890123.1")
    assert.strictEqual(Value.normalise("12345678901234.10"), "12345678901234.10")
    assert.strictEqual(Value.normalise("-1234567890123.10"), "-1234567890123.1")
    assert.strictEqual(Value.normalise("1,234,567,890,123,456.0"), "1234567890123456.0")
  })

  it("is idempotent", () => {
    FastCheck.assert(
      FastCheck.property(busy, (text) => {
        const normal = Value.normalise(text)
        assert.strictEqual(Value.normalise(normal), normal)
      }),
      { numRuns: 20_000 }
    )
  })

  it("writes a plain number as JavaScript does", () => {
    const cents = FastCheck.integer({ min: -1_000_000_000, max: 1_000_000_000 })
    FastCheck.assert(
      FastCheck.property(cents, (n) => {
        const sign = n < 0 ? "-" : ""
        const whole = String(Math.floor(Math.abs(n) / 100)).replace(/\B(?=(\d{3})+$)/g, ",")
        const shown = `${sign}$${whole}.${String(Math.abs(n) % 100).padStart(2, "0")}`
        assert.strictEqual(Value.normalise(shown), String(n / 100))
      })
    )
  })
})

describe("Value.keys", () => {
  const table: ReadonlyArray<readonly [string, ReadonlyArray<readonly [string, string, "weak"?]>]> = [
    ["10:00x", [["10:00x", ""]]],
    ["x10:00", [["x10:00", ""]]],
    [
      "9:59:59",
      [
        ["9:59:59", ""],
        ["09:59:59", "clock time", "weak"]
      ]
    ],
    ["24:00:00", [["24:00:00", ""]]],
    ["a0xff", [["a0xff", ""]]],
    ["-5abcdefg", [["-5abcdefg", ""]]],
    ["a-5", [["a-5", ""]]],
    ["jg7fmm", [["jg7fmm", ""]]],
    ["JG7FMM", [["jg7fmm", "case"]]],
    ["$10,519.00", [["10519", "currency, thousands separators, trailing zeros"]]],
    ["#12%", [["12", "leading mark, percent"]]],
    ["'12'", [["12", "punctuation"]]],
    [
      "0x1F",
      [
        ["0x1f", "case"],
        ["1f", "case, 0x prefix"]
      ]
    ],
    [
      "0xdead",
      [
        ["0xdead", ""],
        ["dead", "0x prefix"]
      ]
    ],
    ["0xdefg", [["0xdefg", ""]]],
    [
      "-6594",
      [
        ["-6594", ""],
        ["6594", "sign dropped", "weak"]
      ]
    ],
    [
      "-6,594.50",
      [
        ["-6594.5", "thousands separators, trailing zeros"],
        ["6594.5", "thousands separators, trailing zeros, sign dropped", "weak"]
      ]
    ],
    ["-x1", [["-x1", ""]]],
    [
      "1,250.0ms",
      [
        ["1250.0ms", "thousands separators"],
        ["1250", "thousands separators, unit, trailing zeros"]
      ]
    ],
    [
      "30GB/s",
      [
        ["30gb/s", "case"],
        ["30", "case, unit"]
      ]
    ],
    [
      "12abcde",
      [
        ["12abcde", ""],
        ["12", "unit"]
      ]
    ],
    ["12abcdef", [["12abcdef", ""]]],
    ["2FBBAH", [["2fbbah", "case"]]],
    [
      "12ABC",
      [
        ["12abc", "case"],
        ["12", "case, unit"]
      ]
    ],
    ["12a/", [["12a/", ""]]],
    ["12/s", [["12/s", ""]]],
    [
      "10:00 AM",
      [
        ["10:00 am", "case"],
        ["10:00", "case, clock time", "weak"]
      ]
    ],
    [
      "1:30 pm",
      [
        ["1:30 pm", ""],
        ["13:30", "clock time", "weak"]
      ]
    ],
    [
      "1:30 p.m.",
      [
        ["1:30 p.m", "punctuation"],
        ["13:30", "punctuation, clock time", "weak"]
      ]
    ],
    [
      "1:30pm",
      [
        ["1:30pm", ""],
        ["13:30", "clock time", "weak"]
      ]
    ],
    [
      "12:00 am",
      [
        ["12:00 am", ""],
        ["00:00", "clock time", "weak"]
      ]
    ],
    [
      "12:05 pm",
      [
        ["12:05 pm", ""],
        ["12:05", "clock time", "weak"]
      ]
    ],
    ["13:30", [["13:30", ""]]],
    [
      "9:05",
      [
        ["9:05", ""],
        ["09:05", "clock time", "weak"]
      ]
    ],
    [
      "13:30:00",
      [
        ["13:30:00", ""],
        ["13:30", "clock time", "weak"]
      ]
    ],
    ["13:30:15", [["13:30:15", ""]]],
    [
      "00:30:00+1",
      [
        ["00:30:00+1", ""],
        ["00:30", "clock time", "weak"]
      ]
    ],
    ["24:00", [["24:00", ""]]],
    ["9:60", [["9:60", ""]]],
    ["9:00:60", [["9:00:60", ""]]],
    ["13:00 pm", [["13:00 pm", ""]]],
    ["0:30 am", [["0:30 am", ""]]],
    ["", []],
    ['"', []]
  ]
  for (const [raw, expected] of table) {
    it(`names what ${JSON.stringify(raw)} matches under`, () => {
      const keys = Value.keys(raw).map(({ by, value, weak }) => [value, by.join(", "), ...(weak ? ["weak"] : [])])
      assert.deepStrictEqual(
        keys,
        expected.map((key) => Array.from(key))
      )
    })
  }

  it("starts with the normal form", () => {
    FastCheck.assert(
      FastCheck.property(busy, (text) => {
        const [first] = Value.keys(text)
        assert.strictEqual(first?.value ?? "", Value.normalise(text))
        assert.strictEqual(first?.weak ?? false, false)
      })
    )
  })
})

describe("Value.match", () => {
  const table: ReadonlyArray<readonly [string, string, string | undefined]> = [
    ["10519", "10519", ""],
    ["\ud800", "\ud800", ""],
    ["$10,519", "10519.0", "currency, thousands separators, trailing zeros"],
    ["$10,519", "$10519", "thousands separators"],
    ["$10,519.00", "10,519.00", "currency"],
    ["1.00", "1.000", "trailing zeros"],
    ["$1.00", "$1.000", "currency, trailing zeros"],
    ["#12", "@12", "leading mark"],
    ["12%", "12", "percent"],
    ["JG7FMM", "jg7fmm", "case"],
    ['"JG7FMM"', "JG7FMM", "punctuation"],
    ["JG7FMM.", "'jg7fmm'", "punctuation, case"],
    ["6594", "-6594", "sign dropped"],
    ["6594", "\u22126594", "punctuation, sign dropped"],
    ["$6,594", "-6594", "currency, thousands separators, sign dropped"],
    ["-$6,594", "-6594.0", "currency, thousands separators, trailing zeros"],
    ["0xABC", "abc", "case, 0x prefix"],
    ["0xabc", "0xabc", ""],
    ["0xABC", "ABC", "0x prefix"],
    ["1250MS", "1250", "unit"],
    ["1250", "1250ms", "unit"],
    ["12.50s", "12.5", "trailing zeros, unit"],
    ["10:00 AM", "10:00", "clock time"],
    ["1:30 PM", "13:30", "clock time"],
    ["1:30 PM", "13:30:00+1", "clock time"],
    ["01:30", "1:30 a.m.", "clock time"],
    ["10:00 AM", "10:00 am", "case"],
    ["10:00 AM", "22:00", undefined],
    ["1:30 PM", "1:30 AM", undefined],
    ["12:30 AM", "00:30:00", "clock time"],
    ["13:30:15", "13:30", undefined],
    ["31.12.2015", "2015-12-31", "date"],
    ["31/12/2015", "12/31/2015", "date"],
    ["31-12-2015", "2015/12/31", "date"],
    ["5.5.2015", "2015-05-05", "date"],
    ["2015.1.2", "2015-01-02", "date"],
    ["01/02/2015", "2015-02-01", undefined],
    ["01/02/2015", "2015-01-02", undefined],
    ["01/02/2015", "01/02/2015", ""],
    ["31.02.2015", "2015-02-31", undefined],
    ["31.12/2015", "2015-12-31", undefined],
    ["31.12.15", "2015-12-31", undefined],
    ["31.12.2015", "2015-12-30", undefined],
    ["13.13.2015", "2015-13-13", undefined],
    ["0.12.2015", "2015-12-00", undefined],
    ["10519", "10518", undefined],
    ["007", "7", undefined],
    ["1e3", "1000", undefined],
    ["", '"', undefined],
    ["$", "#", undefined],
    ["123456789012345.0", "123456789012345", undefined]
  ]
  for (const [self, that, names] of table) {
    it(`${JSON.stringify(self)} and ${JSON.stringify(that)}: ${names ?? "no match"}`, () => {
      assert.strictEqual(Value.match(self, that)?.join(", "), names)
      assert.strictEqual(Value.match(that, self)?.join(", "), names)
      assert.deepStrictEqual(Value.match(that)(self), Value.match(self, that))
    })
  }

  it("matches where keys meet, the same in both directions, and names a reason unless the texts are the same", () => {
    FastCheck.assert(
      FastCheck.property(busy, busy, FastCheck.boolean(), (left, other, near) => {
        const right = near ? `$${left.toUpperCase()}.` : other
        const names = Value.match(left, right)
        const meet = Value.keys(left).some((a) => Value.keys(right).some((b) => a.value === b.value))
        assert.strictEqual(names !== undefined, meet || left === right)
        if (names !== undefined) assert.strictEqual(names.length === 0, left === right)
        assert.strictEqual(Value.match(right, left) === undefined, names === undefined)
      }),
      { numRuns: 3_000 }
    )
  })
})

describe("Value.tokens", () => {
  const table: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["", []],
    [" ... -- $ % , : ", []],
    ["Pay $10,519.00, please.", ["Pay", "$10,519.00", "please"]],
    ["a,b,c", ["a", "b", "c"]],
    ["1,2,3", ["1", "2", "3"]],
    ["10,519", ["10,519"]],
    ["1,234,567.89", ["1,234,567.89"]],
    ["1,234,56", ["1,234", "56"]],
    ["12,3456", ["12", "3456"]],
    ["1,a23 1,2b3 1,23c", ["1", "a23", "1", "2b3", "1", "23c"]],
    ["@x`y[z{A/B:Z9", ["@x", "y", "z", "A/B:Z9"]],
    ["2024,300 people", ["2024", "300", "people"]],
    ["0,519", ["0", "519"]],
    ["1.5,300", ["1.5", "300"]],
    ["HAT069,083", ["HAT069", "083"]],
    ["x_1,234", ["x_1", "234"]],
    ["x,1,234", ["x", "1,234"]],
    ["100,200,300", ["100,200,300"]],
    ["$1,000-$2,000", ["$1,000-$2,000"]],
    ["1,234ms", ["1,234ms"]],
    ['(JG7FMM), "2FBBAH": **HAT069**.', ["JG7FMM", "2FBBAH", "HAT069"]],
    ["id=omar_davis_3817;", ["id", "omar_davis_3817"]],
    ["#4421 @omar +5 -6594 12.5%.", ["#4421", "@omar", "+5", "-6594", "12.5%"]],
    ["\u22126594", ["6594"]],
    ["€1,234.50", ["1,234.50"]],
    ["Zürich", ["Z", "rich"]],
    ["https://x.io/a?b=1#c a@b.io", ["https://x.io/a", "b", "1#c", "a@b.io"]],
    ["at 10:00 AM.", ["at", "10:00 AM"]],
    ["10:00 a.m. or 1:30:00 P.M.", ["10:00 a.m", "or", "1:30:00 P.M"]],
    ["10:00\u00a0AM 10:00\u202fpm", ["10:00\u00a0AM", "10:00\u202fpm"]],
    ["10:00 AMs 10:00 am2 10:00 am_", ["10:00", "AMs", "10:00", "am2", "10:00", "am_"]],
    ["10:00  AM", ["10:00", "AM"]],
    ["10:00, AM", ["10:00", "AM"]],
    ["10:00. AM", ["10:00", "AM"]],
    ["10:00-AM", ["10:00-AM"]],
    ["10:00;AM 10:00x AM", ["10:00", "AM", "10:00x", "AM"]],
    ["10:00:00 AM", ["10:00:00 AM"]],
    ["I am 10 am", ["I", "am", "10", "am"]],
    ["x10:00 AM 110:00 AM", ["x10:00", "AM", "110:00", "AM"]],
    ["10:00 A", ["10:00", "A"]],
    ["10:00:", ["10:00"]],
    ["...7447", ["...7447"]],
    ["a\ud800b", ["a", "b"]]
  ]
  for (const [text, expected] of table) {
    it(`splits ${JSON.stringify(text)}`, () => assert.deepStrictEqual(texts(text), expected))
  }

  it("carries the normal form and the place", () => {
    assert.deepStrictEqual(Value.tokens("Total: $10,519.00."), [
      { text: "Total", value: "total", start: 0, end: 5 },
      { text: "$10,519.00", value: "10519", start: 7, end: 17 }
    ])
    assert.deepStrictEqual(values("10:00 AM, 5%"), ["10:00 am", "5"])
  })

  it("gives slices of any text, in order, that tokenise to themselves", () => {
    FastCheck.assert(
      FastCheck.property(busy, (text) => {
        let last = 0
        for (const token of Value.tokens(text)) {
          assert.isAtLeast(token.start, last)
          assert.isAbove(token.end, token.start)
          last = token.end
          assert.strictEqual(text.slice(token.start, token.end), token.text)
          assert.strictEqual(token.value, Value.normalise(token.text))
          assert.match(token.text, /^[A-Za-z0-9:_\-/.,%+@#$]+([ \u00a0\u202f][ap]\.?m)?$/i)
          assert.match(token.text, /[A-Za-z0-9]/)
          assert.deepStrictEqual(texts(token.text), [token.text])
        }
        const spelled = Value.tokens(text)
          .map((token) => token.text)
          .join("")
          .replace(/[^A-Za-z0-9]/g, "")
        assert.strictEqual(spelled, text.replace(/[^A-Za-z0-9]/g, ""))
      }),
      { numRuns: 5_000 }
    )
  })

  it("stops at its limit", () => {
    assert.lengthOf(Value.tokens("a b c d", { limit: 2 }), 2)
    assert.lengthOf(Value.tokens("a b c d", { limit: 0 }), 0)
  })

  it("looks into a text a number of times that grows with its length only", () => {
    const shapes: ReadonlyArray<(n: number) => string> = [
      (n) => "a".repeat(n),
      (n) => "1".repeat(n),
      (n) => ".".repeat(n),
      (n) => `a${".".repeat(n)}`,
      (n) => `${".".repeat(n)}a`,
      (n) => "a.".repeat(n),
      (n) => "1,".repeat(n),
      (n) => `1${",234".repeat(n)}`,
      (n) => `1${",234".repeat(n)}5`,
      (n) => "10:00 AM ".repeat(n),
      (n) => "$".repeat(n),
      (n) => `$${"-$".repeat(n)}1`,
      (n) => "a ".repeat(n),
      (n) => "'".repeat(n),
      (n) => `0x${"f".repeat(n)}`,
      (n) => `1${"a".repeat(n)}/${"a".repeat(n)}`
    ]
    for (const shape of shapes) {
      for (const run of [Value.tokens, Value.normalise, Value.keys, Value.extract, Value.fromJson]) {
        const at = (n: number) => steps(() => run(shape(n))) / shape(n).length
        assert.isBelow(at(4_000), Math.max(1.1 * at(1_000), 0.1), `${run.name} ${shape(3)}`)
      }
    }
  })

  it("reads long runs of one character", () => {
    for (const unit of ["9", "a", ".", "1,", "1,234,", "-", "0x", "a.", "10:00 ", "\ud800", "9a/", "'"]) {
      assert.isArray(Value.extract(unit.repeat(200_000)))
      assert.isString(Value.normalise(unit.repeat(200_000)))
    }
  })
})

describe("Value.extract", () => {
  const table: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["no digits here, JGFMMX or a-b/c.d", []],
    ["3/4 24/7 1/12", []],
    ["123/4 1/123 12/345/6", ["123/4", "1/123", "12/345/6"]],
    ["121 $55 999", []],
    ["1234 $3,538 10519.00 -6594", ["1234", "3538", "10519", "-6594"]],
    ["100.00 10.05 0042 1.234", ["10.05", "0042", "1.234"]],
    ["12.5ms 30GB/s 2nd 737MAX", []],
    ["1250ms 4000GB/s 1,250.0USD 1234abcde", ["1250", "4000", "1234"]],
    ["1250.5ms 7447abcdef", ["1250.5", "7447abcdef"]],
    ["HAT069 JG7FMM 2FBBAH M05KNL", ["hat069", "jg7fmm", "2fbbah", "m05knl"]],
    ["A1 B12 v2 x_1", []],
    ["A123 x_12 v1.2 5+55 5#55 555-1234", ["a123", "x_12", "v1.2", "555-1234"]],
    ["0xdead 0x1 0x1f", ["0xdead", "0x1f"]],
    ["12ABCD 123ABC 12abcd", ["12abcd"]],
    ["2024-05-21 2024-05-21T13:30:00Z", ["2024-05-21", "2024-05-21t13:30:00z"]],
    ["9:05 10:00 1:30 PM 13:30:00", ["9:05", "10:00", "1:30 pm", "13:30:00"]],
    ["12345678901234567890 1234567890123456.0", ["12345678901234567890", "1234567890123456.0"]],
    ["https://x.io/a1 omar.davis3817@x.io", ["https://x.io/a1", "omar.davis3817@x.io"]]
  ]
  for (const [text, expected] of table) {
    it(`finds in ${JSON.stringify(text)}: ${expected.join(" ") || "nothing"}`, () => {
      assert.deepStrictEqual(candidates(text), expected)
    })
  }

  it("keeps the first of equal values, where it stands", () => {
    assert.deepStrictEqual(Value.extract("A $10,519.00 b 10519 c 10,519ms jg7fmm JG7FMM"), [
      { text: "$10,519.00", value: "10519", start: 2, end: 12 },
      { text: "jg7fmm", value: "jg7fmm", start: 32, end: 38 }
    ])
    assert.deepStrictEqual(Value.extract("took 1,250ms"), [{ text: "1,250ms", value: "1250", start: 5, end: 12 }])
  })

  it("asks declared shapes first, and exemptions before them", () => {
    assert.deepStrictEqual(candidates("ABC 121 x9", { shapes: [/[A-Z]{3}/, /\d{3}/] }), ["abc", "121"])
    assert.deepStrictEqual(candidates("$121 1/2", { shapes: [/121/, /\d\/\d/] }), ["121", "1/2"])
    assert.deepStrictEqual(candidates("1234 5678", { exempt: [/12.*/], shapes: [/\d+/] }), ["5678"])
    assert.deepStrictEqual(candidates("10:00 1234", { exempt: [/\d+:\d+/] }), ["1234"])
  })

  it("anchors a shape, and ignores its memory", () => {
    assert.deepStrictEqual(candidates("xABCx ABCD ABC", { shapes: [/ABC/g] }), ["abc"])
    assert.deepStrictEqual(candidates("xa ay a", { shapes: [/x|a/y] }), ["a"])
    const sticky = /[A-Z]{3}/gy
    sticky.lastIndex = 2
    assert.deepStrictEqual(candidates("ABC DEF GHI", { shapes: [sticky] }), ["abc", "def", "ghi"])
    assert.strictEqual(sticky.lastIndex, 2)
    assert.deepStrictEqual(candidates("abc", { shapes: [/ABC/i] }), ["abc"])
    assert.deepStrictEqual(candidates("aAa", { shapes: [/[A-Z]+/] }), [])
    assert.deepStrictEqual(candidates("abc", { shapes: [/^abc$/] }), ["abc"])
  })

  it("tries no shape on a token of more than 256 characters", () => {
    assert.lengthOf(candidates("a".repeat(256), { shapes: [/a+/] }), 1)
    assert.lengthOf(candidates("a".repeat(257), { shapes: [/a+/] }), 0)
    assert.lengthOf(candidates(`${"a".repeat(400_000)}!`, { shapes: [/(a+)+b/] }), 0)
  })

  it("takes another number of digits", () => {
    assert.deepStrictEqual(candidates("12 121 55ms", { minDigits: 2 }), ["12", "121", "55"])
    assert.deepStrictEqual(candidates("1234 12345", { minDigits: 5 }), ["12345"])
  })

  it("reads 20,000 tokens", () => {
    const many = (n: number) => Array.from({ length: n }, (_, index) => `id-${index}`).join(" ")
    assert.lengthOf(Value.extract(many(20_001)), 20_000)
    assert.lengthOf(Value.extract(`${"word ".repeat(20_000)}id-1`), 0)
    assert.lengthOf(Value.extract(many(10), { limit: 3 }), 3)
  })

  it("is total, distinct and a selection of the tokens", () => {
    FastCheck.assert(
      FastCheck.property(busy, (text) => {
        const found = Value.extract(text)
        assert.strictEqual(new Set(found.map((token) => token.value)).size, found.length)
        const starts = new Map(Value.tokens(text).map((token) => [token.start, token]))
        for (const token of found) {
          assert.strictEqual(starts.get(token.start)?.text, token.text)
          assert.include(
            Value.keys(token.text).map((key) => key.value),
            token.value
          )
          assert.match(token.text, /\d/)
        }
      }),
      { numRuns: 5_000 }
    )
  })
})

describe("Value.fromJson", () => {
  it("gives keys and leaves, whole and tokenised, with their pointers", () => {
    const value = { "flight id": ["HAT069", 10519.5, null, true, "", "…"], to: "a, 10:00 AM" }
    const found = Value.fromJson(value).map(({ end, part, pointer, start, text, value }) => [
      part,
      pointer,
      text,
      value,
      start,
      end
    ])
    assert.deepStrictEqual(found, [
      ["key", "/flight id", "flight id", "flight id", 0, 9],
      ["key", "/flight id", "flight", "flight", 0, 6],
      ["key", "/flight id", "id", "id", 7, 9],
      ["value", "/flight id/0", "HAT069", "hat069", 0, 6],
      ["value", "/flight id/1", "10519.5", "10519.5", 0, 7],
      ["value", "/flight id/3", "true", "true", 0, 4],
      ["value", "/flight id/5", "…", "…", 0, 1],
      ["key", "/to", "to", "to", 0, 2],
      ["value", "/to", "a, 10:00 AM", "a, 10:00 am", 0, 11],
      ["value", "/to", "a", "a", 0, 1],
      ["value", "/to", "10:00 AM", "10:00 am", 3, 11]
    ])
    assert.deepStrictEqual(
      Value.fromJson("-6594").map(({ pointer, value }) => [pointer, value]),
      [["", "-6594"]]
    )
  })

  it("stops at its limit", () => {
    for (let limit = 0; limit < 8; limit++) {
      assert.lengthOf(Value.fromJson({ "a b c": ["d e", 1, 2] }, { limit }), limit)
    }
  })

  it("is total", () => {
    FastCheck.assert(FastCheck.property(FastCheck.anything(), (value) => assert.isArray(Value.fromJson(value))))
  })
})

const file = new URL("../../../shared/data/tau-airline/openai-chat.jsonl", import.meta.url)

interface Said {
  readonly role: string
  readonly content?: string | null
}

const shapes = {
  money: /(?<![\w$])\$\d[\d,]*(?:\.\d+)?/g,
  id: /\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{6}\b|\b\d{7}\b|\b[a-z]+_[a-z]+_\d{4,7}\b/g,
  time: /\b\d{1,2}:\d{2}(?: ?[AP]M)?\b/g
}

describe.skipIf(!existsSync(file))("Value on real conversations (skipped where ../shared/data is absent)", () => {
  /** Each money, id and time value of a reply, and how it is found in the tool results before it. */
  const measure = () => {
    const counts = { values: 0, verbatim: 0, strong: 0, weak: 0, others: 0, nowhere: 0, extracted: 0, unexplained: 0 }
    const kinds = new Map<string, number>()
    const missing = new Map<string, number>()
    const reasons = new Map<string, number>()
    const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1)
    for (const row of readFileSync(file, "utf8").trim().split("\n")) {
      const { messages }: { messages: ReadonlyArray<Said> } = JSON.parse(row)
      let seen = ""
      const said = new Set<string>()
      const strong = new Map<string, string>()
      const weak = new Map<string, string>()
      for (const { content, role } of messages) {
        if (content == null) continue
        if (role === "system" || role === "user") {
          for (const { text } of Value.tokens(content)) for (const key of Value.keys(text)) said.add(key.value)
        }
        if (role === "tool") {
          seen += `\n${content}`
          const parsed = Json.parse(content)
          for (const token of Either.isRight(parsed) ? Value.fromJson(parsed.right) : Value.tokens(content)) {
            for (const key of Value.keys(token.text)) {
              const index = key.weak ? weak : strong
              if (!index.has(key.value)) index.set(key.value, token.text)
            }
          }
        }
        if (role !== "assistant") continue
        const taken = new Set(
          Value.extract(content, { minDigits: 1 }).flatMap(({ text }) => Value.keys(text).map((key) => key.value))
        )
        for (const [kind, shape] of Object.entries(shapes)) {
          for (const [raw] of content.matchAll(shape)) {
            counts.values++
            count(kinds, kind)
            const text = raw.replace(/[,.]$/, "")
            const keys = Value.keys(text)
            if (keys.some(({ value }) => taken.has(value))) counts.extracted++
            if (seen.includes(text.replace(/[$,]/g, "").replace(/ ?[AP]M$/, ""))) counts.verbatim++
            const direct = keys
              .filter((key) => !key.weak)
              .map(({ value }) => strong.get(value))
              .find((hit) => hit !== undefined)
            const any =
              direct ?? keys.map(({ value }) => strong.get(value) ?? weak.get(value)).find((hit) => hit !== undefined)
            if (any === undefined && keys.some(({ value }) => said.has(value))) counts.others++
            else if (any === undefined) {
              counts.nowhere++
              count(missing, kind)
            } else {
              if (direct === undefined) counts.weak++
              else counts.strong++
              const why = Value.match(text, any)
              if (why === undefined) counts.unexplained++
              else count(reasons, why.join(", ") || "same text")
            }
          }
        }
      }
    }
    return { counts, kinds, missing, reasons }
  }

  it("finds at least 90 % of the money, id and time values of replies in an earlier tool result, and says why", () => {
    const { counts, kinds, missing, reasons } = measure()
    const share = (n: number) => `${n} (${((100 * n) / counts.values).toFixed(1)} %)`
    console.log(
      [
        `values in replies: ${counts.values} (${Array.from(kinds, ([kind, n]) => `${kind} ${n}`).join(", ")})`,
        `verbatim in an earlier tool result: ${share(counts.verbatim)}`,
        `matched by a strong key: ${share(counts.strong)}, by a weak key only: ${share(counts.weak)}`,
        `only in a person's turn or the policy: ${share(counts.others)}`,
        `nowhere: ${share(counts.nowhere)} (${Array.from(missing, ([kind, n]) => `${kind} ${n}`).join(", ")})`,
        `seen by extract: ${share(counts.extracted)}`,
        ...Array.from(reasons)
          .sort((a, b) => b[1] - a[1])
          .map(([why, n]) => `  ${n} by ${why}`)
      ].join("\n")
    )
    assert.isAbove(counts.values, 500)
    assert.strictEqual(counts.unexplained, 0)
    assert.strictEqual(counts.extracted, counts.values)
    assert.isAtLeast((counts.strong + counts.weak) / counts.values, 0.9)
  })
})
