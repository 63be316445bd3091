import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { environmentFor, makeBucket } from "../../support/bucket.ts";
import { codeOf, isOver, startExtractor, submitJob, untilJob } from "../../support/extractor-server.ts";
import { startFaultySite } from "../../support/faulty-site.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { MILL_ROUTES } from "../../support/mill-site.ts";

const site = forAllTests(await startFaultySite({ routes: MILL_ROUTES }));
const server = forAllTests(await startExtractor());

type Page = { readonly url: string; readonly status: string; readonly file_path: string | null };
type Pages = { readonly pages: readonly Page[]; readonly total: number };

let id = "";
let all: Pages;
const read = async <T>(path: string): Promise<T> =>
  (await server.get(`/crawl/${id}/${path}`)).json() as Promise<T>;
const download = (format: string) => server.get(`/crawl/${id}/download?format=${format}`);

beforeAll(async () => {
  id = await submitJob(server, { seeds: [`${site.origin}/`], output_dir: "mill", rate_limit_delay: 0 });
  await untilJob(server, id, isOver);
  all = await read<Pages>("pages");
});

/** The names in an archive's directory, each with its content, which is stored as it is. */
function unzip(archive: Uint8Array): Map<string, string> {
  const bytes = Buffer.from(archive);
  const files = new Map<string, string>();
  const mark = Buffer.from([0x50, 0x4b, 1, 2]);
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 4)) {
    const [size, nameLength, start] = [
      bytes.readUInt32LE(at + 20),
      bytes.readUInt16LE(at + 28),
      bytes.readUInt32LE(at + 42),
    ];
    const name = bytes.toString("utf8", at + 46, at + 46 + nameLength);
    const from = start + 30 + bytes.readUInt16LE(start + 26) + bytes.readUInt16LE(start + 28);
    files.set(name, bytes.toString("utf8", from, from + size));
  }
  return files;
}

describe("the pages of a crawl that is over", () => {
  test("come some at a time, and together are the manifest's", async () => {
    const { results } = await read<{ results: Page[] }>("manifest");
    expect(all).toEqual({ pages: results, total: results.length });
    const parts = await Promise.all(
      results.map((_, offset) => read<Pages>(`pages?offset=${offset}&limit=1`)),
    );
    expect(parts.flatMap(({ pages }) => pages)).toEqual(results);
    expect(await read<Pages>(`pages?offset=${results.length}`)).toEqual({ pages: [], total: results.length });
  });

  test("are chosen by status, reason and host, which are counted", async () => {
    type Outcomes = {
      reasons: { status: string; reason: string; pages: number }[];
      hosts: { host: string; successful: number; failed: number; skipped: number }[];
    };
    const { reasons, hosts } = await read<Outcomes>("outcomes");
    expect(reasons.map(({ pages }) => pages)).toEqual(
      reasons.map(({ pages }) => pages).toSorted((a, b) => b - a),
    );
    for (const { status, reason, pages } of reasons) {
      const found = await read<Pages>(`pages?status=${status}&reason=${reason}`);
      expect(found.total).toBe(pages);
      expect(found.pages.every((page) => page.status === status)).toBe(true);
    }
    const count = (status: string) => all.pages.filter((page) => page.status === status).length;
    expect(hosts).toEqual([
      {
        host: new URL(site.origin).host,
        successful: count("success"),
        failed: count("failed"),
        skipped: count("skipped"),
      },
    ]);
    expect((await read<Pages>(`pages?host=${hosts[0]?.host}`)).total).toBe(all.total);
    expect((await read<Pages>("pages?host=elsewhere.example")).total).toBe(0);
  });

  test.each(["limit=0", "limit=1001", "offset=-1", "status=fine"])("refuses %s", async (query) => {
    expect((await server.get(`/crawl/${id}/pages?${query}`)).status).toBe(422);
  });

  test.each([
    ["/pages?size=5", "size", "; did you mean limit?"],
    ["/pages?state=failed", "state", "; did you mean status?"],
    ["/download?type=zip", "type", "; did you mean format?"],
    ["/pages?colour=red", "colour", "; there are status, reason, host, offset, limit"],
  ])("refuses %s by name", async (path, name, hint) => {
    const response = await server.get(`/crawl/${id}${path}`);
    const message = `there is no parameter "${name}"${hint}`;
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ detail: message, errors: [{ path: name, message }] });
  });

  test("can be had as ZIP, as JSON lines and as llms.txt", async () => {
    const stored = all.pages.flatMap(({ status, file_path: path }) =>
      status === "success" && path ? [path] : [],
    );
    const zip = await download("zip");
    expect(zip.headers.get("content-disposition")).toMatch(/^attachment; filename="crawl-.*\.zip"$/);
    const files = unzip(await zip.bytes());
    expect([...files.keys()].sort()).toEqual([...stored].sort());
    for (const [name, text] of files)
      expect(text).toBe(readFileSync(join(server.directory, "mill", name), "utf8"));
    const lines = (await (await download("jsonl")).text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ file_path: path }) => path)).toEqual(stored);
    for (const { markdown } of lines) expect(markdown).not.toStartWith("---");
    const text = await (await download("llms.txt")).text();
    expect(text).toStartWith(`# ${new URL(site.origin).host}\n\n## Pages\n\n- [`);
    expect(text.match(/^- \[/gm)).toHaveLength(stored.length);
    expect((await download("rar")).status).toBe(422);
  });

  test("let nothing else out when the manifest was changed, or a link has taken a page's place", async () => {
    const own = await submitJob(server, {
      seeds: [`${site.origin}/one`],
      output_dir: "changed",
      max_depth: 0,
    });
    await untilJob(server, own, isOver);
    const directory = join(server.directory, "changed");
    const outside = join(server.directory, "secret.md");
    writeFileSync(outside, "secret");
    mkdirSync(join(directory, "sub"));
    symlinkSync(outside, join(directory, "sub", "link.md"));
    symlinkSync(server.directory, join(directory, "folder"));
    const path = join(directory, "manifest.json");
    const manifest = readFileSync(path, "utf8");
    const [line = ""] = manifest.split("\n").filter((one) => one.startsWith('    {"url":'));
    const wrong = [
      "../secret.md",
      "sub/link.md",
      "folder/secret.md",
      outside,
      "C:/secret.md",
      "a\\..\\b",
      "",
    ];
    const lines = wrong.map((name) =>
      line.replace(/"file_path":"[^"]*"/, `"file_path":${JSON.stringify(name)}`),
    );
    // Whatever somebody made of it, a list that lacks pages is no list of no pages.
    const wholes = manifest.split("\n");
    for (const tampered of [
      manifest.replace('    {"url":', '{"url":'),
      manifest.replaceAll('    {"url":', '    {"url":7,"was":'),
      `{"job_id": ${JSON.stringify(own)}, "results": []}`,
      JSON.stringify(JSON.parse(manifest)),
      wholes.filter((one) => one !== line).join("\n"),
      manifest.slice(0, manifest.indexOf('    {"url":') + 20),
    ]) {
      writeFileSync(path, tampered);
      for (const list of ["download?format=zip", "download?format=jsonl", "pages", "outcomes"])
        expect(await codeOf(await server.get(`/crawl/${own}/${list}`))).toBe("manifest_damaged");
    }
    for (const name of ["../secret.md", "gone.md"])
      for (const format of ["zip", "jsonl", "llms.txt"].slice(0, name === "gone.md" ? 2 : 3)) {
        writeFileSync(path, manifest.replace(/"file_path":"[^"]*"/g, `"file_path":"${name}"`));
        expect(await codeOf(await server.get(`/crawl/${own}/download?format=${format}`))).toBe("pages_gone");
      }
    writeFileSync(path, manifest.replace(line, [line, ...lines].join(",\n")));
    const answer = await server.get(`/crawl/${own}/download?format=zip`);
    const files = unzip(await answer.bytes());
    expect([...files.values()].join("")).not.toContain("secret");
    expect(files.size).toBe(1);
    rmSync(path);
    expect(await codeOf(await server.get(`/crawl/${own}/download?format=zip`))).toBe("manifest_gone");
  });

  test("are refused while the crawl is under way", async () => {
    const own = await submitJob(server, {
      seeds: [`${site.origin}/`],
      output_dir: "slow",
      rate_limit_delay: 30,
    });
    for (const path of ["pages", "outcomes", "download?format=zip"])
      expect(await codeOf(await server.get(`/crawl/${own}/${path}`))).toBe("job_not_completed");
    await server.get(`/crawl/${own}`, { method: "DELETE" });
  });
});

