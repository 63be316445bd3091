import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { runBinary } from "../support/binary.ts";
import { Served } from "../support/served.ts";
import { add, environment, makeFolder, root, run, setUp, site, tearDown } from "../support/tenants-run.ts";

beforeEach(setUp);
afterEach(tearDown);

/** A website of which one page each is refused, forbidden, broken, moved and unnamed. */
async function syncWebsite(): Promise<void> {
  site.fill(3);
  for (const path of ["/docs/", "/docs/old", "/docs/secret", "/docs/blog/a"])
    site.write(path, `Page ${path}`);
  site.pages.set("/docs/broken", { body: "Out of order", status: 500 });
  site.pages.set("/robots.txt", { body: "User-agent: *\nDisallow: /docs/secret\n", type: "text/plain" });
  const listed = ["/docs/", "/docs/p0", "/docs/p1", "/docs/secret", "/docs/broken", "/docs/blog/a"];
  site.listed = listed;
  await add(`${site.origin}/docs/`, "--codename", "manual", "--exclude", "/docs/blog/");
  const synced = await runBinary(["sync", "manual"], { cwd: root, env: environment() });
  expect(synced.stderr).toBe("");
}

const why = async (...words: string[]): Promise<string> => {
  const { exitCode, stdout, stderr } = await run("why", ...words);
  return `${exitCode} ${stdout || stderr}`.trimEnd();
};

describe("tenants why", () => {
  test("says in one sentence what became of a page of a website", async () => {
    await syncWebsite();
    const at = (path: string): string => `${site.origin}${path}`;
    expect(await why(at("/docs/p0"))).toBe(`0 manual: it is indexed as ${at("/docs/p0")}`);
    expect(await why(at("/docs/p0.html#top"), "page 0")).toBe(
      `0 manual: it is indexed as ${at("/docs/p0")}, and found at rank 1`,
    );
    expect(await why(at("/docs/p0"), "zeppelin")).toEndWith("not among the first 1000 hits");
    expect(await why(at("/docs/blog/a"))).toBe(
      `1 manual: url_blacklist_prefixes refuses it: ${at("/docs/blog/")}`,
    );
    expect(await why(at("/other"))).toBe(
      `1 manual: url_whitelist_prefixes does not allow it: ${at("/docs/")}`,
    );
    expect(await why(at("/docs/secret"))).toBe("1 manual: robots.txt forbids it");
    expect(await why(at("/docs/broken"))).toMatch(/^1 manual: the last sync did not get it: .*500/);
    expect(await why(at("/docs/p2"))).toBe(
      "1 manual: no sitemap or entry page names it, and enable_crawler is off, so links do not count",
    );
    expect(await why("https://elsewhere.example/")).toStartWith(
      "1 no tenant documents https://elsewhere.example/",
    );
  });

  test("says so before the first sync, and after one that has failed", async () => {
    site.fill(1);
    site.write("/docs/", "Start");
    await add(`${site.origin}/docs/`, "--codename", "manual");
    expect(await why(`${site.origin}/docs/p0`)).toBe("1 manual: no sync has succeeded yet");
    site.intercept = () => new Response("away", { status: 500 });
    await runBinary(["sync", "manual"], { cwd: root, env: environment() });
    expect(await why(`${site.origin}/docs/`)).toMatch(/^1 manual: the last sync did not get it: .*500/);
  });

  test("names the file that a folder leaves out, and why", async () => {
    makeFolder("handbook", "a.md", "draft.md");
    await add("handbook", "--exclude", "draft.md");
    await runBinary(["index", "handbook"], { cwd: root, env: environment() });
    expect(await why("docs://handbook/a.md")).toBe("0 handbook: it is indexed as docs://handbook/a.md");
    expect(await why("draft.md")).toMatch(/^1 handbook: the file draft.md is left out: /);
    expect(await why("docs://handbook/b.md")).toBe("1 handbook: no file of the folder has this address");
  });

  test("is what the server answers to its status page", async () => {
    makeFolder("handbook", "a.md");
    await add("handbook");
    await runBinary(["index", "handbook"], { cwd: root, env: environment() });
    await using served = await Served.start(root, { env: environment() });
    const answer = await fetch(`${served.url}/tenants/why?url=docs://handbook/a.md&query=barges`);
    expect(await answer.json()).toEqual({
      url: "docs://handbook/a.md",
      answers: [
        {
          tenant: "handbook",
          state: "indexed",
          sentence: "it is indexed as docs://handbook/a.md, and found at rank 1",
          url: "docs://handbook/a.md",
          rank: 1,
        },
      ],
    });
  });
});

test("search --explain shows how each hit of a tenant got its score", async () => {
  makeFolder("handbook", "a.md");
  await add("handbook");
  await runBinary(["index", "handbook"], { cwd: root, env: environment() });
  const search = (...words: string[]) =>
    runBinary(["search", ...words, "barges", "--explain"], { cwd: root, env: environment() });
  for (const words of [["handbook"], ["--all"]])
    expect((await search(...words)).stdout).toMatch(/score [\d.]+ =/);
});
