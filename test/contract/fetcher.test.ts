import { describe, expect, test } from "bun:test";
import { makeCertificate } from "../support/certificates.ts";
import { startFaultySite } from "../support/faulty-site.ts";
import { startForwardProxy } from "../support/forward-proxy.ts";
import { node } from "../support/library-project.ts";
import { startNodeFetcher } from "../support/node-fetcher.ts";
import { failureOf, pageUrl, testFetcher } from "../support/test-fetcher.ts";
import { describeFetcher } from "./fetcher.ts";

describeFetcher({
  name: "the HTTP fetcher",
  make: async (requestTimeoutMs) => testFetcher({ limits: { requestTimeoutMs, pageBytes: 100_000 } }),
});

if (node)
  describeFetcher({
    name: "the HTTP fetcher on Node",
    make: (requestTimeoutMs) => startNodeFetcher({ requestTimeoutMs }),
  });

describe.skipIf(!node)("the HTTP fetcher on Node", () => {
  test("connects to the checked address and verifies the name", async () => {
    const good = await makeCertificate("good.test");
    await using site = await startFaultySite({ tls: good });
    const names = { "good.test": ["127.0.0.1"], "other.test": ["127.0.0.1"] };
    await using fetcher = await startNodeFetcher({ names, extraCertificates: [good.cert] });
    expect((await fetcher.fetch(pageUrl(`https://good.test:${site.port}/page`))).status).toBe(200);
    const failure = await failureOf(fetcher.fetch(pageUrl(`https://other.test:${site.port}/page`)));
    expect(failure?.message).toContain("another name");
  });

  test("verifies a certificate for an address", async () => {
    const own = await makeCertificate("127.0.0.1");
    await using site = await startFaultySite({ tls: own });
    await using fetcher = await startNodeFetcher({ extraCertificates: [own.cert] });
    expect((await fetcher.fetch(pageUrl(`${site.origin}/page`))).status).toBe(200);
  });

  test("trusts the authorities that are built in beside those that are given", async () => {
    const known = await makeCertificate("known.test");
    const given = await makeCertificate("given.test");
    const names = { "known.test": ["127.0.0.1"], "given.test": ["127.0.0.1"] };
    await using fetcher = await startNodeFetcher({
      names,
      builtIn: known.cert,
      extraCertificates: [given.cert],
    });
    for (const [name, tls] of [
      ["known.test", known],
      ["given.test", given],
    ] as const) {
      await using site = await startFaultySite({ tls });
      expect((await fetcher.fetch(pageUrl(`https://${name}:${site.port}/page`))).status).toBe(200);
    }
  });

  test("refuses a name that resolves to a metadata address", async () => {
    await using fetcher = await startNodeFetcher({
      names: { "meta.test": ["93.184.215.14", "169.254.169.254"] },
    });
    expect((await failureOf(fetcher.fetch(pageUrl("http://meta.test/"))))?.code).toBe("egress_refused");
  });

  test("goes through a proxy with credentials, by tunnel for https and by absolute form for http", async () => {
    const good = await makeCertificate("good.test");
    await using plain = await startFaultySite();
    await using secure = await startFaultySite({ tls: good });
    await using proxy = await startForwardProxy({
      credentials: "user:p@ss",
      hosts: { "plain.test": `127.0.0.1:${plain.port}`, "good.test:444": `127.0.0.1:${secure.port}` },
    });
    await using fetcher = await startNodeFetcher({
      proxy: `http://user:p%40ss@127.0.0.1:${proxy.port}`,
      extraCertificates: [good.cert],
    });
    expect((await fetcher.fetch(pageUrl("http://plain.test/page"))).status).toBe(200);
    expect((await fetcher.fetch(pageUrl("https://good.test:444/page"))).status).toBe(200);
    const lines = (await proxy.requests()).map((request) => request.line);
    expect(lines).toEqual(["GET http://plain.test/page HTTP/1.1", "CONNECT good.test:444 HTTP/1.1"]);
  });

  test("a proxy that refuses the credentials is network", async () => {
    await using proxy = await startForwardProxy({ credentials: "user:pass", hosts: {} });
    await using fetcher = await startNodeFetcher({ proxy: `http://user:wr0ng@127.0.0.1:${proxy.port}` });
    for (const url of ["http://plain.test/", "https://good.test/"]) {
      const failure = await failureOf(fetcher.fetch(pageUrl(url)));
      expect(failure?.code).toBe("network");
      expect(failure?.message).not.toContain("wr0ng");
    }
  });

  test.each(["gzip", "br", "deflate"])("decompresses %s and stops a bomb at the cap", async (coding) => {
    await using site = await startFaultySite();
    await using fetcher = await startNodeFetcher();
    const page = await fetcher.fetch(pageUrl(`${site.origin}/encoded/${coding}`));
    expect(page.html).toContain("A page of the site.");
    // Twenty times the cap; a larger one takes the site seconds to make, and a request has one.
    const failure = await failureOf(fetcher.fetch(pageUrl(`${site.origin}/bomb/${coding}?mb=2`)));
    expect(failure?.code).toBe("too_large");
  });
});
