import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { decodeText } from "../../../src/fetching/index.ts";

/** Texts encoded by the codecs of Python 3, as base64. */
const SAMPLES: Readonly<Record<string, { readonly base64: string; readonly text: string }>> = JSON.parse(
  readFileSync(new URL("charset-samples.json", import.meta.url), "utf8"),
);

const bytesOf = (base64: string): Uint8Array => new Uint8Array(Buffer.from(base64, "base64"));
const latin1 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "latin1"));

describe("declared encodings", () => {
  test.each(Object.keys(SAMPLES))("%s in the header", (label) => {
    const { base64 = "", text = "" } = SAMPLES[label] ?? {};
    const decoded = decodeText(bytesOf(base64), `text/html; charset=${label}`);
    expect(decoded.text).toBe(text);
    expect(decoded).toMatchObject({ source: "header", malformed: false });
  });

  test.each(Object.keys(SAMPLES).filter((label) => !label.startsWith("utf-16")))("%s in <meta>", (label) => {
    const { base64 = "", text = "" } = SAMPLES[label] ?? {};
    const markup = `<!-- <meta charset=utf-7> --><meta name=a><meta charset="${label}"><p>`;
    const decoded = decodeText(new Uint8Array([...latin1(markup), ...bytesOf(base64)]), "text/html");
    expect(decoded.text).toBe(markup + text);
    expect(decoded.source).toBe("meta");
  });
});

describe("precedence", () => {
  const latin = latin1('<meta charset="koi8-r"><p>caf\xe9');

  test("the header overrides <meta>", () => {
    const decoded = decodeText(latin, "text/html; charset=iso-8859-1");
    expect(decoded).toMatchObject({ encoding: "windows-1252", source: "header" });
    expect(decoded.text).toEndWith("café");
  });

  test("a byte order mark overrides a contradicting header, as in browsers", () => {
    const bytes = new Uint8Array([0xef, 0xbb, 0xbf, ...new TextEncoder().encode("café")]);
    const decoded = decodeText(bytes, "text/html; charset=iso-8859-1");
    expect(decoded).toMatchObject({ text: "café", encoding: "utf-8", source: "bom" });
  });

  const saved: readonly (readonly [label: string, text: string])[] = [
    ["gb2312", "水闸每天关闭，守夜人记录水位。"],
    ["gbk", "闸门关了"],
    ["big5", "水閘每天關閉"],
    ["shift_jis", "水門は毎日閉まります"],
    ["euc-kr", "수문은 매일 닫힙니다"],
    ["windows-1251", "шлюз"],
    ["iso-8859-1", "é"],
    ["windows-1252", "“the mill” – 5 €"],
  ];
  test.each(saved)(
    "UTF-8 saved under an old <meta charset=%s> is UTF-8, unless the header says so",
    (label, text) => {
      const bytes = new TextEncoder().encode(`<meta charset=${label}><title>${text}</title><p>${text}`);
      const decoded = decodeText(bytes, "text/html");
      expect(decoded).toMatchObject({
        encoding: "utf-8",
        source: "sniffed",
        malformed: false,
        doubtful: false,
      });
      expect(decoded.text).toContain(`<p>${text}`);
      const sent = decodeText(bytes, `text/html; charset=${label}`);
      expect(sent.source).toBe("header");
      expect(sent.text).not.toContain(text);
    },
  );

  test("a word or two of a multibyte encoding that is UTF-8 by chance is what <meta> says", () => {
    const chance = Buffer.concat([latin1("<meta charset=gbk><p>"), Buffer.from([0xc4, 0xa3, 0xca, 0xb1])]);
    expect(decodeText(chance, null)).toMatchObject({ encoding: "gbk", source: "meta" });
  });

  test("<meta> overrides the bytes", () => {
    expect(decodeText(latin, null)).toMatchObject({ encoding: "koi8-r", source: "meta" });
  });

  test("an unknown label is ignored", () => {
    const decoded = decodeText(latin, "text/html; charset=klingon");
    expect(decoded).toMatchObject({ encoding: "koi8-r", source: "meta" });
  });

  test.each([
    ['<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">', "windows-1251"],
    ["<META CHARSET=Shift_JIS>", "shift_jis"],
    ["<meta/charset='gbk'/>", "gbk"],
    ['<?xml version="1.0" encoding="iso-8859-2"?>', "iso-8859-2"],
    ["<meta charset=utf-16le>", "utf-8"],
    ["<meta charset=x-user-defined>", "windows-1252"],
    ["<!-- <meta charset=koi8-r> --><meta charset=euc-kr>", "euc-kr"],
  ])("%s declares %s", (markup, encoding) => {
    expect(decodeText(latin1(markup), "text/html").encoding).toBe(encoding);
  });

  test.each([
    ['text/html; charset="utf-8"', "utf-8"],
    ["text/html;charset = utf8", "utf-8"],
    ["text/html; foo=bar; CHARSET=Windows-1251", "windows-1251"],
    ["charset=latin1", "windows-1252"],
  ])("the header %s declares %s", (header, encoding) => {
    expect(decodeText(latin1("x"), header).encoding).toBe(encoding);
  });
});

