import { describe, expect, test } from "bun:test";
import {
  type ExtractorProcess,
  isOver,
  startExtractor,
  submitJob,
  untilJob,
} from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { type ForwardProxy, startForwardProxy } from "../../support/forward-proxy.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";

const site = forAllTests(serveNumberedSite({ pages: 3 }));
const operators = forAllTests(await startForwardProxy({ credentials: null, hosts: {} }));
const callers = forAllTests(await startForwardProxy({ credentials: null, hosts: {} }));

const urlOf = ({ port }: ForwardProxy): string => `http://127.0.0.1:${port}`;
const statusOf = async (server: ExtractorProcess, path: string, body: object): Promise<string> => {
  const response = await server.post(path, body);
  const { code = "" } = (await response.json()) as { code?: string };
  return `${response.status} ${code}`.trim();
};

describe.each<[string, () => Record<string, string>]>([
  ["by the setting", () => ({ ARTICLE_EXTRACTOR_PROXY: urlOf(operators) })],
  ["by the variables of all programs", () => ({ HTTP_PROXY: urlOf(operators) })],
])("where the operator names a proxy %s", (_, env) => {
  const ways = (): readonly object[] => [
    { proxy: urlOf(callers) },
    { proxy_bypass: ["*"] },
    { proxy_bypass: ["127.0.0.1"] },
    { proxy: urlOf(callers), proxy_bypass: ["127.0.0.1"] },
  ];

  test("no request leaves it, and none that tries is accepted", async () => {
    await using server = await startExtractor({ env: env() });
    const [before, asked] = [site.visits.length, (await callers.requests()).length];
    for (const network of ways()) {
      expect(await statusOf(server, "/", { url: `${site.origin}/`, network })).toBe("403 egress_refused");
      const crawl = { output_dir: "x", seeds: [`${site.origin}/`], network };
      expect(await statusOf(server, "/crawl", crawl)).toBe("403 egress_refused");
    }
    expect([site.visits.length, (await callers.requests()).length]).toEqual([before, asked]);
    const through = (await operators.requests()).length;
    expect(await statusOf(server, "/", { url: `${site.origin}/p/1`, network: { proxy_bypass: [] } })).toBe(
      "200",
    );
    const id = await submitJob(server, { output_dir: "y", seeds: [`${site.origin}/`], max_pages: 1 });
    expect((await untilJob(server, id, isOver)).successful).toBe(1);
    expect((await operators.requests()).length).toBeGreaterThan(through);
  });

  test("a setting lets requests choose", async () => {
    const allowed = { ...env(), ARTICLE_EXTRACTOR_ALLOW_CALLER_PROXY: "true" };
    await using server = await startExtractor({ env: allowed });
    const [through, asked] = [(await operators.requests()).length, (await callers.requests()).length];
    for (const [index, network] of ways().entries())
      expect(await statusOf(server, "/", { url: `${site.origin}/?${index}`, network })).toBe("200");
    expect((await operators.requests()).length).toBe(through);
    expect((await callers.requests()).length).toBeGreaterThan(asked);
  });
});

test("where the operator names none, requests may", async () => {
  await using server = await startExtractor();
  const asked = (await callers.requests()).length;
  const network = { proxy: urlOf(callers) };
  expect(await statusOf(server, "/", { url: `${site.origin}/`, network })).toBe("200");
  expect((await callers.requests()).length).toBeGreaterThan(asked);
});
