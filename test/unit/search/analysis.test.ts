import { expect, test } from "bun:test";
import { Analyser } from "../../../src/search/analysis/analyser.ts";
import { DocumentAnalyser } from "../../../src/search/document/analyse.ts";
import type { AnalyzerProfile } from "../../../src/search/index.ts";
import { parseDocumentUrl } from "../../../src/urls/index.ts";
import { buildMemoryIndex } from "../../support/search/memory-index.ts";

/** Writes the tokens of a title as `term@position`. */
function terms(title: string, profile: AnalyzerProfile = "default"): string[] {
  const analyser = new Analyser(profile);
  const url = parseDocumentUrl("https://docs.example/page")!;
  const document = new DocumentAnalyser(analyser).analyse({ url, title, markdown: "" });
  const found: string[] = [];
  for (let i = 0; i < document.tokenCount && document.fields[i] === 0; i++) {
    found.push(`${analyser.term(document.words[i]!)}@${document.positions[i]}`);
  }
  return found;
}

test.each([
  ["os.path.join", "os.path.join@0 os@0 path@1 join@2"],
  ["getElementById", "getelementbyid@0 get@0 element@1 by@2 id@3"],
  ["XMLParser", "xmlparser@0 xml@0 parser@1"],
  ["URLs of IPv4Address", "url@0 of@1 ipv4address@2 ipv4@2 address@3"],
  ["pg_stat_get", "pg_stat_get@0 pg@0 stat@1 get@2"],
  ["__init__", "__init__@0 init@0"],
  ["Get-ChildItem", "get-childitem@0 get@0 childitem@1 child@1 item@2"],
  ["std::vector", "std::vector@0 std@0 vector@1"],
  ["C++ and C#", "c++@0 and@1 c#@2"],
  [".NET", ".net@0 net@0"],
  ["--no-cache", "--no-cache@0 no-cache@0 no@0 cach@1"],
  ["-l", "-l@0 l@0"],
  ["/GT", "/gt@0 gt@0"],
  ["$HOME", "$home@0 home@0"],
  ["/etc/passwd", "/etc/passwd@0 etc/passwd@0 etc@0 passwd@1"],
  ["3.11.2", "3.11.2@0 3.11@0"],
  ["C2610", "c2610@0"],
  ["Zürich Straße ﬁle", "zurich@0 strass@1 file@2"],
  ["don't Guido's", "don't@0 guido@1"],
  ["水車の", "水車@0 水@0 車の@1 車@1 の@2"],
  [
    "データベースを開く",
    "データベース@0 デー@0 デ@0 ータ@1 ー@1 タベ@2 タ@2 ベー@3 ベ@3 ース@4 ー@4 スを@5 ス@5 を開@6 を@6 開く@7 開@7 く@8",
  ],
  ["running runs", "run@0 run@1"],
])("%p becomes %p", (title, expected) => {
  expect(terms(title).join(" ")).toBe(expected);
});

test("words whose hashes collide stay separate words", () => {
  const analyser = new Analyser("default");
  // 31 × "a" + "o" equals 31 × "c" + "1".
  const words = Array.from({ length: 256 }, (_, bits) =>
    Array.from({ length: 8 }, (_, bit) => ((bits >> bit) & 1 ? "ao" : "c1")).join(""),
  );
  const numbers = words.map((word) => analyser.shape(word, "prose").words[0]!);
  expect(new Set(numbers).size).toBe(words.length);
  expect(words.map((word) => analyser.shape(word, "prose").words[0]!)).toEqual(numbers);
  expect(words.map((word) => analyser.numberOf(word))).toEqual(
    numbers.map((word) => analyser.termNumber(word)),
  );
});

test("a path is split like its parts alone", () => {
  expect(terms("/usr/lib64/python3.11/site-packages").join(" ")).toBe(
    "/usr/lib64/python3.11/site-packages@0 usr/lib64/python3.11/site-packages@0 usr@0 lib64@1 " +
      "python3.11@2 python3@2 11@3 site-packages@4 site@4 packag@5",
  );
  expect(terms("read/write a//b c/d++").join(" ")).toBe("read/write@0 read@0 write@1 a@2 b@3 c/d++@4");
  const long = Array.from({ length: 40 }, (_, index) => `p${index}`).join("/");
  expect(terms(long)).toContain("p31@31");
  expect(terms(long)).not.toContain("p32@32");
});

test("documents are numbered in the order of their URLs", () => {
  const sources = ["https://b.example/", "https://a.example/"].map((url) => ({
    url: parseDocumentUrl(url)!,
    title: "Mill",
    markdown: "A mill.",
  }));
  const index = buildMemoryIndex(sources, "default");
  expect(index.document(0).url).toBe(parseDocumentUrl("https://a.example/")!);
  expect(index.find("mill")?.documentFrequency).toBe(2);
});
