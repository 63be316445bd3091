/**
 * Judges the product on printed pages, whose content is known to the letter.
 *
 *   sh scripts/bun scripts/train-extraction/press/judge.ts PAGES [--favor WORD] [--only SYSTEM] [--show KIND] [--texts DIR]
 *
 * One line a system: pages of which every block is there, last blocks lost, pages that lose a code block, words lost
 * and words beside the content as shares; then the shares of the source's facts that the Markdown keeps (fidelity.ts).
 * Then, of what around.py set beside the texts, how often each kind is kept, and the two bars: how many pages come
 * through whole, and which words stand in no source. Exit 1 below either bar.
 * `--show` lists what is lost of one kind: blocks, beside, around (what of around.py is kept), or one of the facts. `--texts` judges the texts DIR/ID.txt
 * (of `dump.ts texts`, by trees that have not seen the page) instead of the product's; these keep no facts.
 */
import { join } from "node:path";
import { wordsOf } from "../../../src/base/text.ts";
import { extractHtml } from "../../../src/extraction/pool.ts";
import { EXTRACTION } from "../../../src/options/index.ts";
import { DEFAULT_EXTRACTION } from "../../../src/settings/index.ts";
import { compareFacts, FACT_KINDS, type Facts } from "./fidelity.ts";

type PrintedPage = {
  readonly id: string;
  readonly system: string;
  readonly source: string;
  readonly blocks: readonly { readonly kind: string; readonly text: string }[];
  readonly facts: Facts;
  readonly beside?: readonly { readonly kind: string; readonly place: string; readonly text: string }[];
};

/** The least share of pages that are whole, and the most words beside the content. */
const BARS = { whole: 0.99, beside: 0.012 };

/** Of each kind and place around the text: on how many pages it is kept, and all. */
const around = new Map<string, { kept: number; all: number }>();

type Score = {
  pages: number;
  whole: number;
  lastLost: number;
  withCode: number;
  codeLost: number;
  words: number;
  lostWords: number;
  shownWords: number;
  leakedWords: number;
  /** Of each kind of facts: kept, and all. */
  readonly facts: Readonly<Record<string, { kept: number; all: number }>>;
};

const nothing = (): Score => ({
  pages: 0,
  whole: 0,
  lastLost: 0,
  withCode: 0,
  codeLost: 0,
  words: 0,
  lostWords: 0,
  shownWords: 0,
  leakedWords: 0,
  facts: Object.fromEntries(FACT_KINDS.map((kind) => [kind, { kept: 0, all: 0 }])),
});

/** The first words that the second ones do not have, each as often as it stands there. */
function surplus(words: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Map<string, number>();
  for (const word of others) left.set(word, (left.get(word) ?? 0) + 1);
  return words.filter((word) => {
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return count <= 0;
  });
}

const NO_FACTS: Facts = {
  code: [],
  tables: [],
  headings: [],
  items: [],
  links: [],
  signatures: [],
  admonitions: [],
};

const readText = async (id: string): Promise<{ text: string; title: string; markdown: string }> => ({
  text: await Bun.file(join(texts!, `${id}.txt`)).text(),
  title: "",
  markdown: "",
});

async function judge(
  { id, blocks, facts, beside }: PrintedPage,
  html: string,
  into: readonly Score[],
): Promise<void> {
  const article = texts === undefined ? (await extractHtml(html, null, options)).article : await readText(id);
  // The first heading is the title, which stands apart from the text.
  const [, ...body] = blocks;
  const shown = wordsOf(article?.text ?? "");
  const flat = ` ${shown.join(" ")} `;
  const lost = body.filter(({ text }) => !flat.includes(` ${wordsOf(text).join(" ")} `));
  const wanted = body.flatMap(({ text }) => wordsOf(text));
  const lostWords = surplus(wanted, shown).length;
  // Systems write the kind of an admonition before it.
  const title = wordsOf(
    `${blocks[0]?.text ?? ""} ${article?.title ?? ""} note tip important warning caution danger`,
  );
  const leaked = surplus(shown, [...wanted, ...title]);
  const last = body.at(-1);
  const code = body.filter(({ kind }) => kind === "code");
  const tallies = compareFacts(texts === undefined ? facts : NO_FACTS, article?.markdown ?? "");
  for (const score of into) {
    score.pages++;
    if (lost.length === 0) score.whole++;
    if (last !== undefined && lost.includes(last)) score.lastLost++;
    if (code.length > 0) score.withCode++;
    if (code.some((block) => lost.includes(block))) score.codeLost++;
    score.words += wanted.length;
    score.lostWords += lostWords;
    score.shownWords += shown.length;
    score.leakedWords += leaked.length;
    for (const kind of FACT_KINDS) {
      score.facts[kind]!.kept += tallies[kind].kept;
      score.facts[kind]!.all += tallies[kind].all;
    }
  }
  for (const piece of beside ?? []) countAround(id, piece, leaked);
  if (shows === "blocks")
    for (const { kind, text } of lost) console.log(`${id} ${kind}: ${text.slice(0, 100)}`);
  if (shows === "beside" && leaked.length > 0) console.log(`${id}: ${leaked.join(" ").slice(0, 300)}`);
  for (const kind of FACT_KINDS.filter((name) => name === shows)) {
    for (const missing of tallies[kind].missing)
      console.log(`${id}: ${JSON.stringify(missing.slice(0, 300))}`);
  }
}