describe("undeclared encodings", () => {
  test("valid UTF-8 is UTF-8", () => {
    const decoded = decodeText(new TextEncoder().encode("naïve — 日本語"), null);
    expect(decoded).toMatchObject({ text: "naïve — 日本語", encoding: "utf-8", source: "sniffed" });
  });

  test.each([
    "utf-16le",
    "utf-16be",
    "shift_jis",
    "euc-jp",
    "iso-2022-jp",
    "euc-kr",
    "big5",
    "gb18030",
    "windows-1251",
    "koi8-r",
    "windows-1252",
  ])("%s is found by its bytes", (label) => {
    const { base64 = "", text = "" } = SAMPLES[label] ?? {};
    expect(decodeText(bytesOf(base64), null).text).toBe(text);
  });

  test.each(["é è", "naïve", "El niño comió una manzana", "Grüße aus München", "<p class=a>Où ?</p>"])(
    "%j in Latin-1 is not taken for another script",
    (text) => {
      expect(decodeText(latin1(text), null).text).toBe(text);
    },
  );

  test("markup around a text in another script does not hide it", () => {
    const { base64 = "", text = "" } = SAMPLES["windows-1251"] ?? {};
    const markup = '<div class="some-long-name" data-attribute="and a value">'.repeat(200);
    const page = new Uint8Array([...latin1(markup), ...bytesOf(base64), ...latin1(markup)]);
    expect(decodeText(page, null).text).toBe(markup + text + markup);
  });

  test("a text in ASCII with one odd byte falls back to windows-1252", () => {
    expect(decodeText(latin1("A caf\xe9 in Paris, where one drinks."), null).text).toContain("café");
  });
});

describe("what is malformed", () => {
  test("bytes that are no UTF-8 become U+FFFD, with a warning", () => {
    const decoded = decodeText(latin1("caf\xe9!"), "text/html; charset=utf-8");
    expect(decoded).toMatchObject({ text: "caf\ufffd!", malformed: true });
  });

  test.each(["iso-2022-kr", "hz-gb-2312", "replacement"])(
    "%s decodes to one U+FFFD by the standard",
    (label) => {
      expect(decodeText(latin1("<script>"), `text/html; charset=${label}`)).toMatchObject({
        text: "\ufffd",
        malformed: true,
      });
    },
  );

  test("x-user-defined maps the upper bytes to private characters", () => {
    expect(decodeText(latin1("a\x80\xff"), "text/plain; charset=x-user-defined").text).toBe("a\uf780\uf7ff");
  });

  test("an empty body is an empty text", () => {
    expect(decodeText(new Uint8Array(), null)).toMatchObject({ text: "", malformed: false });
  });

  test("whatever the bytes and the header, there is a text", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string({ maxLength: 60 }), (bytes, header) => {
        expect(typeof decodeText(bytes, header).text).toBe("string");
      }),
    );
  });

  test("text that is encoded in UTF-8 comes back", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
        const plain = text.toWellFormed();
        fc.pre(!plain.startsWith("\ufeff"));
        expect(decodeText(new TextEncoder().encode(plain), "text/plain; charset=utf-8").text).toBe(plain);
      }),
    );
  });
});

describe("what the statistics do not know", () => {
  /** Encodes a text in a single-byte encoding. */
  const encode = (text: string, label: "ibm866"): Uint8Array => {
    const characters = [
      ...new TextDecoder(label).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte)),
    ];
    return Uint8Array.from(text, (character) => characters.indexOf(character));
  };

  test("a guess of Latin letters is doubtful when most letters are outside ASCII", () => {
    const sentence = "Хранитель плотины каждое утро записывал уровень воды до завтрака. ";
    const markup = `<title>Уровень воды</title><h1>Уровень воды</h1><p>${sentence.repeat(12)}`;
    expect(decodeText(encode(markup, "ibm866"), "text/html").doubtful).toBe(true);
  });

  test("and is not doubtful when few are, however long the text", () => {
    const markup = `<p>${"À côté de l'écluse, la gardienne relève le niveau à l'aube. ".repeat(12)}`;
    expect(decodeText(latin1(markup), "text/html")).toMatchObject({
      encoding: "windows-1252",
      doubtful: false,
    });
  });
});
