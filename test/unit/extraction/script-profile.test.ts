import { describe, expect, test } from "bun:test";
import { type Extraction, extractBody } from "../../../src/extraction/index.ts";
import { DEFAULT_EXTRACTION } from "../../../src/settings/index.ts";
import { pageUrl } from "../../support/test-fetcher.ts";

type Parts = {
  readonly body?: string;
  readonly head?: string;
  readonly title?: string;
  readonly path?: string;
};

async function scriptProfileOf({
  body = "",
  head = "",
  title = "Intro",
  path = "/guide/intro.html",
}: Parts): Promise<NonNullable<Extraction["scripts"]>> {
  const words = `Words about ${title}. `.repeat(20);
  const html = `<!doctype html><title>${title} | Site</title><script src=/site.js></script>${head}<main><h1>${title}</h1><p>${words}</p>${body}</main>`;
  const options = { ...DEFAULT_EXTRACTION, renderings: [] };
  const url = pageUrl(`https://site.example${path}`);
  const { scripts } = await extractBody({ kind: "html", body: html, url, options, tellsScripts: true });
  if (!scripts) throw new Error("no scripts");
  return scripts;
}

const name = async (parts: Parts): Promise<string> => (await scriptProfileOf(parts)).name;
const other = { title: "Weirs and gates", path: "/guide/part/weirs" };

describe("pages have one script profile", () => {
  test.each([
    ["whatever they say", "<p>Other words.</p>", "<ul><li>A list</ul>"],
    [
      "whatever numbers their scripts hold",
      "<script>start(12, 'v3')</script>",
      "<script>start(7, 'v4')</script>",
    ],
    ["with other data for search engines", `<script type=application/ld+json>{"a":"b"}</script>`, ""],
    ["with other frames of numbers in names", "<div id=list-1></div>", "<div id=list-22></div>"],
    ["with other marks and icons", "<a id=one></a><i class=icon></i>", "<span id=two></span>"],
  ])("%s", async (_, one, two) => {
    expect(await name({ body: one })).toBe(await name({ body: two }));
  });

  test("whose scripts name the page itself", async () => {
    const here = `<script>track("/guide/intro.html", "intro", "Intro", "https://site.example/guide/intro.html")</script>`;
    const there = `<script>track("/guide/part/weirs", "weirs", "Weirs and gates", "https://site.example/guide/part/weirs")</script>`;
    expect(await name({ body: here })).toBe(await name({ body: there, ...other }));
  });
});

describe("pages have different script profiles", () => {
  test.each([
    ["another script", "<script src=/more.js></script>"],
    ["another inline script", "<script>more()</script>"],
    ["another text in the same inline script", "<script>show('other words')</script>"],
    ["other data for scripts", `<script type=application/json>{"words":"here"}</script>`],
    ["an empty container", "<div class=late></div>"],
    ["an empty list", "<ul id=late></ul>"],
    ["containers in an empty one", "<section><div><span class=wheel></span></div></section>"],
    ["a placeholder", "<section class=late>Loading…</section>"],
    ["a directive of a library", "<p data-text=late></p>"],
    ["an element of its own", "<late-words>now</late-words>"],
    ["hidden content", "<div hidden id=more>More words</div>"],
    ["a frame", "<iframe src=/part.html></iframe>"],
    ["an event handler", "<img onerror=more()>"],
    ["a template", "<template id=t>Other words</template>"],
  ])("with %s", async (_, body) => {
    const made = await scriptProfileOf({ body });
    expect(made.name).not.toBe(await name({ body: "<script>show('words')</script>" }));
    expect(made.name).not.toBe(await name({}));
    expect(made.runs).toBe(true);
  });

  test("with another kind of body", async () => {
    expect(await name({ head: "<body class=app>" })).not.toBe(await name({ head: "<body class=text>" }));
  });
});

test("a page without scripts and frames runs nothing", async () => {
  const options = { ...DEFAULT_EXTRACTION, renderings: [] };
  const run = async (body: string) =>
    (await extractBody({ kind: "html", body, url: null, options, tellsScripts: true })).scripts?.runs;
  expect(await run("<p>Words</p><div></div><script type=application/ld+json>{}</script>")).toBe(false);
  expect(await run("<p>Words</p><script>1</script>")).toBe(true);
  expect(await run("<body onload=start()><p>Words</p>")).toBe(true);
});

test("only what stands empty awaits content", async () => {
  expect((await scriptProfileOf({ body: "<div class=late> <!-- soon --> </div>" })).awaits).toBe(true);
  expect((await scriptProfileOf({ body: "<div hidden><p>Words</p></div>" })).awaits).toBe(false);
  expect((await scriptProfileOf({ body: "<div><img src=a.png></div>" })).awaits).toBe(false);
});

test("it is told only where it is asked for", async () => {
  const options = { ...DEFAULT_EXTRACTION, renderings: [] };
  expect(await extractBody({ kind: "html", body: "<p>a</p>", url: null, options })).not.toHaveProperty(
    "scripts",
  );
});

test("documents that show the same words are told by them, however they are written down", async () => {
  const { words } = await scriptProfileOf({ body: "<ul><li>One<li>Two</ul>" });
  expect((await scriptProfileOf({ body: "<ul>\n  <li>One</li>\n  <li>Two</li>\n</ul>" })).words).toBe(words);
  expect((await scriptProfileOf({ body: "<ul><li>One<li>Three</ul>" })).words).not.toBe(words);
});
