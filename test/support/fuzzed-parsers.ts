import { createTextListReader } from "../../src/crawler/sitemap/read-sitemaps.ts";
import { createXmlReader } from "../../src/crawler/sitemap/xml.ts";
import { extractBody } from "../../src/extraction/index.ts";
import { extractHtml } from "../../src/extraction/pool.ts";
import { RENDERINGS } from "../../src/extraction/types.ts";
import { decodeText, isAllowed } from "../../src/fetching/index.ts";
import { parseRobots } from "../../src/fetching/robots/robots.ts";
import { createCookieSession } from "../../src/fetching/session/cookies.ts";
import { parseFrontMatter } from "../../src/pages/index.ts";
import { parsePage } from "../../src/pages/page.ts";
import { Analyser } from "../../src/search/analysis/analyser.ts";
import { DocumentAnalyser } from "../../src/search/document/analyse.ts";
import type { TextKind } from "../../src/search/reading/kinds.ts";
import { readDocuments } from "../../src/search/reading/read-document.ts";
import { DEFAULT_EXTRACTION, readDeployment } from "../../src/settings/index.ts";
import { docsUrl } from "../../src/urls/index.ts";
import { answerMcpBody, MCP_BODIES } from "./fuzzed-mcp.ts";
import { readSegmentBytes, smallSegment } from "./search/damaged-segment.ts";

/** A parser of foreign bytes, and texts from which hostile ones are made. */
export type FuzzedParser = {
  readonly seeds: readonly (string | Uint8Array)[];
  /** May throw a `Failure`; anything else is a fault. */
  parse(bytes: Uint8Array): unknown;
};

const decoder = new TextDecoder();
const ofText =
  (parse: (text: string) => unknown) =>
  (bytes: Uint8Array): unknown =>
    parse(decoder.decode(bytes));

const MARKDOWN =
  '---\ntitle: A\nurl: https://h.test/a\n---\n# A `b` [c](d "e") <b hidden>x</b>\n\n- 1. > a\n\n|a|b|\n|-|-|\n|c|d|\n\n```js\nx\n```\n\n[^1]: n\n\n<!-- c --> &amp; \\* ~~s~~ $x$ ![i](j)\n';
const MDX =
  "import A from 'a'\n\n# B {/*b*/}\n\n<A c='d' e={f} {...g}>\n  - h {'i'}\n</A>\n\nexport const j = {\n\n}\n";
const RST =
  "Title\n=====\n\n.. code-block:: py\n   :linenos:\n\n   x = 1\n\nText::\n\n  y\n\n``lit``\n\n:a: b\n\n- c\n\n+-+-+\n|d|e|\n+=+=+\n|f|g|\n+-+-+\n\n= =\nh i\n= =\n\n.. list-table::\n\n   * - j\n\n.. note:: :k:`l <m>` `n`_ |o| [1]_\n\n.. _n: p\n.. |o| replace:: q\n.. [1] r\n\nterm\n  s\n";
const ADOC =
  "= Title\n:a: b\n\n[source,ruby]\n----\nx\n----\n\n== Part\n\n* *a* _b_ `c` {a} <<d,e>> link:f[g]\n+\n====\nh\n====\n.. i\n\nj:: k\n\n[NOTE]\n.l\n====\nm\n====\n\n|===\n|n 2+|o\n\na|p |q\n|===\n\n++++\n<b hidden>r</b>\n++++\n";
const MAN =
  '.TH A 1\n.SH NAME\na \\- b\n.TP\n\\fB\\-c\\fR "d"\ne\n.RS\n.IP \\(bu 2\nf\n.RE\n.nf\ng\n.fi\n.TS\nl l.\nh\ti\n.TE\n.if n \\{\n.\\}\n.UR j\nk\n.UE\n';
const MDOC =
  ".Dt A 1\n.Sh NAME\n.Nm a\n.Nd b\n.Op Fl c Ar d\n.Bl -tag\n.It Fl e\nf\n.El\n.Bd -literal\ng\n.Ed\n";
const NOTEBOOK = JSON.stringify({
  cells: [
    { cell_type: "markdown", source: ["# A\n", "![b](data:image/png;base64,AA==)"] },
    { cell_type: "code", source: "%%bash\nls", outputs: [{ output_type: "stream", text: ["\u001b[1mc"] }] },
  ],
  metadata: { kernelspec: { language: "python" } },
});
const OPENAPI =
  "openapi: 3.1.0\ninfo: {title: A, version: '1'}\npaths:\n  /a/{b}:\n    get:\n      parameters: [{name: b, in: path, schema: {$ref: '#/components/schemas/B'}}]\n      responses: {200: {description: c, content: {d: {example: [1]}}}}\ncomponents: {schemas: {B: &b {properties: {e: {enum: [f]}}, allOf: [*b]}}}\n";
