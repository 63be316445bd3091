import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { unzipSync } from "fflate";
import { type CrawlRoute, serveCrawlSite } from "../../support/crawl-site.ts";
import {
  type ExtractorProcess,
  isOver,
  startExtractor,
  submitJob,
  untilJob,
} from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const WORDS = "The wheel of the mill turns slowly and the water falls over the weir all day long. ".repeat(4);
const pageOf = (pictures: readonly string[]): string =>
  `<!doctype html><title>Mill</title><article><h1>Mill</h1><p>${WORDS}</p>
${pictures.map((src) => `<img src="${src}" alt="A"><p>${WORDS}</p>`).join("\n")}
<p>Neither images/0123456789abcdef.png nor images/../state/jobs.sqlite is a picture of this page.</p></article>`;
const PNG = "\x89PNG\r\n\x1a\n";
const picture = (text: string) => () => new Response(Buffer.from(PNG + text, "latin1"));
const MANY = Array.from({ length: 120 }, (_, index) => `/many/${index}.png`);

const inner = forAllTests(serveCrawlSite({ "/secret.png": picture("secret") }, "127.0.0.2"));
const HOSTILE: Readonly<Record<string, CrawlRoute>> = {
  "/page.png": () => new Response("<!doctype html>", { headers: { "content-type": "image/png" } }),
  "/drawing.svg": () => new Response("<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>"),
  "/away.png": () => Response.redirect(`${inner.origin}/secret.png`, 302),
  "/endless.png": () => {
    const piece = Buffer.from(PNG.padEnd(10_000), "latin1");
    return new Response(new ReadableStream({ pull: (stream) => stream.enqueue(piece) }));
  },
};
const site = forAllTests(
  serveCrawlSite({
    "/": pageOf(["/mill.png", ...Object.keys(HOSTILE), `${inner.origin}/secret.png`]),
    "/many": pageOf(MANY),
    "/mill.png": picture("mill"),
    ...HOSTILE,
    ...Object.fromEntries(MANY.map((path) => [path, picture(path)])),
  }),
);
const env = { ARTICLE_EXTRACTOR_EGRESS: "127.0.0.1", ARTICLE_EXTRACTOR_MAX_BYTES: "100000" };
const directory = forAllTests(temporaryDirectory());
const server = forAllTests(await startExtractor({ env, directory: directory.path }));

type Entry = { readonly file_path: string; readonly warnings: readonly string[] | null };

/** The page of a job, and the files of its download. */
async function ended(from: ExtractorProcess, id: string) {
  const job = await untilJob(from, id, isOver);
  expect(job).toMatchObject({ status: "completed", successful: 1, failed: 0 });
  const pages: readonly Entry[] = (await (await from.get(`/crawl/${id}/pages`)).json()).pages;
  const zip = unzipSync(await (await from.get(`/crawl/${id}/download?format=zip`)).bytes());
  const files = new Map(
    Object.entries(zip).map(([name, bytes]) => [name, Buffer.from(bytes).toString("latin1")]),
  );
  const page = files.get(pages[0]?.file_path ?? "") ?? "";
  const targets = [...page.matchAll(/!\[[^\]]*\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  return { files, targets, warnings: pages[0]?.warnings ?? [] };
}

const crawl = (path: string, more: object = {}): Promise<string> =>
  submitJob(server, { seeds: [`${site.origin}${path}`], max_depth: 0, save_images: true, ...more });

test("a job has the pictures of its pages in its folder and its download, but for what it may not reach", async () => {
  const { files, targets, warnings } = await ended(server, await crawl("/", { output_dir: "mill" }));
  const seen = targets.map((target) => files.get(target)?.replace(PNG, "PNG ") ?? new URL(target).pathname);
  expect(seen).toEqual([
    ...["PNG mill", "/page.png", "<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>"],
    ...["/away.png", "/endless.png", "/secret.png"],
  ]);
  expect([files.size, inner.visits.length]).toEqual([3, 0]);
  expect(readdirSync(join(directory.path, "mill", "images")).length).toBe(3);
  for (const reason of ["4 of 6", "1 no picture", "2 egress refused", "1 too large"])
    expect(warnings.join("\n")).toContain(reason);
});

test("a job saves a hundred pictures of a page, and asks for none of them when it is repeated", async () => {
  const { files, warnings } = await ended(server, await crawl("/many", { output_dir: "many" }));
  expect([files.size, warnings]).toEqual([101, ["images: 20 of 120 not saved: 20 beyond 100 of a page"]]);
  const before = site.visits.length;
  const again = await ended(server, await crawl("/many", { output_dir: "many" }));
  expect([...again.files.keys()].sort()).toEqual([...files.keys()].sort());
  expect(site.visits.slice(before).filter(({ path }) => path.startsWith("/many/")).length).toBe(0);
});

test("a download has no pictures from where a link leads", async () => {
  const id = await crawl("/", { output_dir: "linked" });
  await ended(server, id);
  await rename(join(directory.path, "linked", "images"), join(directory.path, "elsewhere"));
  await symlink(join(directory.path, "elsewhere"), join(directory.path, "linked", "images"));
  expect((await ended(server, id)).files.size).toBe(1);
});

test("a batch saves pictures, and a job that does not want them has none", async () => {
  const response = await server.post("/batch", {
    urls: [`${site.origin}/`],
    fields: ["markdown"],
    save_images: true,
  });
  const id: string = (await response.json()).job_id;
  const { files } = await ended(server, id);
  expect([...files.values()]).toContain(`${PNG}mill`);
  const [line] = (await (await server.get(`/crawl/${id}/download?format=jsonl`)).text()).split("\n");
  expect(JSON.parse(line ?? "").markdown).toMatch(/!\[A\]\(images\/[\da-f]{16}\.png\)/);
  const without = await ended(server, await crawl("/", { output_dir: "none", save_images: false }));
  expect([without.files.size, existsSync(join(directory.path, "none", "images"))]).toEqual([1, false]);
});

test("a job of a server with a store has them beside its pages there", async () => {
  using store = temporaryDirectory();
  const url = `file://${store.path}`;
  await using other = await startExtractor({ env: { ...env, ARTICLE_EXTRACTOR_STORE_URL: url } });
  const request = { seeds: [`${site.origin}/`], max_depth: 0, save_images: true, output_dir: "mill" };
  const { files, targets } = await ended(other, await submitJob(other, request));
  expect(files.get(targets[0] ?? "")).toBe(`${PNG}mill`);
  expect(readdirSync(join(store.path, "mill", "images")).length).toBe(2);
});
