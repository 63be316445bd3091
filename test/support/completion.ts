import { runShell } from "./binary.ts";

/**
 * What bash offers after the words, once the program's completion script is loaded.
 * @param words as typed, the last one being the one at the cursor ("" for a new one)
 * @param cwd where files are offered from
 */
export async function bashOffers(words: readonly string[], cwd: string): Promise<string[]> {
  const quoted = ["article-extractor", ...words].map((word) => `'${word}'`).join(" ");
  const run = await runShell(
    `set -eu
     source <(article-extractor completions bash)
     complete -p article-extractor > /dev/null
     COMP_WORDS=(${quoted})
     COMP_CWORD=${words.length}
     _article_extractor || true
     printf '%s\\n' "\${COMPREPLY[@]}"`,
    { shell: "bash", cwd },
  );
  if (run.stderr !== "") throw new Error(run.stderr);
  return run.stdout.split("\n").filter((offer) => offer !== "");
}
