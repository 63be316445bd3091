import { parseHTML } from "linkedom";
import markdownIt from "markdown-it";
import markdownItFootnote from "markdown-it-footnote";
import { Marked } from "marked";
import markedFootnote from "marked-footnote";

/** Renders Markdown with two programs that share no code. */
export const RENDERERS: Readonly<Record<string, (markdown: string) => string>> = {
  marked: (markdown) => marked.parse(markdown, { async: false }),
  "markdown-it": (markdown) => strict.render(markdown),
};
const marked = new Marked({ gfm: true }).use(markedFootnote());
const strict = markdownIt({ html: true, linkify: false }).use(markdownItFootnote);

/** What a reader of a document finds: its words without space between, and its parts in order. */
export type Shape = {
  readonly text: string;
  readonly headings: readonly string[];
  readonly items: number;
  readonly tables: readonly string[];
  readonly code: readonly string[];
  readonly links: readonly string[];
  readonly images: readonly string[];
};

/** The shape of Markdown as a renderer shows it. */
export function shapeOfMarkdown(
  markdown: string,
  render: (markdown: string) => string,
  hasFormulas: boolean,
): Shape {
  return shapeOf(bodyOf(render(hasFormulas ? maskFormulas(markdown) : markdown)));
}

/** The shape that the Markdown of our HTML ought to have. */
export function shapeOfHtml(html: string): Shape {
  const body = bodyOf(html);
  for (const formula of [...body.querySelectorAll("code.math-inline")]) formula.replaceWith("FORMULA");
  for (const formula of [...body.querySelectorAll("code.math-display")]) {
    (formula.parentElement ?? formula).replaceWith("FORMULA");
  }
  for (const pre of [...body.querySelectorAll("pre[data-label]")])
    pre.before(pre.getAttribute("data-label") ?? "");
  // Markdown says the kind by its mark.
  for (const title of [...body.querySelectorAll(".admonition-title")]) {
    const kind = title.parentElement?.getAttribute("class")?.replace("admonition ", "");
    if (title.textContent?.trim().toLowerCase() === kind) title.remove();
  }
  for (const quote of [...body.querySelectorAll("q")]) quote.replaceWith(`“${quote.textContent}”`);
  for (const sample of [...body.querySelectorAll("samp")]) sample.replaceWith(sample.textContent ?? "");
  for (const definition of [...body.querySelectorAll("dd")]) {
    // A definition that is a list stands as that list.
    const [only, ...more] = [...definition.children];
    const isAlone =
      !isDefinition(definition.previousElementSibling) && !isDefinition(definition.nextElementSibling);
    if (isAlone && only?.matches("ul, ol") && more.length === 0) {
      definition.replaceWith(only);
      continue;
    }
    const item = body.ownerDocument.createElement("li");
    item.append(...definition.childNodes);
    definition.replaceWith(item);
  }
  return shapeOf(body);
}

const isDefinition = (element: Element | null): boolean => element?.localName === "dd";

// Neither renderer knows formulas: their marks would be read as emphasis.
export const holdsFormulas = (html: string): boolean => html.includes("language-math");

function maskFormulas(markdown: string): string {
  return markdown
    .replace(/^([ >]*)\$\$\n(?:(?!\$\$)[^\n]*\n){1,500}?[ >]*\$\$$/gm, "$1FORMULA")
    .replace(/(?<!\\)\$(?![\s$])[^$\n]*[^\s$\\]\$(?!\d)/g, "FORMULA");
}

function bodyOf(html: string): Element {
  const { document } = parseHTML(`<html><body>${html}</body></html>`);
  const { body } = document as unknown as Document; // linkedom's own types describe the same
  const gone =
    ".sr-only, [data-footnote-backref], .footnote-backref, .footnote-ref, [data-footnote-ref], .footnotes-sep, input";
  for (const element of [...body.querySelectorAll(gone)]) element.remove();
  // One of the two knows no tasks.
  for (const item of body.querySelectorAll("li")) {
    const first =
      item.firstChild?.nodeType === 3 ? item.firstChild : (item.querySelector("p")?.firstChild ?? null);
    if (first?.nodeType === 3) first.nodeValue = (first.nodeValue ?? "").replace(/^\s*\[[ x]\] /, "");
  }
  for (const empty of [...body.querySelectorAll("sup, p, section")])
    if (squeeze(empty) === "" && !empty.querySelector("img")) empty.remove();
  return body;
}

const squeeze = (node: Node): string =>
  (node.textContent ?? "")
    .replace(/\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]|[☑☐]/gu, "")
    .replace(/[\s\u200b\u00a0]+/g, "");

function shapeOf(body: Element): Shape {
  const all = (selector: string): Element[] => [...body.querySelectorAll(selector)];
  const isOutsideCells = (element: Element): boolean => element.closest("td, th") === null;
  return {
    text: squeeze(body),
    headings: all("h1, h2, h3, h4, h5, h6")
      .filter(isOutsideCells)
      .map((heading) => `${heading.tagName} ${squeeze(heading)}`),
    items: all("li").length,
    tables: all("table")
      .filter(isOutsideCells)
      .map((table) =>
        [...table.querySelectorAll("tr")]
          .filter((row) => row.closest("table") === table)
          .map(cellsOf)
          .filter((row) => !/^\|*$/.test(row))
          .join("\n"),
      ),
    code: all("pre")
      .filter(isOutsideCells)
      .map(
        (pre) =>
          `${/language-(\S+)/.exec(pre.querySelector("code")?.getAttribute("class") ?? "")?.[1] ?? ""}\n${(pre.textContent ?? "").replace(/\n$/, "")}`,
      ),
    links: all("a[href]")
      .filter((link) => squeeze(link) !== "" || link.querySelector("img"))
      .filter((link) => !isBareAddress(link))
      .map((link) => `${addressOf(link.getAttribute("href"))} ${squeeze(link)}`),
    images: all("img").map(
      (image) =>
        `${addressOf(image.getAttribute("src"))} ${(image.getAttribute("alt") ?? "").replace(/\s+/g, " ")}`,
    ),
  };
}

// Renderers make links of bare addresses.
function isBareAddress(link: Element): boolean {
  const text = squeeze(link);
  const href = link.getAttribute("href") ?? "";
  if (href.startsWith("http") && safeDecode(href).replace(/\/$/, "") === text.replace(/\/$/, "")) return true;
  return [text, `http://${text}`, `https://${text}`, `mailto:${text}`].some(
    (address) => addressOf(address) === addressOf(href),
  );
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function addressOf(href: string | null): string {
  const text = (href ?? "")
    .replace(/%7C/gi, "|")
    .replace(/%60/g, "`")
    .replace(/%7B/gi, "{")
    .replace(/%7D/gi, "}")
    .replace(/%5C/gi, "\\")
    .replace(/%5B/gi, "[")
    .replace(/%5D/gi, "]")
    .replace(/%5E/gi, "^")
    .replace(/%22/g, '"');
  return (
    URL.parse(text, "https://relative.invalid/")
      ?.href.replaceAll("%28", "(")
      .replaceAll("%29", ")")
      .replace(/'/g, "%27") ?? text
  );
}

const cellsOf = (row: Element): string => [...row.children].map(squeeze).join("|").replace(/\|+$/, "");
