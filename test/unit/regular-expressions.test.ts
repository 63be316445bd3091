import { expect, test } from "bun:test";
import { join } from "node:path";

/** Why an expression of a file may take more than linear time: what bounds the text that it sees. */
const REVIEWED: Readonly<Record<string, string>> = {
  "src/extraction/metadata/person-names.ts": "on an extraction worker, which is ended at its time limit",
  "src/extraction/metadata/title-candidates.ts": "on an extraction worker, which is ended at its time limit",
  "src/extraction/metadata/title-features.ts": "on an extraction worker, which is ended at its time limit",
  "src/fetching/browser/document-state.ts": "the `content` of a refresh, in a browser's page",
  "src/search/document/definitions.ts": "180 characters of a line",
  "src/server/extractor/schemas/requests.ts": "a header's value in a body of a bounded size",
  "src/settings/values.ts": "written by the operator",
  "src/tenants/describe.ts": "written by the operator",
};

type Tried = { readonly count: number; readonly slow: readonly string[] };

// A new expression is tried by itself; one that is slow is to be written in another way (a run is matched from its
// first character only after a look back: `(?<!x)x+$`), or its text is bounded and its file named above.
test("every regular expression takes linear time on texts made against it, or sees bounded texts", async () => {
  const root = join(import.meta.dir, "../..");
  const child = Bun.spawn([process.execPath, join(root, "test/support/try-expressions.ts"), root], {
    stdout: "pipe",
  });
  const { count, slow } = (await new Response(child.stdout).json()) as Tried; // written by the script
  expect(count).toBeGreaterThan(500);
  expect(slow.filter((line) => !(line.split(" ")[0]! in REVIEWED))).toEqual([]);
}, 120_000);