const ASYNCAPI =
  '{"asyncapi":"3.0.0","channels":{"a":{"address":"b","messages":{"c":{"$ref":"#/components/messages/c"}}}},"operations":{"d":{"action":"send","channel":{"$ref":"#/channels/a"}}},"components":{"messages":{"c":{"payload":{"properties":{"e":{}}}}}}}';
const HTML =
  '<!doctype html><html lang=en><head><title>A &amp; b</title><meta name=robots content=noindex><style>.a{display:none}</style><script type=application/ld+json>{"@type":"Article"}</script></head><body><main><h1>A</h1><p class=a>b <a href=\'/c?d=e\'>f</a><table><tr><th>g<td>h</table><pre><code>i</code></pre><ul><li>j<dl><dt>k<dd>l</dl><svg/><math><mi>x</mi></math><template><p>m</template><details><summary>n</summary></details></main></body></html>';
const SITEMAP =
  "<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>https://h.test/a?b&amp;c</loc><lastmod>2026-01-02</lastmod></url><!-- d --></urlset>";
const DEPLOYMENT = JSON.stringify({
  infrastructure: { mcp_host: "127.0.0.1", mcp_port: 1 },
  tenants: [{ source_type: "filesystem", codename: "quay", docs_name: "Quay", docs_root_dir: "/d" }],
});

function readAndAnalyse(text: string, kind: TextKind): void {
  const file = { url: docsUrl("t", "d"), path: "d", text, kind, mayNameItself: true };
  const documents = new DocumentAnalyser(new Analyser("default"));
  for (const source of readDocuments(file)) documents.analyse(source);
}

const EXTRACTION = { ...DEFAULT_EXTRACTION, renderings: RENDERINGS };

/** Every parser that reads bytes of strangers, by name. */
export const FUZZED_PARSERS: Readonly<Record<string, FuzzedParser>> = {
  html: { seeds: [HTML], parse: ofText((text) => extractHtml(text, null, EXTRACTION)) },
  "markdown page": {
    seeds: [MARKDOWN],
    parse: ofText((body) => extractBody({ kind: "markdown", body, url: null, options: EXTRACTION })),
  },
  "markdown document": { seeds: [MARKDOWN], parse: ofText((text) => readAndAnalyse(text, "markdown")) },
  "mdx document": { seeds: [MARKDOWN, MDX], parse: ofText((text) => readAndAnalyse(text, "mdx")) },
  "rst document": { seeds: [RST], parse: ofText((text) => readAndAnalyse(text, "rst")) },
  "asciidoc document": { seeds: [ADOC], parse: ofText((text) => readAndAnalyse(text, "asciidoc")) },
  "manual page": { seeds: [MAN, MDOC], parse: ofText((text) => readAndAnalyse(text, "man")) },
  "notebook document": { seeds: [NOTEBOOK], parse: ofText((text) => readAndAnalyse(text, "notebook")) },
  "api document": { seeds: [OPENAPI, ASYNCAPI], parse: ofText((text) => readAndAnalyse(text, "api")) },
  "front matter": {
    seeds: [MARKDOWN, "---\na: &x [1, {b: 'c'}]\n? d\n: |\n  e\n...\n---\n"],
    parse: ofText((text) => [parseFrontMatter(text), parsePage(text)]),
  },
  sitemap: {
    seeds: [SITEMAP, "https://h.test/a\nhttps://h.test/b\n"],
    parse: ofText((text) => {
      for (const reader of [createXmlReader("s"), createTextListReader("s")]) {
        for (let at = 0; at < text.length; at += 50) reader.read(text.slice(at, at + 50));
        reader.finish();
        reader.take();
      }
    }),
  },
  robots: {
    seeds: [
      "User-agent: *\nDisallow: /a*b$\nAllow: /\nCrawl-delay: 1.5\nSitemap: https://h.test/s.xml # c\n",
    ],
    parse: ofText((text) => isAllowed(parseRobots(text), "bot", "https://h.test/a%20b?c=d")),
  },
  cookies: {
    seeds: [
      "a=b; Path=/; Domain=h.test; Expires=Wed, 21 Oct 2037 07:28:00 GMT; Secure; HttpOnly; SameSite=None",
    ],
    parse: ofText((text) => {
      const session = createCookieSession();
      session.store(new URL("https://www.h.test/a"), text.split("\n"));
      return [session.headerFor(new URL("https://www.h.test/a/b")), session.list()];
    }),
  },
  charset: {
    seeds: [
      "<meta charset=utf-16>a\u00e9\u4e2d",
      "\ufeffa",
      "<meta http-equiv=content-type content='text/html; charset=gbk'>",
    ],
    parse: (bytes) => decodeText(bytes, bytes.length % 2 === 0 ? null : "text/html; charset=shift_jis"),
  },
  "deployment.json": {
    seeds: [DEPLOYMENT],
    parse: ofText((text) => readDeployment(text, { name: "d.json", directory: "/d" })),
  },
  "MCP body": { seeds: MCP_BODIES, parse: ofText(answerMcpBody) },
  "segment file": { seeds: [await smallSegment()], parse: readSegmentBytes },
};
