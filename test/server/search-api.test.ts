import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { forAllTests } from "../support/for-all-tests.ts";
import { folderTenant, openIndexed, openSearchServer } from "../support/search-server.ts";

const many = Object.fromEntries(
  Array.from({ length: 60 }, (_, number) => [
    `${number % 3 === 0 ? "api" : "guide"}/boat-${number}.md`,
    `# Boat ${number}\n\nMoor the boat at quay ${number}.\n`,
  ]),
);

const KEYS = { some: ["harbour", "yard"] };
const keys = {
  find: async (token: string) =>
    Object.hasOwn(KEYS, token) ? { name: token, tenants: KEYS[token as keyof typeof KEYS] } : null,
};

const registry = forAllTests(
  await openIndexed(
    folderTenant(
      "harbour",
      {
        ...many,
        "ja/quay.md": "# Quay\n\nMoor the boat.\n",
        "long.md": "# Long\n\nText.\n\n## Mooring\n\nMoor the boat.\n\n## Boats\n\nThe boat of the boat.\n",
      },
      { group: "sea" },
    ),
    folderTenant(
      "yard",
      { "blog/hull.md": "---\ndate: 2024-02-29\n---\n# Hull\n\nPaint the boat.\n" },
      { docs_name: "Ship yard" },
    ),
    folderTenant("secretive", { "v2/plan.md": "# Plan\n\nMoor the boat & hide <it>.\n" }, { group: "sea" }),
  ),
);
const server = forAllTests(
  openSearchServer(registry, { apiKey: "all", keys, corsOrigins: ["https://docs.example"] }),
);

const ask = (parameters: Readonly<Record<string, string>>, key = "all", headers: object = {}) =>
  fetch(`${server.url}/search?${new URLSearchParams(parameters)}`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
  });

type Answer = {
  readonly hits: readonly Readonly<Record<string, unknown> & { url: string; tenant: string }>[];
  readonly total: number;
  readonly facets: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly detail: string;
};
const answerOf = async (parameters: Readonly<Record<string, string>>, key = "all"): Promise<Answer> =>
  (await (await ask(parameters, key)).json()) as Answer;

