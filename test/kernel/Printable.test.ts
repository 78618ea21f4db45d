import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Printable from "../../src/kernel/Printable.ts"

/** Written down apart from the module: controls, line ends, bidirectional and invisible characters, half pairs. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u
// Format characters that shape visible text of some scripts, and move nothing.
const harmless =
  /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}]/gu

const texts = FastCheck.oneof(
  FastCheck.string({ unit: "binary" }),
  FastCheck.array(FastCheck.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes))
)

describe("Printable", () => {
  it("shows escapes, line ends, marks that reorder text, and characters that cannot be seen as what they are", () => {
    assert.strictEqual(
      Printable.line("a\u001b[31m\r\nb\u2028\u202e\u200b\u{e0041}"),
      "a\\u001b[31m\\u000d\\u000ab\\u2028\\u202e\\u200b\\u{e0041}"
    )
    assert.strictEqual(Printable.line("Grüße, 世界 😀"), "Grüße, 世界 😀")
  })

  it("keeps lines and tabs in a block, and nothing else", () => {
    assert.strictEqual(Printable.block("a\r\nb\tc\u001b\rd"), "a\nb\tc\\u001b\\u000dd")
  })

  it("is one line of visible characters, whatever the text", () => {
    FastCheck.assert(
      FastCheck.property(texts, (text) => {
        const lined = Printable.line(text).replaceAll(harmless, "")
        const found = unsafe.exec(lined)?.[0].codePointAt(0)?.toString(16)
        assert.isUndefined(found)
      }),
      { numRuns: 1_000 }
    )
  })

  it("shows in an exact line whatever the eye would take for nothing, or for a space", () => {
    const unseen = /\p{Default_Ignorable_Code_Point}|\p{Cc}|\p{Zl}|\p{Zp}|(?! )\p{Zs}/u
    for (let code = 0; code <= 0x10ffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue
      const character = String.fromCodePoint(code)
      const shown = Printable.exact(character)
      if (!unseen.test(character) && shown === character) continue
      const hex = code.toString(16).padStart(4, "0")
      assert.strictEqual(shown, code > 0xffff ? `\\u{${hex}}` : `\\u${hex}`)
      assert.notMatch(shown, unseen)
    }
    assert.strictEqual(Printable.exact("a b, ä, 漢字, 👍"), "a b, ä, 漢字, 👍")
  })

  it("replaces half a surrogate pair, and only that", () => {
    assert.strictEqual(Printable.wellFormed("a\ud800b\udc00c😀\ud83d"), "a\ufffdb\ufffdc😀\ufffd")
    FastCheck.assert(
      FastCheck.property(texts, (text) => {
        const formed = Printable.wellFormed(text)
        assert.strictEqual(formed, Buffer.from(text, "utf8").toString("utf8"))
        assert.strictEqual(Printable.wellFormed(formed), formed)
      })
    )
  })

  it("cuts between code points, and says how many it left out", () => {
    assert.strictEqual(Printable.clip("abc", 3), "abc")
    assert.strictEqual(Printable.clip("abcd", 3), "abc… 1 more")
    assert.strictEqual(Printable.clip("😀😀", 2), "😀😀")
    assert.strictEqual(Printable.clip("😀😀😀", 2), "😀😀… 1 more")
    assert.strictEqual(Printable.clip("", 0), "")
  })

  it("quotes a foreign name so that it cannot close its quotes", () => {
    assert.strictEqual(Printable.quote('a"b'), '"a\\"b"')
    assert.strictEqual(Printable.quote("\n"), '"\\u000a"')
    assert.strictEqual(Printable.quote("x".repeat(70)), `"${"x".repeat(64)}… 6 more"`)
    assert.strictEqual(Printable.quote("xyz", 2), '"xy… 1 more"')
  })
})
