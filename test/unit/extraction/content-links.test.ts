import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { articleOf, type PageCase, pageWith } from "../../support/extraction.ts";

const linked = (inner: string, page: PageCase = {}) =>
  articleOf(pageWith(inner), { renderings: ["links", "images"], ...page });
const link = (name: string): string => `<a href="/${name}">${name}</a>`;
const image = (name: string): string => `<img src="/${name}.jpg" alt="${name}" width="640" height="480">`;
const at = (name: string): string => `https://site.test/${name}`;

/** Each kind of block that may hold a link, holding these in its order. */
const HOLDERS: Readonly<Record<string, (...inner: readonly string[]) => string>> = {
  paragraph: (...inner) => `<p>See ${inner.join(", then ")} for more.</p>`,
  heading: (...inner) => `<h2>On ${inner.join(" and ")}</h2><p>It is all there.</p>`,
  list: (...inner) => `<ul>${inner.map((one) => `<li>First ${one}</li>`).join("")}</ul>`,
  "nested list": (...inner) =>
    `<ul><li>Outer<ol>${inner.map((one) => `<li>${one} now</li>`).join("")}</ol></li></ul>`,
  quote: (...inner) => `<blockquote><p>They said ${inner.join(" and ")} at noon.</p></blockquote>`,
  table: (...inner) =>
    `<table><tr><th>Name</th><th>Place</th></tr>${inner.map((one) => `<tr><td>${one}</td><td>quay</td></tr>`).join("")}</table>`,
  definitions: (...inner) => `<dl>${inner.map((one) => `<dt>${one}</dt><dd>What it is.</dd>`).join("")}</dl>`,
  details: (...inner) => `<details open><summary>More</summary><p>Here ${inner.join(" or ")}.</p></details>`,
  emphasis: (...inner) => `<p><strong>See <em>${inner.join(" and ")}</em></strong> today.</p>`,
};

describe("the links of the content", () => {
  for (const [kind, holder] of Object.entries(HOLDERS)) {
    test(`are those of a ${kind}, in order`, async () => {
      const { links } = await linked(holder(link("first"), link("middle"), link("last")));
      expect(links).toEqual(["first", "middle", "last"].map((name) => ({ url: at(name), text: name })));
    });
  }

  test("are null unless they are asked for, and empty where there are none", async () => {
    expect(await linked("", { renderings: ["content"] })).toMatchObject({ links: null, images: null });
    expect(await linked("")).toMatchObject({ links: [], images: [], content: null, markdown: null });
  });

  test("stand there as often as in the content", async () => {
    expect((await linked(`<p>${link("a")} and ${link("a")} again.</p>`)).links).toHaveLength(2);
  });

  test("leave out what is no content", async () => {
    const plain = pageWith(`<p>Read ${link("kept")} first.</p>`);
    const page = plain.replace("<body>", '<body><nav><a href="/nav">home</a></nav>');
    expect((await articleOf(page, { renderings: ["links"] })).links?.map(({ url }) => url)).toEqual([
      at("kept"),
    ]);
  });

  test("are named by their image where they have no text", async () => {
    const { links, images } = await linked(`<p>Look: <a href="/big">${image("mill")}</a></p>`);
    expect(links).toEqual([{ url: at("big"), text: "mill" }]);
    expect(images).toEqual([{ url: at("mill.jpg"), alt: "mill", width: 640, height: 480 }]);
  });

  test("stay relative where the page has no address", async () => {
    expect((await linked(`<p>See ${link("a")} now.</p>`, { url: null })).links).toEqual([
      { url: "/a", text: "a" },
    ]);
  });

  test("are those of selected elements, and of a Markdown body", async () => {
    const selected = await linked(`<div id="one"><p>See ${link("in")} now.</p></div>`, { select: "#one" });
    expect(selected.links).toEqual([{ url: at("in"), text: "in" }]);
    const markdown = await articleOf("# T\n\nSee [a](b.md) and ![c](d.png)\n", {
      kind: "markdown",
      renderings: ["links", "images"],
    });
    expect(markdown.links).toEqual([{ url: "https://site.test/dir/b.md", text: "a" }]);
    expect(markdown.images).toMatchObject([{ url: "https://site.test/dir/d.png", alt: "c" }]);
    const text = await articleOf("plain words", {
      kind: "plain",
      renderings: ["links", "images", "structuredData"],
    });
    expect(text).toMatchObject({
      links: [],
      images: [],
      structuredData: { jsonLd: [], microdata: [], openGraph: [] },
    });
  });

  test("are listed in the order of the Markdown, however they are mixed", async () => {
    const kinds = fc.constantFrom(...Object.keys(HOLDERS));
    await fc.assert(
      fc.asyncProperty(fc.array(kinds, { minLength: 1, maxLength: 8 }), async (chosen) => {
        const inner = chosen
          .map((kind, index) => HOLDERS[kind]!(link(`l${index}`), link(`m${index}`)))
          .join("");
        const { links, markdown } = await linked(inner, { renderings: ["links", "markdown"] });
        const written = [...(markdown ?? "").matchAll(/\]\((https:[^)]*)\)/g)].map(([, url]) => url);
        expect(links?.map(({ url }) => url)).toEqual(written as string[]);
        expect(written).toHaveLength(2 * chosen.length);
      }),
      { numRuns: 40 },
    );
  });

  test("say in a warning how many there are when the list ends early", async () => {
    const many = `<ul>${Array.from({ length: 10_050 }, (_, index) => `<li>Item ${link(`n${index}`)}</li>`).join("")}</ul>`;
    const { links, warnings } = await linked(many);
    expect(links).toHaveLength(10_000);
    expect(warnings).toContain("links: the first 10000 of 10050 are listed");
  });
});

describe("the images of the content", () => {
  for (const [kind, holder] of Object.entries(HOLDERS)) {
    test(`are those of a ${kind}, in order`, async () => {
      const { images } = await linked(holder(image("first"), image("last")));
      expect(images?.map(({ url }) => url)).toEqual([at("first.jpg"), at("last.jpg")]);
    });
  }

  test("are none with --no-images", async () => {
    expect((await linked(`<p>${image("a")} stands here.</p>`, { includeImages: false })).images).toEqual([]);
  });

  test("have no size where the page says none", async () => {
    const { images } = await linked(
      `<figure><img src="/a.jpg" alt="A" width="100%"><figcaption>So it is</figcaption></figure>`,
    );
    expect(images).toEqual([{ url: at("a.jpg"), alt: "A", width: null, height: null }]);
  });
});