describe("GET /search", () => {
  test("gives hits with what is known of their documents", async () => {
    const answer = await answerOf({ q: "hull paint", tenant: "yard", snippet_style: "html" });
    expect(answer).toEqual({
      query: "hull paint",
      hits: [
        {
          tenant: "yard",
          docs_name: "Ship yard",
          url: "docs://yard/blog/hull.md",
          title: "Hull",
          anchor: "hull",
          headings: ["Hull"],
          heading: "",
          snippet: "<mark>Paint</mark> the boat.",
          score: expect.any(Number),
          kind: "blog",
          language: null,
          version: null,
          date: "2024-02-29",
        },
      ],
      offset: 0,
      size: 10,
      total: 1,
      is_total_exact: true,
      facets: {},
      processing_time_ms: expect.any(Number),
    } as never);
  });

  test("narrows by each filter, and by all together", async () => {
    const total = async (filter: string) => (await answerOf({ q: "boat", filter })).total;
    expect(await total("")).toBe(64);
    expect(await total("kind:reference")).toBe(20);
    expect(await total("kind:reference,blog")).toBe(21);
    expect(await total("path:guide/")).toBe(40);
    expect(await total("path:*-1?.md kind:guide")).toBe(7);
    expect(await total("language:ja")).toBe(1);
    expect(await total("version:2")).toBe(1);
    expect(await total("group:sea")).toBe(63);
    expect(await total("group:sea version:v2 kind:guide path:**/plan.md")).toBe(1);
    expect(await total("path:nowhere/")).toBe(0);
  });

  test("gives pages that join to one list, and none beyond the end", async () => {
    const urls = async (parameters: Readonly<Record<string, string>>) =>
      (await answerOf({ q: "boat quay", ...parameters })).hits.map(({ url }) => url);
    const whole = await urls({ size: "100" });
    expect(whole).toHaveLength(64);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 30 }), async (size) => {
        const pages: string[] = [];
        for (let offset = 0; offset < 70; offset += size)
          pages.push(...(await urls({ size: String(size), offset: String(offset) })));
        expect(pages).toEqual(whole);
      }),
      { numRuns: 4 },
    );
    expect(await urls({ offset: "900" })).toEqual([]);
  });

  test("counts the values that are asked for", async () => {
    const { facets } = await answerOf({ q: "boat", facets: "*", filter: "kind:reference" });
    expect(facets).toEqual({
      // What another kind would give, for somebody who changes it.
      kind: { guide: 43, reference: 20, blog: 1 },
      language: {},
      version: {},
      tenant: { harbour: 20 },
      group: { sea: 20 },
    });
    const some = await answerOf({ q: "boat", facets: "tenant,language" });
    expect(some.facets).toEqual({ language: { ja: 1 }, tenant: { harbour: 62, yard: 1, secretive: 1 } });
    expect((await answerOf({ q: "unknownword", facets: "kind" })).facets).toEqual({ kind: {} });
  });

  test("gives a few hits of each tenant, the best first, where one has many", async () => {
    const whole = await answerOf({ q: "boat", facets: "tenant", size: "100" });
    for (const most of [1, 2, 4, 100]) {
      const { hits, total } = await answerOf({ q: "boat", per_tenant: `${most}`, size: "100" });
      const counts = Object.fromEntries(
        [...Map.groupBy(hits, ({ tenant }) => tenant)].map(([tenant, own]) => [tenant, own.length]),
      );
      const all = Object.entries(whole.facets.tenant ?? {});
      expect(counts).toEqual(
        Object.fromEntries(all.map(([tenant, count]) => [tenant, Math.min(most, count)])),
      );
      const scores = hits.map(({ score }) => Number(score));
      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      expect(total).toBe(whole.total);
      const pages = [];
      for (let offset = 0; offset < hits.length; offset += 3)
        pages.push(
          ...(await answerOf({ q: "boat", per_tenant: `${most}`, size: "3", offset: `${offset}` })).hits,
        );
      expect(pages.map(({ url }) => url)).toEqual(hits.map(({ url }) => url));
      if (most === 100) break;
    }
    const one = await answerOf({ q: "boat", tenant: "harbour", per_tenant: "2" });
    expect(one.hits).toHaveLength(2);
    const some = await answerOf({ q: "boat", per_tenant: "1", filter: "kind:blog" });
    expect(some.hits.map(({ tenant }) => tenant)).toEqual(["yard"]);
    expect((await answerOf({ q: "unknownword", per_tenant: "3" })).hits).toEqual([]);
  });

  test("names the best sections of each document when hits are grouped by it", async () => {
    const { hits } = await answerOf({ q: "moor boat", filter: "path:long.md", group_by: "document" });
    const [hit] = hits as unknown as readonly { anchor: string; sections: readonly { anchor: string }[] }[];
    expect(hit!.sections.map(({ anchor }) => anchor).toSorted()).toEqual(["boats", "mooring"]);
    expect(hit!.sections[0]!.anchor).toBe(hit!.anchor);
  });

  test.each([
    [{}, "q is required"],
    [{ q: " " }, "q is required"],
    [{ q: "x", size: "0" }, "size must be between 1 and 100"],
    [{ q: "x", size: "ten" }, "size must be between 1 and 100"],
    [{ q: "x", per_tenant: "0" }, "per_tenant must be between 1 and 100"],
    [{ q: "x", per_tenant: "few" }, "per_tenant must be between 1 and 100"],
    [{ q: "x", offset: "901" }, "offset must be between 0 and 900"],
    [{ q: "x", ofset: "1" }, 'there is no parameter "ofset"; did you mean offset?'],
    [{ query: "x" }, 'there is no parameter "query"; did you mean q?'],
    [{ q: "x", limit: "5" }, 'there is no parameter "limit"; did you mean size?'],
    [
      { q: "x", colour: "red" },
      'there is no parameter "colour"; there are q, tenant, library, version, filter',
    ],
    [{ q: "x", group_by: "tenant" }, "group_by must be document"],
    [
      { q: "x", facets: "kind,knd" },
      'facets: "knd" is none of kind, language, version, tenant, group and *; did you mean kind?',
    ],
    [{ q: "x", word_match: "maybe" }, "word_match must be true or false"],
    [{ q: "x", preview: "yes" }, "preview must be true or false"],
    [{ q: "x", snippet_style: "bold" }, "snippet_style must be one of plain, html, rich"],
    [{ q: "x", version: "2" }, "version needs library"],
    [{ q: "x", filter: "language:xx" }, "filter: no document has language:xx; there are ja"],
    [{ q: "x", filter: "version:9" }, "filter: no document has version:9; there are 2"],
    [{ q: "x", filter: "group:lake" }, "filter: no document has group:lake; there are sea"],
    [{ q: "x", filter: "kind:essay" }, "filter: kind:essay is none of guide, reference"],
    [{ q: "x", tenant: "harbor" }, "Tenant 'harbor' not found; did you mean harbour?"],
  ])("refuses %p: %s", async (parameters, reason) => {
    const response = await ask(parameters as Record<string, string>);
    expect([404, 422]).toContain(response.status);
    expect(((await response.json()) as Answer).detail).toContain(reason);
  });

  test("shows no tenant that the caller's key is not for", async () => {
    const seen = await answerOf({ q: "boat plan", facets: "*", size: "100" }, "some");
    expect(JSON.stringify(seen)).not.toContain("secretive");
    expect(seen.facets.tenant).toEqual({ harbour: 62, yard: 1 });
    expect(seen.facets.version).toEqual({});
    // Nor does a refusal name what only it has.
    for (const parameters of [{ tenant: "secretive" }, { filter: "version:2" }]) {
      const response = await ask({ q: "boat", ...parameters }, "some");
      expect([404, 422]).toContain(response.status);
      const { detail } = (await response.json()) as Answer;
      expect(detail.replace("'secretive'", "")).not.toMatch(/secretive|there are/);
    }
    expect((await ask({ q: "boat" }, "wrong")).status).toBe(401);
  });

  test("may be read by pages of the listed origins alone", async () => {
    const listed = await ask({ q: "boat" }, "all", { origin: "https://docs.example" });
    expect([listed.status, listed.headers.get("access-control-allow-origin")]).toEqual([
      200,
      "https://docs.example",
    ]);
    expect((await ask({ q: "boat" }, "all", { origin: "https://other.example" })).status).toBe(403);
  });

  test("is described in the OpenAPI document as it answers", async () => {
    const response = await fetch(`${server.url}/openapi.json`, { headers: { authorization: "Bearer all" } });
    const { paths } = (await response.json()) as {
      paths: Record<string, { get: { parameters: { name: string }[] } }>;
    };
    expect(paths["/search"]!.get.parameters.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["q", "tenant", "filter", "size", "offset", "facets", "group_by", "word_match"]),
    );
  });
});

