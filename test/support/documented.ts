import { join } from "node:path";
import { serveSite } from "./site.ts";

const ROOT = join(import.meta.dir, "../..");

/** A block of code of a page of the documentation. */
export type DocumentedBlock = {
  readonly language: string;
  readonly text: string;
  /** What the page's source says right before it: why the block does not run in the tests. */
  readonly whyNotRun: string | null;
  /** Commands that make what a reader has already, from the page's source too. */
  readonly given: string;
};

/** The pages with code that people copy: the README, and all of `docs/`. */
export async function documentedPages(): Promise<readonly string[]> {
  const pages = await Array.fromAsync(new Bun.Glob("docs/**/*.md").scan(ROOT));
  return ["README.md", ...pages.sort()];
}

/**
 * The blocks of a page that name a language, in their order. Right before a block may stand `<!-- not run: why -->` or
 * `<!-- given: commands -->`.
 */
export async function documentedBlocks(page: string): Promise<readonly DocumentedBlock[]> {
  const text = await Bun.file(join(ROOT, page)).text();
  const block = /(?:^<!-- (not run|given):\s((?:(?!-->)[\s\S])+?)\s*-->\n+)?^```([a-z]+)\n([\s\S]*?)^```$/gm;
  return [...text.matchAll(block)].map(([, note, said = "", language = "", inner = ""]) => ({
    language,
    text: inner,
    whyNotRun: note === "not run" ? said : null,
    given: note === "given" ? said : "",
  }));
}

/** An application's page: its script writes its text. */
const SHELL = `<!doctype html><html lang="en"><title>Tides</title><div id="root"></div>
<script>document.getElementById("root").innerHTML = "<main><article><h1>Tides</h1><p>The sea rises and falls twice a day.</p></article></main>"</script>`;

/** An answer that comes when nobody waits for it any more. */
const never = (signal: AbortSignal): Promise<Response> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(new Response(null))));

/**
 * Serves what the documentation's made-up hosts answer: the small site of `test/site`, one of its articles at every other
 * address, and a sitemap of three pages. `origin` has no name; a proxy gives it those of the examples.
 */
export async function serveExampleHosts(): Promise<AsyncDisposable & { readonly host: string }> {
  const site = await serveSite();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    development: false,
    fetch: async (request) => {
      const { pathname, host } = new URL(request.url);
      if (pathname === "/robots.txt" || pathname === "/llms.txt") return new Response(null, { status: 404 });
      if (pathname === "/sitemap.xml") {
        const pages = ["/en/", "/en/install", "/en/use"].map((path) => `http://${host}${path}\n`);
        return new Response(pages.join(""), { headers: { "content-type": "text/plain" } });
      }
      const userAgent = request.headers.get("user-agent") ?? "";
      if (pathname === "/blocked" && userAgent.startsWith("article-extractor"))
        return new Response("no programs", { status: 403 });
      if (pathname === "/app")
        return new Response(SHELL, { headers: { "content-type": "text/html; charset=utf-8" } });
      if (pathname === "/slow") return never(request.signal);
      const answer = await fetch(site.origin + pathname);
      return answer.ok ? answer : fetch(`${site.origin}/news/borrowed-tools.html`);
    },
  });
  return {
    host: `127.0.0.1:${server.port}`,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await site[Symbol.asyncDispose]();
    },
  };
}
