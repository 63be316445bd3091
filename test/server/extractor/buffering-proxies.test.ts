import { describe, expect, test } from "bun:test";
import { CADDY, startCaddy } from "../../support/caddy.ts";
import { isOver, startExtractor, submitJob, untilJob } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { META, MODERN, postMcp } from "../../support/mcp.ts";
import { startNginx } from "../../support/nginx.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";

const site = forAllTests(serveNumberedSite({ pages: 30, answerMs: 100 }));
const server = forAllTests(await startExtractor({ env: { ARTICLE_EXTRACTOR_EGRESS: "open" } }));

// Nothing here knows of streams: nginx buffers answers and speaks HTTP/1.0 to the server, and both compress all types.
const NGINX_LOCATION = `gzip on; gzip_proxied any; gzip_types *; location / { proxy_pass ${server.url}; }`;
const CADDY_SITE = `encode {\nmatch header Content-Type *\n}\nreverse_proxy ${server.url}`;

describe.each([
  ["nginx", () => startNginx(NGINX_LOCATION), false],
  ["Caddy", () => startCaddy(CADDY_SITE), CADDY === null],
] as const)("behind %s as it is without settings for streams", (name, startProxy, isMissing) => {
  test.skipIf(isMissing)("events arrive as they happen", async () => {
    await using proxy = await startProxy();
    const id = await submitJob(server, { output_dir: name, seeds: [`${site.origin}/`], concurrency: 1 });
    const began = performance.now();
    const stream = await fetch(`${proxy.url}/crawl/${id}/events`, {
      headers: { "accept-encoding": "gzip" },
    });
    expect(stream.headers.get("cache-control")).toBe("no-store, no-transform");
    const arrivals: number[] = [];
    let text = "";
    for await (const piece of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      if (piece.includes("event: page")) arrivals.push(performance.now() - began);
    }
    expect(text).toContain("event: end");
    expect(await untilJob(server, id, isOver)).toMatchObject({ status: "completed", successful: 30 });
    // The job takes at least 3 s, the pages of the site one by one.
    expect(arrivals[0]).toBeLessThan(2000);
    expect(arrivals.length).toBeGreaterThan(5);
  });

  test.skipIf(isMissing)(
    "a model that listens for changes, of which there are none, has all of its answer at once",
    async () => {
      await using proxy = await startProxy();
      const method = "subscriptions/listen";
      const params = { notifications: { toolsListChanged: true }, _meta: META };
      const headers = { "mcp-protocol-version": MODERN, "mcp-method": method };
      const answer = await postMcp(proxy.url, { method, params }, headers);
      expect(answer.headers.get("content-type")).toBe("text/event-stream");
      expect(await answer.text()).toContain('"resultType":"complete"');
    },
  );
});
