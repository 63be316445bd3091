import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openTestHost, testBrowserFetcher } from "../support/browser-fetcher.ts";
import { startFaultySite } from "../support/faulty-site.ts";
import { runningProcesses } from "../support/processes.ts";
import { pageUrl } from "../support/test-fetcher.ts";
import { untilTrue } from "../support/until.ts";

/** Process ids of browsers whose files are below the directory. */
const browsersOf = (base: string): number[] =>
  runningProcesses().flatMap(({ pid, args }) => (args.includes(`--user-data-dir=${base}`) ? pid : []));

const mainProcessOf = (base: string): number => {
  // The first of the browser's processes is the parent of all others.
  const [pid = 0] = browsersOf(base).sort((a, b) => a - b);
  return pid;
};

test("a browser knows no secret of ours, and keeps its files where we clean up", async () => {
  await using site = await startFaultySite();
  const home = mkdtempSync("/tmp/home-");
  const secrets = {
    ARTICLE_EXTRACTOR_API_KEY: "sesame",
    HTTPS_PROXY: "http://me:sesame@proxy.example",
    CI_TOKEN: "sesame",
  };
  const host = openTestHost({ environment: { PATH: process.env.PATH, HOME: home, ...secrets } });
  const fetcher = testBrowserFetcher({ host });
  expect((await fetcher.fetch(pageUrl(`${site.origin}/page`))).status).toBe(200);
  const pid = mainProcessOf(host.base);
  const environment = await Bun.file(`/proc/${pid}/environ`).text();
  expect(environment).toContain(`HOME=${home}`);
  expect(environment).not.toContain("sesame");
  await fetcher[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
  // What the system itself keeps of fonts is no browser's.
  expect(readdirSync(home, { recursive: true }).filter((name) => /chrom|crash/i.test(String(name)))).toEqual(
    [],
  );
  rmSync(home, { recursive: true });
});

test("a browser that crashes costs one page", async () => {
  const asked = Promise.withResolvers<void>();
  await using site = await startFaultySite({
    routes: {
      "/held": async ({ socket }) => {
        asked.resolve();
        await new Promise((resolve) => socket.once("close", resolve));
      },
    },
  });
  await using host = openTestHost();
  await using fetcher = testBrowserFetcher({ host, limits: { tries: 1 } });
  const url = pageUrl(`${site.origin}/page`);
  expect((await fetcher.fetch(url)).status).toBe(200);
  const pid = mainProcessOf(host.base);
  const held = fetcher.fetch(pageUrl(`${site.origin}/held`)).catch((error: Error) => error.message);
  await asked.promise;
  process.kill(pid, "SIGKILL");
  expect(await held).toContain("the browser");
  expect((await fetcher.fetch(url)).status).toBe(200);
});

test("a browser that crashes at any moment leaves no page waiting", async () => {
  await using site = await startFaultySite();
  await using host = openTestHost();
  await using fetcher = testBrowserFetcher({ host, limits: { tries: 2 } });
  const url = pageUrl(`${site.origin}/page`);
  for (const delayMs of [0, 5, 20, 60, 150]) {
    await fetcher.fetch(url);
    const pid = mainProcessOf(host.base);
    const pages = Promise.allSettled([fetcher.fetch(url), fetcher.fetch(url), fetcher.fetch(url)]);
    await Bun.sleep(delayMs);
    process.kill(pid, "SIGKILL");
    await pages;
  }
  expect((await fetcher.fetch(url)).status).toBe(200);
});

test("closing leaves neither processes nor directories", async () => {
  await using site = await startFaultySite();
  const host = openTestHost();
  const fetcher = testBrowserFetcher({ host });
  await fetcher.fetch(pageUrl(`${site.origin}/page`));
  expect(browsersOf(host.base)).not.toEqual([]);
  await fetcher[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
  await untilTrue(() => browsersOf(host.base).length === 0);
  expect(readdirSync(host.base)).toEqual([]);
});

test("after a kill no browser lives on, and the next start tidies up", async () => {
  await using site = await startFaultySite();
  const base = mkdtempSync(join("/tmp", "bk-"));
  const entry = new URL("../support/browser-entry.ts", import.meta.url).pathname;
  const child = Bun.spawn([process.execPath, entry, base, `${site.origin}/page`], {
    stdout: "pipe",
    stderr: "ignore",
  });
  await child.stdout.getReader().read();
  expect(browsersOf(base)).not.toEqual([]);
  child.kill("SIGKILL");
  await child.exited;
  await untilTrue(() => browsersOf(base).length === 0);
  expect(readdirSync(base)).toEqual([`browser-${child.pid}`]);
  const host = openTestHost({ base });
  const fetcher = testBrowserFetcher({ host });
  await fetcher.fetch(pageUrl(`${site.origin}/page`));
  expect(readdirSync(base)).toEqual([`browser-${process.pid}`]);
  await fetcher[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
  rmSync(base, { recursive: true, force: true });
});
