import { createReadStream } from "node:fs";
import { Failure } from "../base/failure.ts";
import type { ManifestEntry } from "./manifest-entry.ts";

const PIECE_BYTES = 64 * 1024;

/**
 * The entries of a manifest that a crawl of this program has written, one after the other, so that its size does not
 * matter: each stands on a line of its own (see `writeManifest`).
 * @throws Failure `unreadable_input` for a file that is not there, or is none of ours
 */
export async function* readManifestEntries(path: string): AsyncGenerator<ManifestEntry, void> {
  let isInside = false;
  try {
    for await (const line of linesOf(path)) {
      if (line === RESULTS_BEGIN) isInside = true;
      // The end of the list, or a list without entries.
      else if (line === NO_RESULTS || (isInside && line === RESULTS_END)) return;
      else if (isInside) yield JSON.parse(line.endsWith(",") ? line.slice(0, -1) : line) as ManifestEntry; // as it was written
    }
  } catch (cause) {
    throw new Failure("unreadable_input", `could not read the manifest ${path}`, { cause });
  }
  throw new Failure("unreadable_input", `the manifest ${path} has no end`);
}

const RESULTS_BEGIN = '  "results": [';
const NO_RESULTS = '  "results": []';
const RESULTS_END = "  ]";

// Not by `readline`, which ends lines at U+2028 as well: titles hold it as it is.
async function* linesOf(path: string): AsyncGenerator<string, void> {
  let begun = "";
  // With an encoding its pieces are texts, cut between characters.
  for await (const piece of createReadStream(path, { encoding: "utf8", highWaterMark: PIECE_BYTES })) {
    const lines = (begun + String(piece)).split("\n");
    begun = lines.pop() ?? "";
    yield* lines;
  }
}
