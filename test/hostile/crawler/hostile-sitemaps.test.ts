import { describe, expect, test } from "bun:test";
import zlib from "node:zlib";
import { readServed, type SitemapAnswer } from "../../support/sitemaps.ts";

const A = "https://a.test/1";
const urlset = (inside: string): string => `<urlset>${inside}</urlset>`;
const entry = (loc: string): string => `<url><loc>${loc}</loc></url>`;
const GOOD = urlset(entry(A));
const bytes = (...parts: readonly (string | readonly number[])[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part as string))));
const utf16 = (text: string, isBig: boolean): Uint8Array<ArrayBuffer> => {
  const little = Buffer.from(text, "utf16le");
  return new Uint8Array(isBig ? little.swap16() : little);
};
const gzip = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(zlib.gzipSync(text));
const html = (body: string): string => `<!doctype html><html><head></head><body>${body}</body></html>`;
const laughs = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join("");

type Outcome = {
  /** The pages that come out. */
  readonly urls?: readonly string[];
  /** What the failure says; without it there is none. */
  readonly fails?: string;
  readonly code?: string;
  readonly invalid?: number;
};

/** Outcomes: the pages that come out, what the failure says, or more than one of these. */
const HOSTILE: readonly (readonly [
  name: string,
  answer: SitemapAnswer,
  outcome: Outcome | string | readonly string[],
])[] = [
  // Entities and document types
  [
    "a billion laughs",
    `<!DOCTYPE urlset [<!ENTITY l0 "lol">${laughs}]>${urlset(entry("&l9;"))}`,
    "declares entities",
  ],
  [
    "an entity that is a local file",
    `<!DOCTYPE u [<!ENTITY x SYSTEM "file:///etc/passwd">]>${urlset(entry("https://a.test/&x;"))}`,
    "declares entities",
  ],
  [
    "a parameter entity from elsewhere",
    `<!DOCTYPE u [<!ENTITY % p SYSTEM "http://127.0.0.1:1/p.dtd"> %p;]>${GOOD}`,
    "declares entities",
  ],
  [
    "an entity declared in odd spacing and case",
    `<!DOCTYPE u [ <! entity x "y">]>${GOOD}`,
    "declares entities",
  ],
  [
    "a document type that lies elsewhere, which is not loaded",
    `<!DOCTYPE urlset SYSTEM "http://127.0.0.1:1/urlset.dtd">${GOOD}`,
    [A],
  ],
  ["a document type without end", `<!DOCTYPE u [${"x".repeat(300_000)}`, "more than 64 KiB"],
  ["an unknown entity", urlset(entry("https://a.test/&nope;x") + entry(A)), ["https://a.test/&nope;x", A]],
  ["names of JavaScript's own as entities", urlset(entry("https://a.test/&constructor;")), { invalid: 0 }],
  [
    "an expansion include",
    `<urlset xmlns:xi="x"><xi:include href="file:///etc/passwd"/>${entry(A)}</urlset>`,
    [A],
  ],

  // Structure
  ["an HTML page", { body: html("<p>Not found</p>"), type: "text/html" }, "is an HTML page"],
  ["an HTML page called XML", html(entry(A)), "is an HTML page"],
  ["XHTML", `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>`, "is an HTML page"],
  ["another XML document", "<svg><url><loc>https://a.test/</loc></url></svg>", "starts with <svg>"],
  ["a root named like a method", "<constructor/>", "starts with <constructor>"],
  ["a root of a long name", `<${"r".repeat(1000)}/>`, `<${"r".repeat(40)}>`],
  ["a root without end", `<${"r".repeat(300_000)}`, "more than 64 KiB"],
  ["nothing", "", "neither XML nor a list"],
  ["white space", " \n\t ".repeat(1000), "neither XML nor a list"],
  ["a comment and nothing else", "<!-- no sitemap -->", "holds no element"],
  ["a declaration and nothing else", '<?xml version="1.0"?>', "holds no element"],
  ["JSON", '{"urls": ["https://a.test/"]}', "neither XML nor a list"],
  ["a picture", bytes([0x89], "PNG\r\n", [0x1a, 10, 0, 0, 0, 13], "IHDR"), "neither XML nor a list"],
  ["zeros", new Uint8Array(100_000), "neither XML nor a list"],
  [
    "an urlset that breaks off",
    `<urlset>${entry(A)}<url><loc>https://a.test/2`,
    { urls: [A], fails: "breaks off inside <urlset>" },
  ],
  ["an end inside a tag", `<urlset>${entry(A)}<url`, { urls: [A], fails: "breaks off" }],
  ["elements in each other, 100 000 deep", `<urlset>${"<a>".repeat(100_000)}`, "200 deep"],
  [
    "an entry that is never closed",
    urlset(`<url><loc>${A}</loc><url><loc>https://a.test/2</loc></url>`),
    [A, "https://a.test/2"],
  ],
  ["closing tags of nothing", urlset(`</x></y>${entry(A)}`), [A]],
  ["a second document after the first", `${GOOD}<urlset>${entry("https://a.test/2")}</urlset>`, [A]],
  ["CDATA around a location", urlset(entry(`<![CDATA[${A}]]>`)), [A]],
  ["CDATA in CDATA", urlset(entry(`<![CDATA[${A}<![CDATA[2]]>`)), [A]],
  ["CDATA that is never closed", `<urlset><![CDATA[${"x".repeat(500_000)}`, "breaks off"],
  ["a comment of half a megabyte that is never closed", `<urlset><!--${"x".repeat(500_000)}`, "64 KiB"],
  ["an attribute of half a megabyte", `<urlset a="${"x".repeat(500_000)}">${entry(A)}</urlset>`, "64 KiB"],
  [
    "100 000 attributes",
    `<urlset ${Array.from({ length: 100_000 }, (_, n) => `a${n}="x"`).join(" ")}/>`,
    "200 attributes",
  ],
  [
    "attributes without end after a good entry",
    `<urlset>${entry(A)}<x ${Array.from({ length: 300 }, (_, n) => `a${n}="x"`).join(" ")}/></urlset>`,
    { urls: [A], fails: "200 attributes" },
  ],
  ["an attribute named __proto__", `<urlset __proto__="x" constructor="y">${entry(A)}</urlset>`, [A]],
  ["a script element", urlset(`<script><url></script>${entry(A)}`), [A]],
  [
    "locations of pictures",
    urlset(
      `<url><loc>${A}</loc><image:image><image:loc>https://a.test/i.png</image:loc></image:image></url>`,
    ),
    [A],
  ],
  [
    "a picture's location in the entry's place",
    urlset(`<url><image:loc>https://a.test/i.png</image:loc><loc>${A}</loc></url>`),
    [A],
  ],

  // Locations
  [
    "scripts, data, files and mail for locations",
    urlset(
      ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "mailto:a@a.test", "ftp://a.test/"]
        .map(entry)
        .join("") + entry(A),
    ),
    { urls: [A], invalid: 5 },
  ],
  ["credentials in a location", urlset(entry("https://user:secret@a.test/1")), [A]],
  ["tracking parameters and a fragment", urlset(entry(`${A}?utm_source=x#top`)), [A]],
  [
    "a location of a megabyte",
    urlset(entry(`https://a.test/${"x".repeat(1_000_000)}`) + entry(A)),
    { urls: [A], invalid: 1 },
  ],
  ["an empty location", urlset(entry(" ") + entry("") + entry(A)), [A]],
  ["line breaks around a location", urlset(entry(`\n\t${A}\r\n `)), [A]],
  [
    "bare ampersands",
    urlset(entry("https://a.test/?a=1&b=2") + entry("https://a.test/?c&d") + entry(A)),
    ["https://a.test/?a=1&b=2", "https://a.test/?c&d", A],
  ],
  [
    "numbers that are no characters",
    urlset(entry("https://a.test/&#0;&#xFFFFFFFF;") + entry(A)),
    { invalid: 0 },
  ],
  ["upper case", "<URLSET><URL><LOC>https://a.test/1</LOC></URL></URLSET>", [A]],
  ["prefixes of its own", `<s:urlset xmlns:s="x"><s:url><s:loc>${A}</s:loc></s:url></s:urlset>`, [A]],

  // Encodings
  ["UTF-16, little-endian, with a mark", bytes([0xff, 0xfe], [...utf16(GOOD, false)]), [A]],
  ["UTF-16, big-endian, without a mark", utf16(GOOD, true), [A]],
  ["a mark of UTF-8", bytes([0xef, 0xbb, 0xbf], GOOD), [A]],
  ["a declaration of UTF-16 in UTF-8", `<?xml version="1.0" encoding="UTF-16"?>${GOOD}`, [A]],
  ["a header of UTF-16 over UTF-8", { body: GOOD, type: "text/xml; charset=utf-16" }, [A]],
  ["an encoding that nobody knows", `<?xml version="1.0" encoding="EBCDIC-9"?>${GOOD}`, [A]],
  [
    "a declared single-byte encoding",
    bytes(
      '<?xml version="1.0" encoding="iso-8859-1"?><urlset><url><loc>https://a.test/',
      [0xe9],
      "</loc></url></urlset>",
    ),
    ["https://a.test/%C3%A9"],
  ],
  [
    "bytes that are no UTF-8",
    bytes("<urlset><url><loc>https://a.test/", [0xff, 0xfe], "</loc></url></urlset>"),
    ["https://a.test/%EF%BF%BD%EF%BF%BD"],
  ],

  // Compression
  ["a gzip file that says it is XML", gzip(GOOD), [A]],
  ["a gzip file that is cut off", gzip(GOOD).slice(0, -12), { fails: "", code: "network" }],
  [
    "a gzip file of random bytes",
    bytes([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3], "not deflate at all, whatever"),
    { fails: "", code: "network" },
  ],
  [
    "a gzip bomb",
    gzip(`<urlset>${" ".repeat(60 * 1024 * 1024)}`),
    { fails: "52428800 bytes", code: "too_large" },
  ],

  // Answers
  ["an error status", { body: GOOD, status: 503 }, { fails: "status 503", code: "http_status" }],
  ["a page that is gone", { body: GOOD, status: 410 }, { fails: "status 410", code: "http_status" }],

  // Lists
  [
    "a list with a mark, CRLF, comments and rubbish",
    {
      body: `\ufeff# list\r\n${A}\r\n\r\nrubbish\rjavascript:alert(1)\nhttps://a.test/2`,
      type: "text/plain",
    },
    { urls: [A, "https://a.test/2"], invalid: 2 },
  ],
  [
    "a list with a line of a megabyte",
    {
      body: `${A}\n${"x".repeat(1_000_000)}\nhttps://a.test/2\n${"y".repeat(1_000_000)}`,
      type: "text/plain",
    },
    { urls: [A, "https://a.test/2"], invalid: 0 },
  ],
  ["prose", { body: "Nothing to see here.\nMove on.", type: "text/plain" }, "neither XML nor a list"],
];

describe("a sitemap that is", () => {
  for (const [name, answer, outcome] of HOSTILE) {
    const whole: Outcome =
      typeof outcome === "string" ? { fails: outcome } : "map" in outcome ? { urls: outcome } : outcome;
    const { urls, fails, code = "unsupported_content", invalid } = whole;
    test(name, async () => {
      const reading = await readServed(answer);
      if (urls) expect(reading.urls).toEqual([...urls]);
      expect(reading.events.length).toBe(1);
      const [event] = reading.events;
      if (fails === undefined) {
        expect(event).toMatchObject({
          kind: "read",
          ...(invalid === undefined ? {} : { invalidCount: invalid }),
        });
      } else {
        if (event?.kind !== "failed") throw new Error(JSON.stringify(event));
        expect(event.failure.code).toBe(code as typeof event.failure.code);
        expect(event.failure.message).toContain(fails);
        expect(event.failure.message).toContain(reading.origin);
      }
    });
  }
});
