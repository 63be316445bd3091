import { expect, test } from "bun:test";
import { join } from "node:path";
import { extract } from "../../support/extraction.ts";

const PAGE = await Bun.file(join(import.meta.dir, "../../../test/site/index.html")).text();

test("a section that is kept has its heading, whatever the trees say of its few words", async () => {
  const { article } = await extract(PAGE);
  expect(article?.markdown).toContain("## Next open days\n\nThe tide decides, so look twice.");
});