/** A piece is kept where half of its words are among the leaked ones. */
function countAround(
  id: string,
  { kind, place, text }: { kind: string; place: string; text: string },
  leaked: readonly string[],
): void {
  const words = wordsOf(text);
  const isKept = 2 * (words.length - surplus(words, leaked).length) >= words.length;
  if (isKept && shows === "around") console.log(`${id}: ${kind}, ${place}: ${text.slice(0, 100)}`);
  for (const key of [kind, `${kind}, ${place}`]) {
    const tally = around.get(key) ?? { kept: 0, all: 0 };
    around.set(key, { kept: tally.kept + (isKept ? 1 : 0), all: tally.all + 1 });
  }
}

function line(name: string, score: Score): string {
  const percent = (part: number, all: number): string => `${((100 * part) / Math.max(all, 1)).toFixed(1)} %`;
  return [
    name,
    score.pages,
    percent(score.whole, score.pages),
    score.lastLost,
    `${score.codeLost} of ${score.withCode}`,
    percent(score.lostWords, score.words),
    percent(score.leakedWords, score.shownWords),
    ...FACT_KINDS.map((kind) => {
      const { kept, all } = score.facts[kind]!;
      return all === 0 ? "–" : percent(kept, all);
    }),
  ].join(" | ");
}

const [directory = "", ...words] = process.argv.slice(2);
const flagValue = (flag: string): string | undefined => words[words.indexOf(flag) + 1 || words.length];
const favor = EXTRACTION.favor.kind.words.find((word) => word === flagValue("--favor")) ?? "balanced";
const shows = flagValue("--show");
const only = flagValue("--only");
const texts = flagValue("--texts");
const options = { ...DEFAULT_EXTRACTION, minWordCount: 0, favor, renderings: ["markdown"] as const };
const scores = new Map<string, Score>();
const scoreOf = (name: string): Score => {
  const score = scores.get(name) ?? nothing();
  scores.set(name, score);
  return score;
};
for (const text of (await Bun.file(join(directory, "pages.jsonl")).text()).split("\n")) {
  if (text === "") continue;
  const page = JSON.parse(text) as PrintedPage;
  if (only !== undefined && !page.system.startsWith(only)) continue;
  const html = await Bun.file(join(directory, "html", `${page.id}.html`)).text();
  await judge(page, html, [scoreOf(page.system), scoreOf("all")]);
}
const all = scoreOf("all");
scores.delete("all");
console.log(
  `system | pages | whole | last block lost | code lost | words lost | words beside | ${FACT_KINDS.join(" | ")}`,
);
for (const [name, score] of [...scores, ["all", all] as const]) console.log(line(name, score));
for (const [key, { kept, all: pieces }] of [...around].sort())
  console.log(`kept beside: ${key}: ${kept} of ${pieces}`);
const whole = all.whole / Math.max(all.pages, 1);
const beside = all.leakedWords / Math.max(all.shownWords, 1);
const isShort = whole < BARS.whole || beside > BARS.beside;
const shown = (share: number): string => `${(100 * share).toFixed(2)} %`;
console.log(
  `bars: whole ${shown(whole)} of ${shown(BARS.whole)}, beside ${shown(beside)} of at most ${shown(BARS.beside)}`,
);
process.exitCode = isShort ? 1 : 0;
