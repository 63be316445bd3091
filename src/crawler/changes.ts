import type { Frontier } from "./frontier/frontier.ts";
import { manifestEntry } from "./manifest-entry.ts";
import type { ChangesOutput, PageOutcome } from "./types.ts";

/** Written at once. */
const PIECE_CHARACTERS = 64 * 1024;

/**
 * Writes a JSON line for each page that is new, changed or gone since the last finished crawl, in the order in which
 * the crawl found that out.
 * @throws Failure as the output does
 */
export async function writeChanges(frontier: Frontier, output: ChangesOutput): Promise<void> {
  let piece = "";
  for await (const outcome of frontier.changes()) {
    piece += `${JSON.stringify(changeLine(outcome))}\n`;
    if (piece.length < PIECE_CHARACTERS) continue;
    await output.write(piece);
    piece = "";
  }
  if (piece !== "") await output.write(piece);
  await output.finish();
}

// The file of a page that is gone is where it was moved, relative to the output as the others.
function changeLine(outcome: PageOutcome) {
  const { change, ...entry } = manifestEntry(outcome);
  return { change, ...entry, file_path: outcome.filePath };
}
