import { join } from "node:path";

const page = await Bun.file(join(import.meta.dir, "../../../docs/scale-out.md")).text();

/** The lines of code in docs/scale-out.md that have this word, by blocks. */
export function documentedBlocks(word: string): readonly string[] {
  const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
  const found = blocks.filter((block) => block.includes(word));
  if (found.length === 0) throw new Error(`docs/scale-out.md has no code with ${word}`);
  return found;
}