test("the pages of a crawl into a bucket are listed, counted and saved as those in a folder are", async () => {
  const bucket = await makeBucket();
  const env = { ...environmentFor(bucket.options), ARTICLE_EXTRACTOR_STORE_URL: `s3://${bucket.name}/pages` };
  await using other = await startExtractor({ env });
  const own = await submitJob(other, { seeds: [`${site.origin}/`], output_dir: "mill", rate_limit_delay: 0 });
  await untilJob(other, own, isOver);
  const ask = (path: string): Promise<Response> => other.get(`/crawl/${own}/${path}`);
  const listed = (await (await ask("pages")).json()) as Pages;
  const said = ({ pages }: Pages): string[] =>
    pages.map(({ url, status, file_path: path }) => alike(`${url} ${status} ${path}`)).sort();
  expect(said(listed)).toEqual(said(all));
  expect(await (await ask("outcomes")).json()).toEqual(await read("outcomes"));
  const failed = (await (await ask("pages?status=failed&limit=1")).json()) as Pages;
  expect(failed.pages.map(({ status }) => status)).toEqual(["failed"]);
  const files = async (answer: Response): Promise<string[]> =>
    [...unzip(await answer.bytes())].map(([name, text]) => alike(`${name} ${text}`)).sort();
  expect(await files(await ask("download?format=zip"))).toEqual(await files(await download("zip")));
  const lines = async (answer: Response): Promise<string[]> =>
    alike(await answer.text())
      .split("\n")
      .sort();
  for (const format of ["jsonl", "llms.txt"])
    expect(await lines(await ask(`download?format=${format}`))).toEqual(await lines(await download(format)));
});

/** The end of a page's name in a bucket. */
const HASH = /-[0-9a-f]{20}(?=\.md)/g;

/** A text without what is different in each crawl, and in a bucket. */
const alike = (text: string): string => text.replaceAll(HASH, "").replace(/^extracted_at: .*$/m, "");

test.each([{}, { output_dir: "" }, { output_dir: "  " }, { output_dir: null }])(
  "a crawl of which no folder is said gets one of its own: %j",
  async (more) => {
    const own = await submitJob(server, { seeds: [`${site.origin}/one`], max_depth: 0, ...more });
    const job = (await untilJob(server, own, isOver)) as unknown as {
      output_dir: string;
      successful: number;
    };
    expect(job.output_dir).toContain("127.0.0.1");
    expect(job.successful).toBe(1);
  },
);
