import { expect, test } from "bun:test";
import { join } from "node:path";
import { percentile, spread } from "../../../scripts/bench/bench.ts";
import { type ExtractionReport, measurePages } from "../../../scripts/bench/measure-pages.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

test("a percentile is the value of the nearest rank, in any order of the values", () => {
  const values = [40, 10, 30, 20, 50];
  expect([0, 0.2, 0.5, 0.95, 1].map((share) => percentile(values, share))).toEqual([10, 10, 30, 50, 50]);
  expect(percentile([], 0.5)).toBe(0);
});

test("a limited run takes different pages from the whole list", () => {
  const items = Array.from({ length: 10 }, (_, index) => index);
  expect(spread(items, 4)).toEqual([0, 2, 5, 7]);
  expect(spread(items, 10)).toEqual(items);
  expect(spread(items, 99)).toEqual(items);
});

test("every page of a set gets an outcome and a file, failed ones included", async () => {
  using directory = temporaryDirectory();
  const ids = ["good", "empty", "refused", "broken"];
  const listPath = join(directory.path, "list.json");
  await Bun.write(listPath, JSON.stringify(ids.map((id) => ({ id, url: `https://example.org/${id}` }))));
  for (const id of ids) await Bun.write(join(directory.path, "html", `${id}.html`), `<p>${id}</p>`);
  const outDirectory = join(directory.path, "out");
  const reportPath = join(directory.path, "report.json");
  const seen: string[] = [];
  await measurePages(
    { pagesDirectory: directory.path, listPath, outDirectory, reportPath, renderings: [], passes: 3 },
    {
      extract: async (html, url) => {
        seen.push(html);
        if (html.includes("refused")) throw new RangeError("too large");
        if (html.includes("broken")) throw "not even an error";
        return {
          text: html.includes("good") ? `text of ${url}` : "",
          title: "T",
          author: null,
          date: null,
        };
      },
      codeOf: (error) => (error instanceof RangeError ? "too_large" : null),
    },
  );
  expect(seen).toHaveLength(3 * ids.length);
  const report: ExtractionReport = await Bun.file(reportPath).json();
  expect(report.steadyCpuMs).toBeGreaterThan(0);
  const outcomes = report.pages.map(({ id, outcome }) => `${id} ${outcome}`);
  expect(outcomes).toEqual(["good ok", "empty no_content", "refused too_large", "broken bug"]);
  expect(report.pages.map((page) => page.htmlBytes)).toEqual([11, 12, 14, 13]);
  const texts = await Promise.all(ids.map((id) => Bun.file(join(outDirectory, `${id}.txt`)).text()));
  expect(texts).toEqual(["text of https://example.org/good", "", "", ""]);
  expect((await Bun.file(join(outDirectory, "meta.json")).json()).good).toEqual({
    title: "T",
    author: null,
    date: null,
  });
});
