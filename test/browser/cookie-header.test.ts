import { expect, test } from "bun:test";
import { openTestHost, testBrowserFetcher } from "../support/browser-fetcher.ts";
import { type FaultySite, type Route, reply, startFaultySite } from "../support/faulty-site.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { pageUrl } from "../support/test-fetcher.ts";

const answer =
  (headers: Readonly<Record<string, string>>, status = 200): Route =>
  ({ socket }) =>
    reply(socket, { status, body: "<!doctype html><p>words", headers });
const site: FaultySite = forAllTests(
  await startFaultySite({
    routes: {
      "/plain": answer({}),
      "/sets": answer({ "set-cookie": "a=2; Path=/" }),
      "/sets-other": answer({ "set-cookie": "c=3; Path=/" }),
      "/removes": answer({ "set-cookie": "a=; Path=/; Max-Age=0" }),
      "/sets-and-moves": answer({ "set-cookie": "a=4; Path=/", location: "/plain" }, 302),
    },
  }),
);
const host = forAllTests(openTestHost());

test.each([
  [["/plain"], "a=1; b=1"],
  [["/sets", "/plain"], "a=2; b=1"],
  [["/sets-other", "/plain"], "a=1; b=1; c=3"],
  [["/sets", "/removes", "/plain"], "b=1"],
  [["/sets-and-moves"], "a=4; b=1"],
])(
  "after %j each cookie has one value, the newer of the user's header and of the site",
  async (paths, sent) => {
    await using fetcher = testBrowserFetcher({ host, headers: { cookie: "a=1; b=1" } });
    for (const path of paths) await fetcher.fetch(pageUrl(`${site.origin}${path}`));
    const { target, headers } = site.requests.at(-1)!;
    expect([target, (headers.cookie ?? "").split("; ").sort().join("; ")]).toEqual(["/plain", sent]);
  },
);
