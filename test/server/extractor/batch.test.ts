import { describe, expect, test } from "bun:test";
import { type ExtractorProcess, isOver, startExtractor, untilJob } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const server = forAllTests(await startExtractor());
const site = forAllTests(
  serveNumberedSite({
    pages: 30,
    answers: {
      "/broken": { status: 500, body: "no" },
      "/moved": { status: 302, headers: { location: "/p/2" } },
      "/robots.txt": { body: "User-agent: *\nDisallow: /", headers: { "content-type": "text/plain" } },
    },
  }),
);

type Result = {
  readonly url: string;
  readonly title?: string;
  readonly links?: readonly object[];
  readonly error?: { readonly code: string; readonly message: string };
};

async function submitBatch(to: ExtractorProcess, body: object): Promise<string> {
  const response = await to.post("/batch", body);
  const text = await response.text();
  if (response.status !== 202) throw new Error(`${response.status} ${text}`);
  const { job_id: id } = JSON.parse(text);
  expect(response.headers.get("location")).toBe(`/crawl/${id}`);
  return id;
}

async function resultsOf(from: ExtractorProcess, id: string): Promise<Result[]> {
  const response = await from.get(`/crawl/${id}/download?format=jsonl`);
  expect(response.status).toBe(200);
  return (await response.text())
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

describe("a batch", () => {
  test("has a result for each URL in the order of the list: the wanted fields, or an error", async () => {
    const { origin } = site;
    const before = site.visits.length;
    const urls = [`${origin}/p/2`, `${origin}/broken`, `${origin}/moved`, `${origin}/p/1`, `${origin}/p/2`];
    const id = await submitBatch(server, { urls, fields: ["title", "links"] });
    const job = await untilJob(server, id, isOver);
    expect(job).toMatchObject({ status: "completed", successful: 3, failed: 1, skipped: 0, is_batch: true });
    const [second, broken, moved, first, ...rest] = await resultsOf(server, id);
    expect(rest).toEqual([]);
    expect(Object.keys(second ?? {})).toEqual(["url", "title", "links"]);
    expect(second).toMatchObject({ url: urls[0], title: "Page 2" });
    expect(broken).toEqual({
      url: urls[1] ?? "",
      error: { code: "http_status", message: expect.stringContaining("500") },
    });
    expect(moved).toMatchObject({ url: urls[2], title: "Page 2" });
    expect(first?.links?.length).toBeGreaterThan(0);
    // Neither links nor robots.txt.
    const paths = site.visits.slice(before).map(({ path }) => path);
    expect(new Set(paths)).toEqual(new Set(["/p/1", "/p/2", "/broken", "/moved"]));
  });

  test("answers what one page answers, with the same options, network and question", async () => {
    const url = `${site.origin}/p/3`;
    const wish = {
      network: { user_agent: "batcher/1" },
      options: { exclude: ["h1"] },
      fields: ["default", "chunks"],
      query: "the gate",
    };
    const id = await submitBatch(server, { urls: [url], ...wish });
    await untilJob(server, id, isOver);
    const alone = await (await server.post("/", { url, ...wish })).json();
    expect(await resultsOf(server, id)).toEqual([alone]);
    expect(site.visits.at(-2)?.headers["user-agent"]).toBe("batcher/1");
  });

  test("is listed with the other jobs, and its pages are downloaded as those of a crawl", async () => {
    const id = await submitBatch(server, { urls: [`${site.origin}/p/4`] });
    await untilJob(server, id, isOver);
    const { jobs } = (await (await server.get("/crawl?limit=1")).json()) as { jobs: object[] };
    expect(jobs).toMatchObject([{ job_id: id, is_batch: true }]);
    const zip = await server.get(`/crawl/${id}/download?format=zip`);
    expect((await zip.arrayBuffer()).byteLength).toBeGreaterThan(100);
  });

  test("that was cancelled fails with the code cancelled", async () => {
    await using slow = serveNumberedSite({ pages: 30, until: () => new Promise(() => {}) });
    const id = await submitBatch(server, { urls: [`${slow.origin}/p/1`, `${slow.origin}/p/2`] });
    await untilJob(server, id, ({ status }) => status === "running");
    await server.get(`/crawl/${id}`, { method: "DELETE" });
    expect(await untilJob(server, id, isOver)).toMatchObject({
      status: "failed",
      error: { code: "cancelled" },
    });
  });

  test("goes on after its server was killed", async () => {
    await using slow = serveNumberedSite({ pages: 30, answerMs: 60 });
    using directory = temporaryDirectory();
    const urls = Array.from({ length: 20 }, (_, index) => `${slow.origin}/p/${index + 1}`);
    let id: string;
    {
      await using first = await startExtractor({ directory: directory.path });
      id = await submitBatch(first, { urls, fields: ["title"] });
      await untilJob(first, id, ({ successful }) => successful >= 3);
      first.signal("SIGKILL");
      await first.exited;
    }
    await using second = await startExtractor({ directory: directory.path });
    expect(await untilJob(second, id, isOver)).toMatchObject({ status: "completed", successful: 20 });
    const results = await resultsOf(second, id);
    expect(results.map(({ url, title }) => [url, title])).toEqual(
      urls.map((url, index) => [url, `Page ${index + 1}`]),
    );
  });
});

test.each<[name: string, body: object, path: string]>([
  ["no URLs", { urls: [] }, "urls"],
  ["no list", {}, "urls"],
  ["more URLs than a list may have", { urls: Array(10_001).fill("http://a.example/") }, "urls"],
  ["what is not a URL", { urls: ["http://a.example/", "ftp://a.example/"] }, "urls.1"],
  ["an unknown field", { urls: ["http://a.example/"], max_depth: 2 }, "max_depth"],
  ["a limit without a question", { urls: ["http://a.example/"], max_tokens: 5 }, "max_tokens"],
  ["a wrong selector", { urls: ["http://a.example/"], options: { select: ">>" } }, "options.select"],
])("a batch with %s is refused", async (_, body, path) => {
  const response = await server.post("/batch", body);
  expect(response.status).toBe(422);
  const { errors } = (await response.json()) as { errors: { path: string }[] };
  expect(errors[0]?.path).toBe(path);
});
