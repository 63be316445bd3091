import { describe, expect, test } from "bun:test";
import { extractBody } from "../../../src/extraction/index.ts";
import { aboutIt, BLOCKED_PAGES, type BlockedPage, withArticle } from "../../support/blocked-pages.ts";
import { OPTIONS, pageUrl } from "../../support/extraction.ts";
import { consentWall, PREVIEWS, WHOLE } from "../../support/previews.ts";

const ASKED = pageUrl("https://mill.test/page");

type Answered = Pick<BlockedPage, "html" | "status" | "headers" | "path">;

async function blockIn({ html, status = 200, headers = {}, path }: Answered) {
  const url = path === undefined ? ASKED : pageUrl(path);
  const answer = { status, headers, asked: ASKED, url };
  const task = { kind: "html", body: html, url, options: OPTIONS, answer } as const;
  return (await extractBody(task)).blocked ?? null;
}

describe("what stands in for a page:", () => {
  for (const [name, page] of Object.entries(BLOCKED_PAGES)) {
    test(name, async () => {
      const block = await blockIn(page);
      expect(block?.kind).toBe(page.kind);
      expect(block?.signs.length).toBeGreaterThan(1);
    });

    test(`${name}, but with an article in it, is a page`, async () => {
      const { path: _, ...own } = page;
      expect(await blockIn({ ...own, status: 200, headers: {}, html: withArticle(page) })).toBeNull();
    });

    test(`${name}, as the matter of a short article, is a page`, async () => {
      expect(await blockIn({ html: aboutIt(page) })).toBeNull();
    });
  }
});

const form = (inner: string): string => `<form method="post">${inner}<button>Send</button></form>`;
const short = (title: string, body: string, head = ""): string =>
  `<!doctype html><html><head><title>${title}</title>${head}</head><body><h1>${title}</h1>${body}</body></html>`;

const ORDINARY: Readonly<Record<string, Answered>> = {
  "a form with a captcha below its fields": {
    html: short("Write to us", form(`<input name="mail"><div class="g-recaptcha" data-sitekey="6L"></div>`)),
  },
  "a short page behind Cloudflare, with its script": {
    headers: { server: "cloudflare" },
    html: short(
      "Hours",
      `<p>Open on Mondays.</p><script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>`,
    ),
  },
  "a short page that Imperva watches and nobody is to index": {
    html: short(
      "Hours",
      `<p>Open on Mondays.</p><script src="/_Incapsula_Resource?SWJIYLWA=719d34d3"></script>`,
      `<meta name="robots" content="noindex">`,
    ),
  },
  "a short page about one more step": {
    html: short(
      "One more step towards the river",
      "<p>The mill has a wheel again.</p>",
      `<meta name="robots" content="noindex">`,
    ),
  },
  "a short page about tides that is not to be indexed": {
    html: short("Tides", "<p>The tide is high at noon.</p>", `<meta name="robots" content="noindex">`),
  },
  "a short article with a login in its head": {
    html: short("Tides", `${form(`<input type="password">`)}<p>The tide is high at noon.</p>`),
  },
  "an ordinary refusal": {
    status: 403,
    headers: { server: "nginx" },
    html: short("403 Forbidden", "<hr>nginx"),
  },
  "an ordinary status 451": { status: 451, html: short("451", "<p>Removed.</p>") },
  "a page that is missing": { status: 404, html: BLOCKED_PAGES["a rate page with a status"]?.html ?? "" },
  "a short notice that is free to read": {
    html: short(
      "Tides",
      "<p>The tide is high at noon. Subscribe to continue reading our letters.</p>",
      `<script type="application/ld+json">{"@type":"NewsArticle","headline":"Tides","isAccessibleForFree":true}</script>`,
    ),
  },
  "a box that asks for consent beside a short page": {
    html: short(
      "Tides",
      `<p>The tide is high at noon.</p><div><p>We value your privacy.</p><button>Accept all</button></div>`,
    ),
  },
};

describe("an ordinary page is none of it:", () => {
  for (const [name, page] of Object.entries(ORDINARY))
    test(name, async () => {
      expect(await blockIn(page)).toBeNull();
    });
});

test("whoever asks for a login page, or for a consent page, gets it", async () => {
  for (const name of ["a login page after a redirect", "a consent wall at an address of its own"]) {
    const { html = "", path = "" } = BLOCKED_PAGES[name] ?? {};
    const url = pageUrl(path);
    const answer = { status: 200, headers: {}, asked: url, url };
    expect(
      (await extractBody({ kind: "html", body: html, url, options: OPTIONS, answer })).blocked,
    ).toBeUndefined();
  }
});

describe("a preview that does not say that it is not free:", () => {
  for (const [name, html] of Object.entries(PREVIEWS))
    test(name, async () => {
      const block = await blockIn({ html });
      expect(block?.kind).toBe("paywall");
      expect(block?.signs.filter((sign) => !sign.endsWith(" words")).length).toBeGreaterThan(1);
    });

  // Without the offer, and without the class and the dots that show a cut, nothing is left of it.
  test("one sign alone is none", async () => {
    const dots = PREVIEWS["French, dots and an offer"] ?? "";
    expect(
      await blockIn({ html: dots.replace("Abonnez-vous pour lire la suite.", "Abonnez-vous.") }),
    ).toBeNull();
    expect(await blockIn({ html: dots.replace("année...", "année.") })).toBeNull();
    const fade = PREVIEWS["a class that fades, and an offer"] ?? "";
    expect(await blockIn({ html: fade.replace("paywall-fade", "paywall-text") })).toBeNull();
  });
});

describe("a whole text is none:", () => {
  for (const [name, html] of Object.entries(WHOLE))
    test(name, async () => {
      expect(await blockIn({ html })).toBeNull();
    });
});

describe("a consent wall", () => {
  for (const [name, html] of Object.entries(consentWall(true)))
    test(`alone is one: ${name}`, async () => {
      expect((await blockIn({ html }))?.kind).toBe("consent");
    });

  for (const [name, html] of Object.entries(consentWall(false)))
    test(`over an article leaves the article: ${name}`, async () => {
      const task = { kind: "html", body: html, url: ASKED, options: OPTIONS } as const;
      const { blocked, article } = await extractBody(task);
      expect(blocked).toBeUndefined();
      expect(article?.text).toContain("the first storms of November");
      expect(article?.text).not.toContain("230 partners");
    });
});
