import { describe, expect, test } from "bun:test";
import { Failure } from "../../../src/base/failure.ts";
import { parseEgressPolicy, requestCaller } from "../../../src/fetching/index.ts";
import { admitUnder, CLI, REMOTE, sourceOf } from "../../support/egress-cases.ts";
import { startFaultySite } from "../../support/faulty-site.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { HOSTILE_DNS } from "../../support/hostile-addresses.ts";
import { failureOf, pageUrl, tableResolver, testFetcher } from "../../support/test-fetcher.ts";

// This half of the threat matrix shows what the policy must admit, and which caller it recognises.

const site = forAllTests(await startFaultySite());

const port = (text: string): string => text.replaceAll("PORT", String(site.port));

describe("who calls", () => {
  const direct = { peerAddress: "127.0.0.1", wasForwarded: false, apiKeyConfigured: false };

  test.each([
    ["loopback", direct, "loopback_request"],
    ["loopback over IPv6", { ...direct, peerAddress: "::1" }, "loopback_request"],
    ["loopback as a mapped address", { ...direct, peerAddress: "::ffff:127.0.0.1" }, "loopback_request"],
    ["loopback that forwards for somebody", { ...direct, wasForwarded: true }, "remote_request"],
    ["loopback once an API key is set", { ...direct, apiKeyConfigured: true }, "remote_request"],
    ["the local network", { ...direct, peerAddress: "192.168.1.7" }, "remote_request"],
    ["an address that is none", { ...direct, peerAddress: "localhost" }, "remote_request"],
  ] as const)("a connection from %s is a %p", (_, origin, kind) => {
    expect(requestCaller(origin).kind).toBe(kind);
  });
});

describe("what must pass", () => {
  const local = (): string => port("http://127.0.0.1:PORT/page?allowed");

  test.each([
    ["auto", CLI],
    ["auto", { kind: "loopback_request" }],
    ["auto", sourceOf("127.0.0.1")],
    ["open", REMOTE],
    ["127.0.0.0/8", REMOTE],
    ["example.org,127.0.0.1", REMOTE],
  ] as const)("loopback under %s for %j", async (policy, caller) => {
    expect((await testFetcher({ policy, caller }).fetch(pageUrl(local()))).status).toBe(200);
  });

  test.each([
    ["public.test", ["93.184.215.14"]],
    ["93.184.215.14", ["93.184.215.14"]],
    ["[2606:4700:4700::1111]", ["2606:4700:4700:0:0:0:0:1111"]],
    ["[64:ff9b::93.184.215.14]", ["64:ff9b:0:0:0:0:5db8:d70e"]],
    ["[::ffff:93.184.215.14]", ["93.184.215.14"]],
    ["172.32.0.1", ["172.32.0.1"]],
    ["11.0.0.1", ["11.0.0.1"]],
    ["100.128.0.1", ["100.128.0.1"]],
    ["198.20.0.1", ["198.20.0.1"]],
  ])("the public %s for a request from elsewhere", async (host, addresses) => {
    for (const policy of ["auto", "public", "open", "10.0.0.0/8"])
      expect((await admitUnder(policy, REMOTE, `http://${host}/`)).addresses).toEqual(addresses);
  });

  test("names on the list, and below a listed suffix, may be local", async () => {
    expect((await admitUnder("inner.test", REMOTE, "http://inner.test/")).addresses).toEqual(["127.0.0.1"]);
    expect((await admitUnder(".test", REMOTE, "http://inner.test/")).addresses).toEqual(["127.0.0.1"]);
    expect((await admitUnder("intranet", REMOTE, "http://intranet/")).addresses).toEqual(["93.184.215.14"]);
    for (const policy of ["b\u00fccher.localhost", ".B\u00dcCHER.localhost"])
      expect(
        (await admitUnder(policy, REMOTE, `http://${policy.replace(/^\./, "a.")}/`)).addresses,
      ).toContain("127.0.0.1");
    expect((await failureOf(admitUnder("ner.test", REMOTE, "http://inner.test/")))?.code).toBe(
      "egress_refused",
    );
    expect((await failureOf(admitUnder("10.0.0.0/8", REMOTE, "http://inner.test/")))?.code).toBe(
      "egress_refused",
    );
  });

  test.each(["auto", "public"])("the operator's own proxy on an inner network, under %s", async (policy) => {
    const fetcher = testFetcher({
      policy,
      caller: REMOTE,
      chooseProxy: () => ({ url: port("http://127.0.0.1:PORT"), authorization: null, source: "operator" }),
    });
    expect((await fetcher.fetch(pageUrl("http://public.test/page?allowed=proxy"))).status).toBe(200);
  });

  test("a redirect between allowed hosts", async () => {
    const fetcher = testFetcher({
      policy: "site.test inner.test",
      caller: REMOTE,
      resolve: tableResolver(HOSTILE_DNS),
    });
    const to = encodeURIComponent(port("http://inner.test:PORT/page?allowed=hop"));
    const page = await fetcher.fetch(pageUrl(`http://site.test:${site.port}/redirect?to=${to}`));
    expect(page.status).toBe(200);
  });

  test.each(["auto", "open", "public", "", "a.test", ".a.test 10.0.0.0/8, fd00::/8"])(
    "policy %j is read",
    (text) => {
      expect(parseEgressPolicy(text)).toBeDefined();
    },
  );

  test.each(["auto,open", "http://a.test", "10.0.0.0/33", "a b/c", "*"])(
    "policy %j is invalid_settings",
    (text) => {
      expect(() => parseEgressPolicy(text)).toThrow(Failure);
    },
  );
});
