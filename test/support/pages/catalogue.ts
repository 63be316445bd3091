import type { Tab } from "../page-browser.ts";
import { EXTRACTED, FINISHED, JOBS, OUTCOMES, PAGES_OF_JOB, QUERIES, RUNNING } from "./answers.ts";

/** A page of a server in one of its states. Every page stands here, and is looked at as `every-page.test.ts` says. */
export type ServedPage = {
  /** Names its picture too. */
  readonly name: string;
  readonly server: "extractor" | "search";
  /** The address below the server, with its fragment. */
  readonly path: string;
  /** A selector of something that is seen once the page has everything. */
  readonly ready: string;
  /**
   * What the server is taken to answer, by method and path below it: for states that take long to reach, or that
   * show times and addresses, which are different each time. A text is an event stream. All else comes from the server.
   */
  readonly answers?: Readonly<Record<string, unknown>>;
  /** What a person does before the page is in its state. */
  readonly act?: (page: Tab) => Promise<void>;
  /** The page is Swagger UI, whose weight of half a megabyte and whose looks are not ours. */
  readonly isForeign?: boolean;
};

async function extract(page: Tab): Promise<void> {
  await page.fill("#url", "mill.example/wheel");
  await page.keyboard.press("Enter");
  await page.locator(".reader .prose p").first().waitFor({ state: "attached" });
}

const SWAGGER = { path: "/docs", isForeign: true, ready: ".opblock" };

export const PAGES: readonly ServedPage[] = [
  { name: "extract-empty", server: "extractor", path: "/", ready: "#extract-form" },
  {
    name: "extract-result",
    server: "extractor",
    path: "/",
    ready: "#extract-form",
    answers: { "POST /": EXTRACTED },
    act: (page) => extract(page),
  },
  {
    name: "extract-blocks",
    server: "extractor",
    path: "/",
    ready: "#extract-form",
    answers: { "POST /": EXTRACTED },
    async act(page) {
      await extract(page);
      await page.getByRole("tab", { name: "Blocks" }).click();
      await page.getByRole("button", { name: "Unsure: Written" }).click();
      await page.getByRole("button", { name: "Exclude elements like this" }).waitFor();
    },
  },
  {
    name: "extract-request",
    server: "extractor",
    path: "/",
    ready: "#extract-form",
    async act(page) {
      await page.fill("#url", "https://mill.example/wheel");
      await page.getByText("Options").click();
      await page.selectOption("#favor", "recall");
      await page.getByText("This request as code").click();
      // The port is another one each time.
      await page.evaluate(() => {
        for (const code of document.querySelectorAll(".program code"))
          code.textContent = (code.textContent ?? "").replaceAll(location.host, "localhost:3000");
      });
    },
  },
  {
    name: "crawls-empty",
    server: "extractor",
    path: "/#crawls",
    ready: "#crawl-seeds",
    answers: { "GET /crawl": { jobs: [], queued: 0, running: 0 } },
  },
  {
    name: "crawls-list",
    server: "extractor",
    path: "/#crawls",
    ready: ".jobs li",
    answers: { "GET /crawl": JOBS },
  },
  {
    name: "crawl-job",
    server: "extractor",
    path: `/#crawl=${FINISHED.job_id}`,
    ready: ".reasons button",
    answers: {
      [`GET /crawl/${FINISHED.job_id}`]: FINISHED,
      [`GET /crawl/${FINISHED.job_id}/events`]: `id: 1\nevent: end\ndata: ${JSON.stringify(FINISHED)}\n\n`,
      [`GET /crawl/${FINISHED.job_id}/outcomes`]: OUTCOMES,
      [`GET /crawl/${FINISHED.job_id}/pages`]: { pages: PAGES_OF_JOB.slice(0, 100), total: 240 },
    },
  },
  {
    name: "crawl-running",
    server: "extractor",
    path: `/#crawl=${RUNNING.job_id}`,
    ready: "progress[max]",
    answers: {
      [`GET /crawl/${RUNNING.job_id}`]: RUNNING,
      [`GET /crawl/${RUNNING.job_id}/events`]: `id: 1\nevent: progress\ndata: ${JSON.stringify(RUNNING)}\n\n`,
    },
  },
  { name: "extractor-swagger", server: "extractor", ...SWAGGER },
  { name: "search-empty", server: "search", path: "/", ready: ".collection" },
  {
    name: "search-hits",
    server: "search",
    path: "/#q=gate",
    ready: "a.hit",
    async act(page) {
      const isWide = (page.viewportSize()?.width ?? 0) >= 1280;
      await page.locator("#preview .prose").waitFor({ state: isWide ? "visible" : "hidden" });
    },
  },
  { name: "search-nothing", server: "search", path: "/#q=zeppelin", ready: "#results p" },
  {
    name: "search-document",
    server: "search",
    path: "/#q=gate&in=mill&doc=docs%3A%2F%2Fmill%2Fgates.md",
    ready: ".prose h1",
  },
  {
    name: "search-status",
    server: "search",
    path: "/status",
    ready: ".lists li",
    answers: { "GET /health": { infrastructure: { query_log_days: 30 } }, "GET /analytics": QUERIES },
  },
  {
    name: "search-box",
    server: "search",
    path: "/embed",
    ready: "#tenants label",
    act: (page) =>
      page.evaluate(() => {
        // The server has another port each time.
        for (const code of document.querySelectorAll("#snippet, #policy"))
          code.textContent = code.textContent.replaceAll(location.origin, "http://127.0.0.1:12345");
      }),
  },
  { name: "search-swagger", server: "search", ...SWAGGER },
];
