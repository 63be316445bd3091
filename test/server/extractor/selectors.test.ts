import { expect, test } from "bun:test";
import { startExtractor } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveSite } from "../../support/site.ts";

const server = forAllTests(await startExtractor());
const site = forAllTests(await serveSite());

const article = (): string => `${site.origin}/news/borrowed-tools.html`;

test("a selector that is none is 422", async () => {
  const options = { select: "p[", exclude: ["aside", "::::"] };
  const response = await server.post("/", { url: article(), options });
  expect(response.status).toBe(422);
  expect(((await response.json()) as { readonly errors: unknown }).errors).toEqual([
    { path: "options.select", message: 'options.select: "p[" is not a CSS selector' },
    { path: "options.exclude.1", message: 'options.exclude.1: "::::" is not a CSS selector' },
  ]);
});

test.each<[object, string]>([
  [
    { fields: ["titel"] },
    'fields.0: "titel" is not one of its values; did you mean title? They are url, final_url,',
  ],
  [{ fields: [7] }, "fields.0: a value of type number is not one of its values: they are url, final_url,"],
  [
    { options: { engine: "readabilty" } },
    'options.engine: must be one of article-extractor, readability, not "readabilty"; did you mean readability?',
  ],
])("the answer to %j says what was meant and which values there are", async (body, message) => {
  const response = await server.post("/", { url: article(), ...body });
  expect(response.status).toBe(422);
  const { detail } = (await response.json()) as { readonly detail: string };
  expect(detail).toStartWith(`the body is not valid: ${message}`);
});

test("a selector that matches nothing is named", async () => {
  const url = article();
  const response = await server.post("/", { url, options: { select: ".nowhere" } });
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({
    code: "no_content",
    detail: `no element shown on ${url} matches the selector ".nowhere"`,
  });
  const excluding = await server.post("/", { url, options: { exclude: [".nowhere"] } });
  expect(((await excluding.json()) as Record<string, unknown>).warnings).toEqual([
    'No element matches the excluded selector ".nowhere"',
  ]);
});

test("the blocks of a page are told in the documented form, with selectors that leave them out", async () => {
  const url = `${site.origin}/docs/forecast.html`;
  const { blocks } = (await (await server.post("/", { url, fields: ["blocks"] })).json()) as {
    readonly blocks: readonly { text: string; kept: boolean; reason: string; selector: string }[];
  };
  const { components } = (await (await server.get("/openapi.json")).json()) as {
    readonly components: { readonly schemas: { readonly PageBlock: { readonly required: string[] } } };
  };
  const fields = components.schemas.PageBlock.required.sort();
  for (const block of blocks) expect(Object.keys(block).sort()).toEqual(fields);
  expect(new Set(blocks.map(({ kept }) => kept))).toEqual(new Set([true, false]));
  const out = blocks.find(({ reason }) => reason === "likely");
  const rest = await server.post("/", { url, fields: ["text"], options: { exclude: [out?.selector] } });
  expect(((await rest.json()) as { readonly text: string }).text).not.toContain(out?.text ?? "");
});
