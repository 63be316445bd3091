import { describe, expect, test } from "bun:test";
import { articleOf, extract, PROSE } from "../../support/extraction.ts";
import { pageUrl } from "../../support/test-fetcher.ts";

const BODY = `<p>${PROSE}</p><p>${PROSE}</p>`;
const TEXT = `${PROSE.trim()}\n\n${PROSE.trim()}`;

describe("a page", () => {
  const written: Readonly<Record<string, string>> = {
    "as the standard has it": `<!doctype html><html lang="de"><head><title>Mill tides</title></head><body>${BODY}</body></html>`,
    "without end tags": `<!doctype html><html lang="de"><head><title>Mill tides</title><body>${BODY}`,
    "without html, head and body tags": `<!doctype html><title>Mill tides</title>${BODY}`,
    "without a head": `<html lang="de"><title>Mill tides</title><body>${BODY}</body></html>`,
    "without a body": `<html lang="de"><head><title>Mill tides</title></head>${BODY}</html>`,
    "with its content in the head": `<html lang="de"><head><title>Mill tides</title>${BODY}</head></html>`,
    "with several bodies": `<html lang="de"><head><title>Mill tides</title></head><body><p>${PROSE}</p></body><body><p>${PROSE}</p></body></html>`,
    "with something before its root": `<!-- a --><meta charset="utf-8"><html lang="de"><head><title>Mill tides</title></head><body>${BODY}</body></html>`,
    "in upper case": `<!DOCTYPE HTML><HTML LANG="de"><HEAD><TITLE>Mill tides</TITLE></HEAD><BODY>${BODY.replaceAll("p>", "P>")}</BODY></HTML>`,
    "in XHTML": `<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html xmlns="http://www.w3.org/1999/xhtml" xml:lang="de"><head><title>Mill tides</title></head><body>${BODY}</body></html>`,
    "after a byte order mark and blank lines": `\ufeff\n\n<html lang="de"><head><title>Mill tides</title></head><body>${BODY}</body></html>`,
  };
  for (const [what, html] of Object.entries(written)) {
    test(`${what} is read in full`, async () => {
      const article = await articleOf(html);
      expect(article.title).toBe("Mill tides");
      expect(article.text).toBe(TEXT);
      if (/\blang=/i.test(html)) expect(article.lang).toBe("de");
    });
  }

  test("of bare text is its text", async () => {
    expect((await articleOf("just three words")).text).toBe("just three words");
    expect((await articleOf("a &lt; b <i>c</i>")).text).toBe("a < b c");
  });

  test("that opens its root after its first words keeps both", async () => {
    const article = await articleOf(
      `<p>${PROSE}</p><html lang="de"><head><title>Mill tides</title></head><body dir="rtl"><p>${PROSE}</p></body></html>`,
    );
    expect(article.text).toBe(TEXT);
    expect([article.title, article.lang, article.dir]).toEqual(["Mill tides", "de", "rtl"]);
  });

  // Frames are links.
  const FRAMES = ["a", "b"].map((name) => ({
    url: pageUrl(`https://site.test/dir/${name}`),
    text: "",
    isNofollow: false,
  }));
  const empty: Readonly<Record<string, string>> = {
    nothing: "",
    "blank space": " \n\t ",
    "a doctype": "<!doctype html>",
    comments: "<!-- a --><!-- b -->",
    "an unclosed comment": "<!-- never closed <p>words</p>",
    "an unclosed script": "<script>let words = 1; <p>words</p>",
    "an empty skeleton": "<html><head></head><body></body></html>",
    "frames alone": `<html><head><title>Frames</title></head><frameset cols="50%,50%"><frame src="a"><frame src="b"></frameset></html>`,
    "end tags alone": "</div></body></html></p>",
  };
  for (const [what, html] of Object.entries(empty)) {
    test(`of ${what} holds no article`, async () => {
      expect(await extract(html)).toEqual({
        article: null,
        linkPage: null,
        saysMissing: false,
        emptySelection: null,
        links: what === "frames alone" ? FRAMES : [],
        robots: { noindex: false, nofollow: false },
        canonical: null,
        refresh: null,
        noscriptRefresh: null,
        ...(what === "frames alone" && {
          frameset: { title: "Frames", frames: FRAMES.map(({ url }) => url) },
        }),
      });
    });
  }
});
