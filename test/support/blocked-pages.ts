import type { BlockKind } from "../../src/base/failure.ts";
import type { AnswerFacts } from "../../src/extraction/types.ts";

/** A page that stands in for another, written after the structure of real ones, in words of its own. */
export type BlockedPage = {
  readonly kind: BlockKind;
  readonly html: string;
  /** The title that an article about the matter may have, too. */
  readonly title: string;
  readonly status?: number;
  readonly headers?: AnswerFacts["headers"];
  /** Where the site has led; without it the page answers at the address that was asked for. */
  readonly path?: string;
};

type Parts = { readonly title: string; readonly head?: string; readonly body: string };

const pageOf = ({ title, head = "", body }: Parts): string =>
  `<!doctype html><html lang="en"><head><title>${title}</title>${head}</head><body>${body}</body></html>`;

const NOINDEX = `<meta name="robots" content="noindex,nofollow">`;
const cloudflare = (title: string, says: string): BlockedPage => ({
  kind: "challenge",
  title,
  status: 403,
  headers: { server: "cloudflare", "cf-mitigated": "challenge" },
  html: pageOf({
    title,
    head: `${NOINDEX}<meta http-equiv="refresh" content="390">`,
    body: `<div class="main-wrapper"><noscript><div>Scripts and cookies have to be on.</div></noscript><p>${says}</p></div><script>window._cf_chl_opt={cRay:"8f1a2b3c4d5e6f70"};var a=document.createElement("script");a.src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1";</script>`,
  }),
});
const preview = (offer: string, wall = ""): BlockedPage => {
  const title = "The harbour that moved";
  const data = `<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","headline":"${title}","isAccessibleForFree":false,"hasPart":{"@type":"WebPageElement","isAccessibleForFree":"False","cssSelector":".rest"}}</script>`;
  const lead =
    "<p>When the river took its new bed, the harbour stayed behind, and with it the people who had lived from its boats for three hundred years.</p><p>Nobody had asked them whether they wanted to move, and at first nobody did.</p>";
  return {
    kind: "paywall",
    title,
    html: pageOf({
      title,
      head: data,
      body: `<main><article><h1>${title}</h1>${lead}</article>${wall}<div><p>${offer}</p></div></main>`,
    }),
  };
};
const login = (title: string, body: string): Omit<BlockedPage, "kind"> => ({
  title,
  html: pageOf({ title, body: `<h1>${title}</h1><form method="post" action="/session">${body}</form>` }),
});
const PASSWORD = `<label>Name <input name="user"></label><label>Word <input type="password" name="word"></label><button>Go on</button>`;

