import { join } from "node:path";

/** Known ways to make a page run code, one each: a line, or two where the first ends inside a tag or code. */
export async function readVectors(): Promise<string[]> {
  const text = await Bun.file(join(import.meta.dir, "..", "fixtures", "hostile", "vectors.txt")).text();
  const vectors: string[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const isContinued = !line.startsWith("<") || /^<script>alert\(1\)<\/script><\/pre>$/.test(line);
    if (isContinued && vectors.length > 0) vectors[vectors.length - 1] += `\n${line}`;
    else vectors.push(line);
  }
  return vectors;
}
