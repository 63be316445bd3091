import { expect, test } from "bun:test";
import { once } from "node:events";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { openTestHost, testBrowserFetcher } from "../support/browser-fetcher.ts";
import { makeCertificate } from "../support/certificates.ts";
import { reply, startFaultySite } from "../support/faulty-site.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { failureOf, pageUrl, tableResolver, testFetcher } from "../support/test-fetcher.ts";

const host = forAllTests(openTestHost());

test("a server of HTTP/2 only is named as such to the plain client", async () => {
  const { cert, key } = await makeCertificate("good.test");
  const server = createSecureServer({ cert, key, allowHTTP1: false }, (_, response) =>
    response.end("<p>hello"),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await using http = testFetcher({
    resolve: tableResolver({ "good.test": ["127.0.0.1"] }),
    extraCertificates: [cert],
  });
  const failure = await failureOf(http.fetch(pageUrl(`https://good.test:${port}/`)));
  expect(failure?.code).toBe("network");
  expect(failure?.message).toContain("one that speaks HTTP/2 only is read by the browser");
  server.close();
});

test("a page whose service worker answers requests is read without the worker", async () => {
  const page = `<!doctype html><p id=p>Written by the server.</p><script>
    navigator.serviceWorker?.register("/worker.js").then(
      async () => { p.textContent += (await fetch("/by-worker")).ok ? " by the worker" : " by nobody"; },
      () => { p.textContent += " refused"; },
    );</script>`;
  const worker = `addEventListener("install", () => skipWaiting()); addEventListener("activate", (e) => e.waitUntil(clients.claim()));
    addEventListener("fetch", (event) => event.respondWith(new Response("<p>Written by the worker.</p>", { headers: { "content-type": "text/html" } })));`;
  const site = await startFaultySite({
    routes: {
      "/": ({ socket }) => reply(socket, { body: page }),
      "/worker.js": ({ socket }) =>
        reply(socket, { body: worker, headers: { "content-type": "text/javascript" } }),
      "/by-worker": ({ socket }) => reply(socket, { status: 404, body: "no" }),
    },
  });
  await using _ = site;
  await using fetcher = testBrowserFetcher({ host });
  for (let visit = 0; visit < 3; visit++) {
    const { html } = await fetcher.fetch(pageUrl(`${site.origin}/`));
    expect(html).toContain("Written by the server.");
    expect(html).not.toMatch(/<p[^>]*>[^<]*by the worker/);
  }
  expect(site.requests.map(({ target }) => target)).not.toContain("/worker.js");
});
