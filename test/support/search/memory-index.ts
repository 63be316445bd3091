import { Analyser } from "../../../src/search/analysis/analyser.ts";
import type { AnalyzerProfile, Language, SourceDocument } from "../../../src/search/index.ts";
import { MemoryIndexBuilder } from "../../../src/search/memory-index.ts";
import type { IndexReader } from "../../../src/search/types.ts";

/** An index with nothing clever in it: what the index in a file is compared with. */
export function buildMemoryIndex(
  sources: readonly SourceDocument[],
  profile: AnalyzerProfile,
  language: Language = "en",
): IndexReader {
  const builder = new MemoryIndexBuilder(new Analyser(profile, language));
  for (const source of [...sources].sort((a, b) => (a.url < b.url ? -1 : a.url > b.url ? 1 : 0)))
    builder.add(source);
  return builder.finish();
}
