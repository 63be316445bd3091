/**
 * Judges the product on printed pages, whose content is known to the letter.
 *
 *   sh scripts/bun scripts/train-extraction/press/judge.ts PAGES [--favor WORD] [--show SYSTEM]
 *
 * One line a system: pages of which every block is there, last blocks lost, pages that lose a code block, words lost
 * and words beside the content as shares. `--show` lists what one system loses.
 */
import { join } from "node:path";
import { extractHtml } from "../../../src/extraction/index.ts";
import { DEFAULT_EXTRACTION, FAVORS } from "../../../src/settings/index.ts";

type PrintedPage = {
  readonly id: string;
  readonly system: string;
  readonly source: string;
  readonly blocks: readonly { readonly kind: string; readonly text: string }[];
};

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
};

const NOTHING: Score = {
  pages: 0,
  whole: 0,
  lastLost: 0,
  withCode: 0,
  codeLost: 0,
  words: 0,
  lostWords: 0,
  shownWords: 0,
  leakedWords: 0,
};

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

/** How many of the first words the second ones do not have, each as often as it stands there. */
function surplus(words: readonly string[], others: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of others) left.set(word, (left.get(word) ?? 0) + 1);
  return words.filter((word) => {
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return count <= 0;
  }).length;
}

async function judge({ id, blocks }: PrintedPage, html: string, score: Score, shows: boolean): Promise<void> {
  const { article } = await extractHtml(html, null, { ...options, renderings: [] });
  // The first heading is the title, which stands apart from the text.
  const [, ...body] = blocks;
  const shown = wordsOf(article?.text ?? "");
  const flat = ` ${shown.join(" ")} `;
  const lost = body.filter(({ text }) => !flat.includes(` ${wordsOf(text).join(" ")} `));
  const wanted = body.flatMap(({ text }) => wordsOf(text));
  const last = body.at(-1);
  const code = body.filter(({ kind }) => kind === "code");
  score.pages++;
  if (lost.length === 0) score.whole++;
  if (last !== undefined && lost.includes(last)) score.lastLost++;
  if (code.length > 0) score.withCode++;
  if (code.some((block) => lost.includes(block))) score.codeLost++;
  score.words += wanted.length;
  score.lostWords += surplus(wanted, shown);
  score.shownWords += shown.length;
  score.leakedWords += surplus(shown, [...wanted, ...wordsOf(blocks[0]?.text ?? "")]);
  if (shows) {
    for (const { kind, text } of lost) console.log(`${id} ${kind}: ${text.slice(0, 100)}`);
    const known = new Set(wanted);
    console.log(
      `${id} beside: ${shown
        .filter((word) => !known.has(word))
        .join(" ")
        .slice(0, 200)}`,
    );
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
  ].join(" | ");
}

const [directory = "", ...words] = process.argv.slice(2);
const flagValue = (flag: string): string | undefined => words[words.indexOf(flag) + 1 || words.length];
const favor = FAVORS.find((word) => word === flagValue("--favor")) ?? "balanced";
const options = { ...DEFAULT_EXTRACTION, minWordCount: 0, favor };
const scores = new Map<string, Score>();
for (const text of (await Bun.file(join(directory, "pages.jsonl")).text()).split("\n")) {
  if (text === "") continue;
  const page = JSON.parse(text) as PrintedPage;
  const html = await Bun.file(join(directory, "html", `${page.id}.html`)).text();
  for (const name of [page.system, "all"]) {
    const score = scores.get(name) ?? { ...NOTHING };
    scores.set(name, score);
    await judge(page, html, score, name === flagValue("--show"));
  }
}
console.log("system | pages | whole | last block lost | code lost | words lost | words beside");
for (const [name, score] of scores) console.log(line(name, score));
