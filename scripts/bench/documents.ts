/**
 * Compares what we read of PDF, DOCX, ODT and EPUB with what other programs read.
 *
 *   make bench-documents DOCUMENTS=DIR [PEERS=pandoc,markitdown]
 *   sh scripts/bun scripts/bench/documents.ts --documents DIR [options]
 *
 * No set of documents belongs to this repository; the packages of Debian have manuals of many makers. The reference
 * is the text of pdftotext, without what stands at the top and bottom of several pages, or that of `pandoc -t plain`.
 * `words` is the share of its words that a program has, `order` that of its pairs of neighbouring words.
 *
 *   --peers LIST    pandoc, markitdown (installed into the scratch folder), or none
 *   --ours PROGRAM  instead of the built one
 */

import { readdir } from "node:fs/promises";
import { dirname, extname, join, resolve } from "node:path";
import { introduce, parseNames, printTable, readOptions } from "./bench.ts";
import { installPython } from "./contenders.ts";
import { partsOf, textOf } from "./markdown-parts.ts";

const options = readOptions({ documents: "", peers: "pandoc,markitdown", ours: "" });
if (options.documents === "") throw new Error("--documents DIR is needed (DOCUMENTS= of make)");
const directory = resolve(options.documents);
const PEERS = ["pandoc", "markitdown"] as const;
const peers = options.peers === "none" ? [] : parseNames("--peers", options.peers, PEERS);
const ours = options.ours || join(import.meta.dir, "../../dist/article-extractor");
const python = peers.includes("markitdown") ? await installPython("markitdown", options.scratch) : "";

const COMMANDS: Readonly<Record<string, (file: string) => string[] | null>> = {
  ours: (file) => [...ours.split(" "), "--file", file, "--output", "markdown"],
  pdftotext: (file) => (/pdf$/.test(file) ? ["pdftotext", file, "-"] : null),
  pandoc: (file) => (/pdf$/.test(file) ? null : ["pandoc", "-t", "gfm", "--wrap=none", file]),
  markitdown: (file) => [join(dirname(python), "markitdown"), file],
};

async function run(command: readonly string[]): Promise<{ readonly text: string; readonly cpu: number }> {
  const child = Bun.spawn({ cmd: [...command], stdout: "pipe", stderr: "ignore" });
  const text = await new Response(child.stdout).text();
  await child.exited;
  return { text, cpu: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6 };
}

const wordsOf = (text: string): string[] =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [];

/** The text of a PDF without running heads, whose hyphenated words are joined. */
function withoutHeads(text: string): string {
  const pages = text.split("\f").map((page) => page.split("\n").filter((line) => line.trim() !== ""));
  const shapes = (lines: readonly string[]): string[] => [
    ...new Set([...lines.slice(0, 2), ...lines.slice(-2)].map((line) => line.replace(/\d+/g, "#").trim())),
  ];
  const counts = Map.groupBy(pages.flatMap(shapes), (shape) => shape);
  const isHead = (line: string): boolean => (counts.get(line.replace(/\d+/g, "#").trim())?.length ?? 0) > 2;
  const body = pages.map((lines) =>
    lines.filter((line, at) => !((at < 2 || at > lines.length - 3) && isHead(line))).join("\n"),
  );
  return body.join("\n").replace(/(\p{Ll})[-\u00ad]\n(?=\p{Ll})/gu, "$1");
}

async function referenceOf(file: string): Promise<string[]> {
  if (/pdf$/.test(file)) return wordsOf(withoutHeads((await run(["pdftotext", file, "-"])).text));
  return wordsOf((await run(["pandoc", "-t", "plain", "--wrap=none", file])).text);
}

const pairsOf = (words: readonly string[]): string[] =>
  words.slice(1).map((word, at) => `${words[at]} ${word}`);

/** How many of the reference's elements are among others, each as often as it stands in both. */
function keptOf(reference: readonly string[], found: readonly string[]): number {
  const left = new Map<string, number>();
  for (const one of found) left.set(one, (left.get(one) ?? 0) + 1);
  return reference.filter((one) => {
    const count = left.get(one) ?? 0;
    if (count > 0) left.set(one, count - 1);
    return count > 0;
  }).length;
}

type Figures = Record<
  "documents" | "reference" | "kept" | "pairs" | "headings" | "items" | "rows" | "cpu",
  number
>;

async function measure(program: string, file: string, reference: readonly string[]): Promise<Figures | null> {
  const command = COMMANDS[program]!(file);
  if (command === null) return null;
  const { text, cpu } = await run(command);
  const isMarkdown = program !== "pdftotext";
  const parts = partsOf(isMarkdown ? text : "", "https://unknown.invalid/");
  const words = wordsOf(isMarkdown ? textOf(text) : text);
  const [kept, pairs] = [keptOf(reference, words), keptOf(pairsOf(reference), pairsOf(words))];
  const [headings, items, rows] = (["headings", "list items", "table rows"] as const).map(
    (part) => parts[part].length,
  );
  return {
    documents: 1,
    reference: reference.length,
    kept,
    pairs,
    headings: headings!,
    items: items!,
    rows: rows!,
    cpu,
  };
}

await introduce("programs that read documents");
const sums = new Map<string, Figures>();
for (const name of (await readdir(directory)).filter((one) => /\.(?:pdf|docx|odt|epub)$/.test(one)).sort()) {
  const file = join(directory, name);
  const reference = await referenceOf(file);
  for (const program of ["ours", "pdftotext", ...peers]) {
    const figures = await measure(program, file, reference);
    for (const key of figures ? [`${name}\t${program}`, `~ all ${extname(name).slice(1)}\t${program}`] : []) {
      const sum = Object.entries(sums.get(key) ?? figures!).map(([of, value]) => [
        of,
        sums.has(key) ? value + figures![of as keyof Figures] : value,
      ]);
      sums.set(key, Object.fromEntries(sum) as Figures); // the keys of one become those of the sum
    }
  }
}
const rows = [...sums].sort(([a], [b]) => Number(a.startsWith("~")) - Number(b.startsWith("~")));
printTable(
  rows.map(([key, { reference, kept, pairs, ...counts }]) => {
    const [document, program] = key.split("\t");
    const share = (part: number, of: number): string => `${((100 * part) / Math.max(1, of)).toFixed(1)} %`;
    return {
      document: document!,
      program: program!,
      words: share(kept, reference),
      order: share(pairs, reference - counts.documents),
      ...counts,
    };
  }),
);
