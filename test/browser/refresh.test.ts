import { expect, test } from "bun:test";
import { openTestHost, testBrowserFetcher } from "../support/browser-fetcher.ts";
import { type FaultySite, type Route, reply, startFaultySite } from "../support/faulty-site.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { pageUrl } from "../support/test-fetcher.ts";

const WORDS = `<article><h1>Tides</h1>${"<p>The sea rises twice a day, and falls twice.</p>".repeat(20)}</article>`;
const NOTICE = "<p>You are being moved.";
const refresh = (seconds: number, body: string, to = "/target"): string =>
  `<!doctype html><meta http-equiv="refresh" content="${seconds}; url=${to}">${body}`;
const html =
  (body: string, headers: Readonly<Record<string, string>> = {}): Route =>
  ({ socket }) =>
    reply(socket, { body, headers });

const site: FaultySite = forAllTests(
  await startFaultySite({
    routes: {
      "/target": html(`<!doctype html><p>This is the target.`),
      "/read-at-once": html(refresh(0, WORDS)),
      "/read-later": html(
        refresh(1, `${WORDS}<script>setTimeout(() => document.body.append("All is read."), 2000)</script>`),
      ),
      "/read-by-header": html(`<!doctype html>${WORDS}`, { refresh: "0; url=/target" }),
      "/moved": html(refresh(0, NOTICE)),
      "/moved-later": html(refresh(1, NOTICE)),
      "/script": html(`<!doctype html>${WORDS}<script>location.href = "/target"</script>`),
    },
  }),
);
const host = forAllTests(openTestHost());
const fetcher = forAllTests(testBrowserFetcher({ host }));
const textOf = async (path: string): Promise<string> => {
  const { html: text, finalUrl } = await fetcher.fetch(pageUrl(`${site.origin}${path}`));
  return `${new URL(finalUrl).pathname} ${text.includes("This is the target") ? "target" : "tides"}`;
};

test.each(["/read-at-once", "/read-later", "/read-by-header"])(
  "%s keeps the words that it has to be read, whatever it refreshes to",
  async (path) => {
    const before = site.requests.length;
    expect(await textOf(path)).toBe(`${path} tides`);
    expect(site.requests.slice(before).map(({ target }) => target)).toEqual([path]);
  },
);

test.each(["/moved", "/moved-later", "/script"])("%s is followed", async (path) => {
  expect(await textOf(path)).toBe("/target target");
});

test("headers with secrets stay unsent where another origin has led", async () => {
  await using secret = testBrowserFetcher({ host, headers: { "x-key": "k1" } });
  const url = pageUrl(`${site.origin}/target`);
  const keys = async (isForeign: boolean): Promise<unknown[]> => {
    const before = site.requests.length;
    await secret.fetch(url, { isForeign, authorization: "Bearer t" });
    return site.requests
      .slice(before)
      .flatMap(({ target, headers }) =>
        target === "/target" ? [headers["x-key"], headers["authorization"]] : [],
      );
  };
  expect(await keys(false)).toEqual(["k1", "Bearer t"]);
  expect(await keys(true)).toEqual([undefined, undefined]);
});
