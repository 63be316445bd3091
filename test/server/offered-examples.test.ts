import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificate } from "../support/certificates.ts";
import { startExtractor } from "../support/extractor-server.ts";
import { reply, startFaultySite } from "../support/faulty-site.ts";
import { startForwardProxy } from "../support/forward-proxy.ts";
import { folderTenant, openIndexed, openSearchServer } from "../support/search-server.ts";

type Parameter = {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly example?: unknown;
  readonly schema: { readonly example?: unknown };
};
type Operation = {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
};
type OpenApi = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

const exampleOf = ({ example, schema }: Parameter): unknown => example ?? schema.example;

/**
 * Sends every operation of a server as its OpenAPI document offers it, which is what the documentation's page fills in;
 * gives the status of each. Operations with a value that somebody must type first are left out.
 */
async function statusesOf(url: string): Promise<Readonly<Record<string, number>>> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi;
  const statuses: Record<string, number> = {};
  for (const [path, operations] of Object.entries(paths))
    for (const [method, { parameters = [], requestBody }] of Object.entries(operations)) {
      if (parameters.some((one) => one.required && exampleOf(one) === undefined)) continue;
      const offered = parameters.filter((one) => exampleOf(one) !== undefined);
      const query = new URLSearchParams();
      let target = path;
      for (const one of offered) {
        const value = String(exampleOf(one));
        if (one.in === "path") target = target.replace(`{${one.name}}`, encodeURIComponent(value));
        if (one.in === "query") query.set(one.name, value);
      }
      const response = await fetch(`${url}${target}${query.size > 0 ? `?${query}` : ""}`, {
        method: method.toUpperCase(),
        headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
        ...(requestBody && { body: JSON.stringify(requestBody.content["application/json"]?.example) }),
      });
      await response.body?.cancel();
      statuses[`${method.toUpperCase()} ${path}`] = response.status;
    }
  return statuses;
}

const EVERYWHERE = {
  "GET /": 200,
  "GET /docs": 200,
  "GET /health": 200,
  "GET /mcp.json": 200,
  "GET /metrics": 200,
  "GET /openapi.json": 200,
  "GET /ready": 200,
  "POST /mcp": 200,
};

test("what serve extractor offers to send succeeds", async () => {
  const certificate = await makeCertificate("example.org");
  await using site = await startFaultySite({
    tls: certificate,
    routes: { "/": ({ socket }) => reply(socket, { body: "<title>Example</title><p>An example.</p>" }) },
  });
  const hosts = { "example.org:443": site.origin.slice("https://".length) };
  await using proxy = await startForwardProxy({ credentials: null, hosts });
  const directory = mkdtempSync(join(tmpdir(), "authority-"));
  const authority = join(directory, "example.pem");
  writeFileSync(authority, certificate.cert);
  await using server = await startExtractor({
    env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, NODE_EXTRA_CA_CERTS: authority },
  });
  expect(await statusesOf(server.url)).toMatchObject({
    ...EVERYWHERE,
    "GET /crawl": 200,
    "GET /{url}": 200,
    "POST /": 200,
    "POST /crawl": 202,
  });
  rmSync(directory, { recursive: true });
});

test("what serve search offers to send succeeds", async () => {
  const registry = await openIndexed(
    folderTenant("mill", { "a.md": "# Retries\n\nHow to retry a request." }),
  );
  await using server = openSearchServer(registry);
  expect(await statusesOf(server.url)).toEqual({
    ...EVERYWHERE,
    "GET /search": 200,
    "GET /tenants/status": 200,
    // Nothing is counted here.
    "GET /analytics": 404,
  });
  await registry[Symbol.asyncDispose]();
});