describe("GET /document", () => {
  const read = async (parameters: Readonly<Record<string, string>>, key = "all") => {
    const response = await fetch(`${server.url}/document?${new URLSearchParams(parameters)}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const HULL = { tenant: "yard", docs_name: "Ship yard", url: "docs://yard/blog/hull.md", title: "Hull" };

  test("gives a document, or one of its sections, whole or cut", async () => {
    const markdown = "# Hull\n\nPaint the boat.\n";
    const sections = [{ anchor: "hull", start: 0 }];
    const whole = { ...HULL, markdown, is_cut: false, total_chars: markdown.length, sections };
    expect(await read({ uri: HULL.url })).toEqual({ status: 200, body: whole });
    expect(await read({ uri: HULL.url, tenant: "yard", max_chars: "25" })).toEqual({
      status: 200,
      body: whole,
    });
    const section = await read({ uri: `${HULL.url}#hull` });
    expect(section).toMatchObject({ status: 200, body: { is_cut: false, total_chars: markdown.length } });
    expect(section.body).not.toHaveProperty("sections");
    expect(String(section.body.markdown).trim()).toBe(markdown.trim());
    expect(await read({ uri: HULL.url, max_chars: "8" })).toMatchObject({
      body: { markdown: "# Hull", is_cut: true, total_chars: markdown.length },
    });
    expect(await read({ uri: HULL.url, max_chars: "1" })).toMatchObject({
      body: { markdown: "#", is_cut: true },
    });
  });

  test.each([
    [{ uri: "" }, 422, "uri"],
    [{ tenant: "yard" }, 422, "uri"],
    [{ uri: HULL.url, max_chars: "0" }, 422, "max_chars"],
    [{ uri: HULL.url, preview: "yes" }, 422, "preview"],
    [{ uri: "docs://yard/none.md", tenant: "yard" }, 404, "docs://yard/none.md"],
    [{ uri: HULL.url, tenant: "yrad" }, 404, "did you mean yard?"],
    [{ uri: `${HULL.url}#mast` }, 404, "has no section #mast"],
  ])("says what is wrong with %p", async (parameters, status, text) => {
    const answer = await read(parameters as Readonly<Record<string, string>>);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(text);
  });
});

test.each(["/", "/search?q=boat", "/health", "/none", "/docs-search.js", "/openapi.json"])(
  "HEAD %s has the length of GET and no body",
  async (path) => {
    const headers = { authorization: "Bearer all", "accept-encoding": "identity" };
    const body = await (await fetch(`${server.url}${path}`, { headers })).arrayBuffer();
    const head = await fetch(`${server.url}${path}`, { headers, method: "HEAD" });
    // The time that a search took, and the id of a request, have other lengths now and then.
    const difference = Math.abs(Number(head.headers.get("content-length")) - body.byteLength);
    expect(difference).toBeLessThanOrEqual(4);
    expect((await head.arrayBuffer()).byteLength).toBe(0);
  },
);
