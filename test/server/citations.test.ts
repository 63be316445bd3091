import { expect, test } from "bun:test";
import { join } from "node:path";
import { runCommand } from "../support/command.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { serveLocal } from "../support/local.ts";
import { connectMcp } from "../support/mcp.ts";
import { folderTenant, openRegistry, openSearchServer } from "../support/search-server.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const ANIMALS = ["heron", "otter", "badger", "lynx", "marten", "plover"];

type Form = (id: string, title: string, text: string) => string;

/** How documentation says what leads to a heading. */
const FORMS: Readonly<Record<string, Form>> = {
  sphinx: (id, title, text) =>
    `<section id="${id}"><h2>${title}<a class="headerlink" href="#${id}">¶</a></h2>${text}</section>`,
  docbook: (id, title, text) =>
    `<div class="sect1" id="${id}"><div class="titlepage"><h2 class="title">${title}</h2></div>${text}</div>`,
  mdbook: (id, title, text) => `<h2 id="${id}"><a class="header" href="#${id}">${title}</a></h2>${text}`,
  named: (id, title, text) => `<a name="${id}"></a><h2>${title}</h2>${text}`,
  quoted: (id, title, text) => `<h2 id="${id} of &quot;it&quot;">${title}</h2>${text}`,
  bare: (_, title, text) => `<h2>${title}</h2>${text}`,
};

const prose = (animal: string, form: string): string =>
  `The ${animal} of the ${form} rests beside the weir until the miller lifts its gate, and nobody counts it. `.repeat(
    4,
  );

const idOf = (form: string, at: number): string => `${form.toUpperCase()}.part_${at}`;

const pageOf = (form: string): string => {
  const parts = ANIMALS.map((animal, at) =>
    FORMS[form]!(
      idOf(form, at),
      at % 2 === 0 ? "Usage" : `The ${animal} – 1.${at}`,
      `<p>${prose(animal, form)}</p>`,
    ),
  );
  return `<!doctype html><html lang="en"><head><title>${form} manual</title></head>
    <body><main><h1>${form} manual</h1><p>${prose("book", form)}</p>${parts.join("")}</main></body></html>`;
};

const START = `<html lang="en"><head><title>Weirs</title></head><body><main><h1>Weirs</h1><p>${prose("site", "start")}</p>
  <ul>${Object.keys(FORMS)
    .map((form) => `<li>The book <a href="/${form}.html">${form}</a> says more.</li>`)
    .join("")}</ul></main></body></html>`;

const site = forAllTests(
  serveLocal(({ url }) => {
    const form = /\/(\w+)\.html$/.exec(url)?.[1] ?? "";
    const body = form in FORMS ? pageOf(form) : START;
    return new Response(body, { headers: { "content-type": "text/html; charset=utf-8" } });
  }),
);
const directory = forAllTests(temporaryDirectory());
const pages = join(directory.path, "pages");
const run = (...words: readonly string[]) => runCommand(words, { cwd: directory.path });
await run("crawl", site.url.href, "--output-dir", pages, "--rate-limit", "0", "--no-browser", "--quiet");
await run("index", "--dir", pages);

const registry = forAllTests(
  openRegistry({ infrastructure: { allow_index_builds: true }, tenants: [folderTenant("weirs", pages)] }),
);
await registry.build("weirs");
const server = forAllTests(openSearchServer(registry));
const client = forAllTests(await connectMcp(`${server.url}/mcp`));

type Hit = { readonly url: string; readonly anchor: string | null };
const call = async (name: string, args: Record<string, unknown>) => {
  const { content } = await client.callTool({ name, arguments: args });
  return JSON.parse((content as [{ text: string }])[0].text);
};

test.each(Object.keys(FORMS))(
  "%s: hits of a crawl lead to the page's own ids, and these into the page",
  async (form) => {
    const url = `${site.url.origin}/${form}.html`;
    for (const [at, animal] of ANIMALS.entries()) {
      const query = `"the ${animal} of the ${form}"`;
      const { stdout } = await run("search", "--dir", pages, "--json", "--", query);
      const offline: { readonly results: readonly Hit[] } = JSON.parse(stdout);
      const online = await call("root_search", { query, tenant_codename: "weirs" });
      const id = form === "quoted" ? `${idOf(form, at)}%20of%20%22it%22` : idOf(form, at);
      const anchor = form === "bare" ? null : id;
      expect([offline.results[0], online.results[0]]).toMatchObject([
        { url, anchor },
        { url, anchor },
      ]);
      if (anchor === null) continue;
      const { content } = await call("root_fetch", { uri: `${url}#${anchor}`, tenant_codename: "weirs" });
      expect(content).toContain(prose(animal, form).trim());
      expect(content).not.toContain(`The ${ANIMALS[(at + 1) % ANIMALS.length]} of`);
    }
  },
);

test("a page that an earlier version has stored, without ids, has no fragments", async () => {
  const path = join(pages, `127.0.0.1_${site.port}__sphinx.html.md`);
  const stored = await Bun.file(path).text();
  expect(stored).toContain("\nanchors: ");
  await Bun.write(path, stored.replace(/\nanchors: .*/, ""));
  await run("index", "--dir", pages);
  const { stdout } = await run("search", "--dir", pages, "--json", "--", '"the otter of the sphinx"');
  expect(JSON.parse(stdout).results[0].anchor).toBeNull();
});

test("a page that makes new ids for each answer is unchanged, and its newest ids are stored", async () => {
  let answers = 0;
  await using changing = serveLocal(() => {
    const body = pageOf("sphinx").replaceAll("SPHINX.", `R${answers++}.`);
    return new Response(body, { headers: { "content-type": "text/html; charset=utf-8" } });
  });
  const folder = join(directory.path, "changing");
  const flags = ["--max-depth", "0", "--rate-limit", "0", "--no-browser"];
  const crawl = () => run("crawl", changing.url.href, "--output-dir", folder, ...flags);
  await crawl();
  const first = await Bun.file(join(folder, "manifest.json")).json();
  await crawl();
  const second = await Bun.file(join(folder, "manifest.json")).json();
  expect([first.new, second.unchanged, second.changed]).toEqual([1, 1, 0]);
  expect(second.results[0].content_hash).toBe(first.results[0].content_hash);
  const stored = await Bun.file(join(folder, second.results[0].file_path)).text();
  expect(stored).toContain(`:R${answers - 1}.part_1 `);
});
