import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

/** A block of code of a page of the documentation. */
export type DocumentedBlock = {
  readonly language: string;
  readonly text: string;
  /** What the page's source says right before it: why the block does not run in the tests. */
  readonly whyNotRun: string | null;
  /** The text of the page above it. */
  readonly above: string;
};

/** The pages with code that people copy: the README, and all of `docs/`. */
export async function documentedPages(): Promise<readonly string[]> {
  const pages = await Array.fromAsync(new Bun.Glob("docs/**/*.md").scan(ROOT));
  return ["README.md", ...pages.sort()];
}

/** The blocks of a page that name a language, in their order. Right before a block may stand `<!-- not run: why -->`. */
export async function documentedBlocks(page: string): Promise<readonly DocumentedBlock[]> {
  const source = await Bun.file(join(ROOT, page)).text();
  const block = /(?:^<!-- not run:\s((?:(?!-->)[\s\S])+?)\s*-->\n+)?^```([a-z]+)\n([\s\S]*?)^```$/gm;
  return [...source.matchAll(block)].map(
    ({ index, 1: whyNotRun = null, 2: language = "", 3: text = "" }) => ({
      language,
      text,
      whyNotRun,
      above: source.slice(0, index),
    }),
  );
}

/** A command of a `console` block, and the output that the page shows below it. */
export type ShownCommand = { readonly command: string; readonly output: string };

/** The commands after `$ ` of a `console` block, each with the output below it. */
export function shownCommands(text: string): readonly ShownCommand[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf("\n");
      return { command: part.slice(0, end), output: part.slice(end + 1).trimEnd() };
    });
}
