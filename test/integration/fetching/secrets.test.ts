import { expect, test } from "bun:test";
import { createLog } from "../../../src/base/log.ts";
import { chooseProxy } from "../../../src/fetching/index.ts";
import type { PageUrl } from "../../../src/urls/index.ts";
import { startFaultySite } from "../../support/faulty-site.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { failureOf, testFetcher } from "../../support/test-fetcher.ts";

const site = forAllTests(await startFaultySite());

const SECRET = "s3cr3tv4lue";

/** Lists every way to fail, with a secret in each place that can hold one. */
test.each([
  "/reset",
  "/truncated",
  "/not-http",
  "/not-gzip",
  "/truncated-gzip",
  "/loop",
  "/status/500",
  "/type?value=image/png",
  "/bomb/gzip?mb=30",
  "/slow-headers?ms=900",
  "/flaky?status=429&retry-after=9999",
  `/redirect?to=${encodeURIComponent(`http://user:${SECRET}@169.254.169.254/`)}`,
  `/redirect?to=${encodeURIComponent(`ftp://user:${SECRET}@127.0.0.1/`)}`,
  `/redirect?to=${encodeURIComponent(`user:${SECRET}@127.0.0.1`)}`,
  `/redirect?to=${encodeURIComponent(`http://user:${SECRET}@127.0.0.1:9/`)}`,
])("%s: no message and no log line holds a credential", async (path) => {
  const lines: string[] = [];
  const fetcher = testFetcher({
    headers: { cookie: `a=${SECRET}`, "x-api-key": SECRET },
    limits: { requestTimeoutMs: 500, tries: 2 },
    log: createLog({ level: "debug", format: "json", write: (line) => lines.push(line) }),
    chooseProxy: chooseProxy({
      explicit: `http://user:${SECRET}@127.0.0.1:${site.port}`,
      explicitSource: "caller",
      // Half of the rows go through a proxy that cannot resolve names, the others bypass it.
      bypass: path.length % 2 === 0 ? ["*"] : [],
      environment: { http: null, https: null, bypass: [] },
    }),
  });
  // A URL with credentials is no PageUrl, but a caller's mistake must not print them either.
  const url = `http://user:${SECRET}@127.0.0.1:${site.port}${path}` as PageUrl;
  const failure = await failureOf(fetcher.fetch(url, { authorization: `Bearer ${SECRET}` }));
  const stack = [failure?.message ?? "", ...lines].join("\n");
  expect(lines.length).toBeGreaterThan(0);
  expect(stack).not.toContain(SECRET);
  expect(stack).not.toContain(btoa(`user:${SECRET}`));
});
