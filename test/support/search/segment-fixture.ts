import { join } from "node:path";
import fc from "fast-check";
import { wordsIn } from "../../../src/base/text.ts";
import { Analyser } from "../../../src/search/analysis/analyser.ts";
import { type BuildOptions, buildSegment } from "../../../src/search/builder/build-segment.ts";
import { DocumentAnalyser } from "../../../src/search/document/analyse.ts";
import type { AnalyzerProfile, Language, SourceDocument } from "../../../src/search/index.ts";
import { Segment } from "../../../src/search/segment/segment.ts";
import type { RankingSettings } from "../../../src/search/types.ts";
import { docsUrl } from "../../../src/urls/index.ts";
import { temporaryDirectory } from "../temporary.ts";

/** Settings in which every field counts. */
export const ALL_FIELDS: RankingSettings = {
  k1: 1.2,
  b: 0.75,
  boosts: {
    title: 2.5,
    headings_h1: 2.5,
    headings_h2: 2,
    headings: 1.5,
    body: 1,
    code: 1.2,
    path: 1.5,
    url: 1.5,
  },
};

/** A document of the tenant `site`. */
export const page = (path: string, title: string, markdown: string): SourceDocument => ({
  url: docsUrl("site", path),
  title,
  markdown,
});

/** The analysis of a build, as the worker makes it. */
export function buildAnalysis(
  profile: AnalyzerProfile = "default",
  language: Language = "en",
): BuildOptions["analysis"] {
  const analyser = new Analyser(profile, language);
  const documents = new DocumentAnalyser(analyser);
  return {
    fingerprint: analyser.fingerprint,
    vocabulary: analyser,
    analyse: (source) => documents.analyse(source),
  };
}

export type FixtureOptions = Partial<
  Pick<BuildOptions, "analysis" | "previous" | "memoryBytes" | "onProgress" | "slugStyle">
>;

export async function buildAt(
  path: string,
  documents: readonly SourceDocument[],
  options: FixtureOptions = {},
): ReturnType<typeof buildSegment> {
  return buildSegment(documents, {
    path,
    analysis: buildAnalysis(),
    previous: null,
    memoryBytes: 1 << 24,
    ...options,
  });
}

/** Builds an index of the documents in a directory of its own, and opens it. */
export async function openFixture(documents: readonly SourceDocument[], options: FixtureOptions = {}) {
  const directory = temporaryDirectory();
  const path = join(directory.path, "index.seg");
  await buildAt(path, documents, options);
  const segment = Segment.open(path);
  return {
    segment,
    path,
    async [Symbol.asyncDispose]() {
      segment[Symbol.dispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

const WORDS = wordsIn(
  `river rivers mill mills milling sluice the of gate gates os.path.join readFile snake_case C++
  Zürich zurich 水車 水 --no-cache v1.2.3 water`,
);

const word = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 1, arbitrary: fc.string({ maxLength: 6 }) },
);
const line = fc.array(word, { maxLength: 12 }).map((words) => words.join(" "));
const block = fc.oneof(
  line,
  fc.tuple(fc.constantFrom("# ", "## ", "### "), line).map(([marks, text]) => marks + text),
  line.map((text) => `\`\`\`\n${text}\n\`\`\``),
);

/** Documents of a small vocabulary, so that terms meet. */
export const sourceDocuments = (maxLength: number): fc.Arbitrary<SourceDocument[]> =>
  fc.uniqueArray(
    fc.record({
      url: fc
        .array(fc.constantFrom("a", "b", "mill", "ä", "docs"), { minLength: 1, maxLength: 5 })
        .map((path) => docsUrl("test", path.join("/"))),
      title: line,
      markdown: fc.array(block, { maxLength: 6 }).map((blocks) => blocks.join("\n\n")),
    }),
    { maxLength, selector: ({ url }) => url },
  );

/** Many documents made by a seed, for lists of several blocks. */
export function manyDocuments(count: number, seed = 1): SourceDocument[] {
  let state = seed;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  // Low numbers are frequent, as common words are.
  const pick = (): string => `w${Math.floor(random(100) ** (1 + random(3) / 2) / 2)}`;
  const words = (length: number): string => Array.from({ length: random(length) + 1 }, pick).join(" ");
  return Array.from({ length: count }, (_, index) => ({
    url: docsUrl("many", `${random(1_000_000)}/${index}`),
    title: words(4),
    markdown: `# ${words(3)}\n\n${words(60)}\n\n## ${words(3)}\n\n${words(40)}\n\n\`\`\`\n${words(10)}\n\`\`\`\n`,
  }));
}
