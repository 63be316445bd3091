import { expect, test } from "bun:test";
import { DEFAULT_NETWORK } from "../../src/app/index.ts";
import { DEFAULT_EXTRACTION } from "../../src/settings/index.ts";
import { testMachine } from "../support/browser-fetcher.ts";
import { openTestApp } from "../support/crawling.ts";
import { reply, startFaultySite } from "../support/faulty-site.ts";

test("who waits for the same page gets it when the one who asked first has gone", async () => {
  const asked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  await using site = await startFaultySite({
    routes: {
      "/held": async ({ socket }) => {
        asked.resolve();
        await held.promise;
        reply(socket, {
          body: `<article><h1>Mill</h1><p>${"The wheel turns again. ".repeat(20)}</p></article>`,
        });
      },
    },
  });
  await using app = openTestApp(testMachine());
  const leaving = new AbortController();
  const request = {
    url: `${site.origin}/held`,
    authorization: null,
    options: { ...DEFAULT_EXTRACTION, renderings: ["markdown"] },
  } as const;
  const first = app.openSession(DEFAULT_NETWORK);
  await using second = app.openSession(DEFAULT_NETWORK);
  const gone = first.fromUrl({ ...request, signal: leaving.signal }).catch((error: Error) => error.message);
  await asked.promise;
  const waiting = second.fromUrl({ ...request, signal: new AbortController().signal });
  leaving.abort();
  expect(await gone).toContain("cancelled");
  const closing = first[Symbol.asyncDispose]();
  held.resolve();
  expect(await waiting).toMatchObject({ fetcher: "browser", statusCode: 200 });
  await closing;
  expect(site.requests.filter(({ target }) => target === "/held")).toHaveLength(1);
});