export const BLOCKED_PAGES: Readonly<Record<string, BlockedPage>> = {
  "Cloudflare's challenge": cloudflare("Just a moment...", "mill.test looks at the connection first."),
  "Cloudflare's challenge in German": cloudflare("Einen Moment …", "mill.test prüft die Verbindung."),
  "Cloudflare's challenge with the status of a page": {
    ...cloudflare("Just a moment...", "mill.test looks at the connection first."),
    status: 200,
    headers: {},
  },
  "Cloudflare's refusal": {
    kind: "challenge",
    title: "Attention Required! | Cloudflare",
    status: 403,
    headers: { server: "cloudflare" },
    html: pageOf({
      title: "Attention Required! | Cloudflare",
      head: NOINDEX,
      body: `<h1>Sorry, you have been blocked</h1><p>The guard of this site has turned the request away.</p><p>Ray ID: 8f1a2b3c4d5e6f70 · Your IP: 192.0.2.7</p>`,
    }),
  },
  "DataDome's captcha": {
    kind: "challenge",
    title: "mill.test",
    status: 403,
    headers: { server: "DataDome", "x-datadome": "protected" },
    html: pageOf({
      title: "mill.test",
      body: `<p id="cmsg">Scripts have to be on, and no blocker.</p><script>var dd={"rt":"c","cid":"AHrl","hsh":"7A1","host":"geo.captcha-delivery.com"}</script><script src="https://ct.captcha-delivery.com/c.js"></script>`,
    }),
  },
  "PerimeterX's button": {
    kind: "challenge",
    title: "Access to this page has been denied",
    status: 403,
    html: pageOf({
      title: "Access to this page has been denied",
      head: NOINDEX,
      body: `<h1>Press and hold</h1><div id="px-captcha"></div><p>Hold the button until it is full. Reference ID 1c2d3e4f-aa11-11ee</p><script>window._pxAppId="PX1234";</script><script src="https://captcha.px-cdn.net/PX1234/captcha.js"></script>`,
    }),
  },
  "Akamai's refusal": {
    kind: "challenge",
    title: "Access Denied",
    status: 403,
    headers: { server: "AkamaiGHost" },
    html: pageOf({
      title: "Access Denied",
      body: `<h1>Access Denied</h1><p>This server does not let you have "http://mill.test/".</p><p>Reference #18.2d3e1f60.1700000000.1a2b3c4d</p>`,
    }),
  },
  "Akamai's interstitial": {
    kind: "challenge",
    title: "mill.test",
    status: 200,
    html: pageOf({
      title: "mill.test",
      head: `${NOINDEX}<meta http-equiv="refresh" content="5; URL='/page?bm-verify=AAQAAAAE'">`,
      body: `<script>var i=1;xhr.open("POST","/_sec/verify?provider=interstitial",false)</script>`,
    }),
  },
  "the challenge of AWS": {
    kind: "challenge",
    title: "",
    status: 202,
    headers: { "x-amzn-waf-action": "challenge" },
    html: pageOf({
      title: "",
      body: `<div id="challenge-container"></div><script>window.gokuProps={"key":"AQID"}</script><script src="https://a1b2.edge.sdk.awswaf.com/a1b2/challenge.js"></script>`,
    }),
  },
  "Imperva's frame": {
    kind: "challenge",
    title: "Request unsuccessful",
    html: pageOf({
      title: "Request unsuccessful",
      head: NOINDEX,
      body: `<iframe id="main-iframe" src="/_Incapsula_Resource?CWUDNSAI=23&incident_id=1"></iframe><p>Incapsula incident ID: 1000000000000000-200000000000000000</p>`,
    }),
  },
  "an interstitial with hCaptcha": {
    kind: "challenge",
    title: "Are you a human?",
    html: pageOf({
      title: "Are you a human?",
      body: `<form method="post"><div class="h-captcha" data-sitekey="10000000"></div><button>Go on</button></form><script src="https://js.hcaptcha.com/1/api.js" async></script>`,
    }),
  },
  "an interstitial with reCAPTCHA": {
    kind: "challenge",
    title: "Sorry",
    status: 403,
    html: pageOf({
      title: "Sorry",
      body: `<form action="index" method="post"><div class="g-recaptcha" data-sitekey="6Lf"></div></form><p>Your network sends more than people do.</p><script src="https://www.google.com/recaptcha/api.js"></script>`,
    }),
  },
  "a check that counts in the browser": {
    kind: "challenge",
    title: "Making sure you're not a bot!",
    html: pageOf({
      title: "Making sure you're not a bot!",
      body: `<h1>Making sure you're not a bot!</h1><p>The site counts for a moment.</p><script src="/.within.website/x/cmd/anubis/static/js/main.mjs" type="module"></script>`,
    }),
  },
  "a consent wall at an address of its own": {
    kind: "consent",
    title: "Before you go on",
    path: "https://consent.mill.test/v2/collectConsent?sessionId=1",
    html: pageOf({
      title: "Before you go on",
      body: `<h1>The mill is part of the River family</h1><p>We and 230 partners keep cookies on your device, to count readers and to choose what is shown to them.</p><form method="post"><button name="agree">Accept all</button><button name="reject">Manage settings</button></form>`,
    }),
  },
  "a consent wall at the page's address": {
    kind: "consent",
    title: "We value your privacy",
    html: pageOf({
      title: "We value your privacy",
      head: NOINDEX,
      body: `<h1>We value your privacy</h1><p>Read the mill with advertising, or pay for it without.</p><button>Accept and continue</button><button>Pay</button>`,
    }),
  },
  "a login page after a redirect": {
    kind: "login",
    ...login("Sign in to the mill", PASSWORD),
    path: "https://mill.test/users/sign_in",
  },
  "a login page of another site that asks for the name first": {
    kind: "login",
    ...login("Sign in", `<label>Mail <input type="email" name="name"></label><button>Next</button>`),
    path: "https://accounts.example/signin/identifier?continue=x",
  },
  "a login page with a status": { kind: "login", ...login("Log in", PASSWORD), status: 401 },
  "a preview with an offer": preview("Subscribe to continue reading, from 2 a month."),
  "a preview with an offer in German": preview("Jetzt weiterlesen, vier Wochen für einen Euro."),
  "a preview with a named wall": preview("Four weeks for one.", `<div class="article-paywall"></div>`),
  "a block of Europe": {
    kind: "region",
    title: "451: Unavailable due to legal reasons",
    status: 451,
    html: pageOf({
      title: "451: Unavailable due to legal reasons",
      body: `<h1>451: Unavailable due to legal reasons</h1><p>You come from a country belonging to the European Economic Area, for which this paper has no rules yet.</p>`,
    }),
  },
  "a block of a country": {
    kind: "region",
    title: "Not available in your country",
    path: "https://mill.test/geo-blocked",
    html: pageOf({
      title: "Not available in your country",
      body: `<h1>Not available in your country</h1><p>We are sorry.</p>`,
    }),
  },
  "a rate page with the status of a page": {
    kind: "rate",
    title: "Too Many Requests",
    html: pageOf({
      title: "Too Many Requests",
      body: `<h1>Too Many Requests</h1><p>Please try again later.</p>`,
    }),
  },
  "a rate page with a status": {
    kind: "rate",
    title: "Access denied | mill.test is rate limited",
    status: 403,
    headers: { "retry-after": "60" },
    html: pageOf({
      title: "Access denied | mill.test is rate limited",
      body: `<h1>You are being rate limited</h1><p>The owner of this site limits how often you may ask.</p>`,
    }),
  },
};

const PROSE =
  "<p>A site that is asked more than it can bear puts a page before its own, and whoever comes has to show that they are a person, are old enough, have paid, or have said yes to cookies.</p>";

/** The page with an article of its own in it: what the makers put into ordinary pages is no sign. */
export const withArticle = ({ html }: BlockedPage): string =>
  html.replace("<body>", `<body><main><article>${PROSE.repeat(14)}</article></main>`);

/** A short article about the matter on an ordinary site, which shows the markup as code. */
export function aboutIt({ title, html }: BlockedPage): string {
  const code = html.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const links = ["home", "guides", "glossary", "about", "contact", "terms"];
  const nav = links.map((name) => `<li><a href="/${name}">${name}</a></li>`).join("");
  return pageOf({
    title: title || "A page without a title",
    body: `<nav><ul>${nav}</ul></nav><main><article><h1>${title || "A page without a title"}</h1>${PROSE.repeat(2)}<pre><code>${code}</code></pre></article></main>`,
  });
}
