import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Tiktoken } from "js-tiktoken/lite";
import o200k from "js-tiktoken/ranks/o200k_base";
import { quoteForShell } from "../../../src/base/text.ts";
import { mayBeKept } from "../../../src/server/web/page/extractor/recent.ts";
import { pythonValue } from "../../../src/server/web/page/extractor/request-code.ts";
import { estimateTokens } from "../../../src/server/web/page/format.ts";

describe("an address stays in the browser", () => {
  test.each([
    "https://example.org/",
    "http://127.0.0.1:8080/a?page=2&q=red+wheel#top",
    "https://example.org/2026/11/22/how-the-old-mill-was-built-in-7-years-and-2-weeks.html",
    "https://example.org/wiki/Donaudampfschifffahrtsgesellschaft",
    "https://example.org/monkey?keyword=tokens&passage=4&author=ada&codename=x",
  ])("where nothing in it is secret: %s", (url) => {
    expect(mayBeKept(url)).toBe(true);
  });

  test.each([
    "https://ada:pass@example.org/",
    "https://ada@example.org/",
    "https://example.org/?token=7",
    "https://example.org/?page=1&access_token=7&x=1",
    "https://example.org/?accessToken=7",
    "https://example.org/?X-Amz-Signature=7",
    "https://example.org/?api_key=7",
    "https://example.org/?sig=7",
    "https://example.org/#id_token=7",
    "https://example.org/?password=7",
    "https://example.org/?PHPSESSID=7",
    "https://example.org/share/a8f5f167f44f4964e6c998dee827110c",
    "https://example.org/?s=a8f5f167f44f4964e6c998dee827110c",
    "https://example.org/?v=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x",
    "ftp://example.org/",
    "no address",
    `https://example.org/${"a".repeat(600)}`,
  ])("but not %s", (url) => {
    expect(mayBeKept(url)).toBe(false);
  });
});

const run = (words: readonly string[]): string => {
  const { stdout, stderr, success } = Bun.spawnSync([...words]);
  if (!success) throw new Error(stderr.toString());
  return stdout.toString();
};

// A word of a command line holds no NUL, and half a surrogate pair is not UTF-8.
const WORD = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({
    unit: fc.constantFrom("'", '"', "$", "`", "\\", "!", " ", "-", "\n", "a", "é", "{", "#", "~", "*"),
  }),
);

describe("what is written for programs is read as it was meant", () => {
  test("by a shell", () => {
    const words = fc.sample(
      WORD.filter((word) => !word.includes("\0")),
      { numRuns: 500, seed: 7 },
    );
    const script = words.map((word) => `printf '%s\\0' ${quoteForShell(word)}`).join("\n");
    expect(run(["sh", "-c", script]).split("\0").slice(0, -1)).toEqual(words);
  });

  test.skipIf(Bun.which("python3") === null)("by Python, where there is one", () => {
    const values = fc.sample(fc.jsonValue({ stringUnit: "binary" }), { numRuns: 300, seed: 7 });
    // Numbers of JSON have the same form in Python but for -0.
    const read: unknown = JSON.parse(
      run(["python3", "-c", `import json\nprint(json.dumps(${pythonValue(values)}))`]),
    );
    expect(read).toEqual(JSON.parse(JSON.stringify(values)));
  });
});

test("the estimate of tokens is near what a model counts", () => {
  const tokenizer = new Tiktoken(o200k);
  for (const text of [
    "The mill at the river mouth has turned again since the spring, and the people sleep better with its sound.",
    "Die Mühle an der Flussmündung dreht sich seit dem Frühling wieder, und die Leute schlafen besser.",
    "河口的磨坊从春天开始又转动起来了，住在旁边的人们说，有了它的声音，他们睡得更好。",
    "## Use\n\nRun `mill --turn 3`, then see [the manual](https://example.org/manual/turning).\n\n- oak\n- elm\n",
  ]) {
    const counted = tokenizer.encode(text).length;
    expect(estimateTokens(text) / counted).toBeGreaterThan(0.65);
    expect(estimateTokens(text) / counted).toBeLessThan(1.5);
  }
  expect([estimateTokens(""), estimateTokens("word"), estimateTokens("a".repeat(4_936_000))]).toEqual([
    0, 1, 1_200_000,
  ]);
});
