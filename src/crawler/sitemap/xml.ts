import sax from "sax";
import { Failure } from "../../base/failure.ts";
import { MAX_LOC_LENGTH, type RecordReader, type SitemapRecord } from "./open.ts";

const MAX_ATTRIBUTES = 200;

/**
 * Reads a sitemap, a sitemap index, RSS or Atom. It tolerates bare ampersands, wrong case and missing namespaces.
 * Entities that the document declares are refused, and nothing outside of it is ever loaded.
 * @param name of the sitemap, for messages
 */
export function createXmlReader(name: string): RecordReader {
  const elements = new SitemapElements(name);
  const parser = openParser(elements);
  const finish = (): void => {
    parser.close();
    elements.finish();
  };
  return { read: (piece) => void parser.write(piece), finish, take: () => elements.take() };
}

// The package has this option although its types lack it: only the entities of XML itself.
const OPTIONS = { lowercase: true, noscript: true, strictEntities: true };

// The parser is not strict: sitemaps are written by templates, and a bare "&" in one URL must not cost the others.
// `position` stays on, because without it the parser does not limit its own buffers.
function openParser(elements: SitemapElements): sax.SAXParser {
  const parser = sax.parser(false, OPTIONS);
  let attributes = 0;
  parser.onopentagstart = () => {
    attributes = 0;
  };
  parser.onattribute = () => {
    attributes++;
    if (attributes > MAX_ATTRIBUTES)
      throw elements.malformed(`has more than ${MAX_ATTRIBUTES} attributes in a tag`);
  };
  parser.ondoctype = (text) => {
    if (/<!\s*ENTITY/i.test(text)) throw elements.malformed("declares entities, which are refused");
  };
  // Attributes are objects only with the option `xmlns`.
  parser.onopentag = ({ name, attributes }) =>
    elements.open(name, attributes as Readonly<Record<string, string>>);
  parser.onclosetag = () => elements.close();
  parser.ontext = (text) => elements.text(text);
  parser.oncdata = (text) => elements.text(text);
  parser.onerror = ({ message }) => {
    if (message.startsWith("Max buffer length"))
      throw elements.malformed("holds a name, value or declaration of more than 64 KiB");
    parser.resume(); // an end inside a tag, which `elements.finish` words
  };
  return parser;
}

type Format = {
  readonly names: SitemapRecord["names"];
  /** The element of an entry, and the one inside that contains its location. */
  readonly entry: string;
  readonly loc: string;
  /** The element that contains the location where the other one is missing. */
  readonly fallback?: string;
  /** The elements with the entry's date; the first valid date counts. */
  readonly dates: readonly string[];
};

/** The formats by the root element's name, without prefix and in lower case. */
const FORMATS: Readonly<Record<string, Format>> = {
  urlset: { names: "page", entry: "url", loc: "loc", dates: ["lastmod"] },
  sitemapindex: { names: "sitemap", entry: "sitemap", loc: "loc", dates: ["lastmod"] },
  rss: { names: "page", entry: "item", loc: "link", fallback: "guid", dates: ["pubdate", "date"] },
  rdf: { names: "page", entry: "item", loc: "link", dates: ["date"] },
  feed: { names: "page", entry: "entry", loc: "link", dates: ["updated", "modified", "published"] },
};

/** Sitemaps need 3 levels; feeds with XHTML inside need some more. */
const MAX_DEPTH = 200;

type Name = { readonly prefix: string; readonly local: string };
type OpenElement = Name & { readonly base: string | undefined };
type Entry = {
  prefix: string;
  base: string | undefined;
  loc: string;
  guid: string;
  lastModified: string | null;
};
/** Turns the elements of a sitemap, a sitemap index, RSS or Atom into records, in their order. */
class SitemapElements {
  private readonly sitemap: string;
  private readonly openElements: OpenElement[] = [];
  private records: SitemapRecord[] = [];
  private format: Format | null = null;
  private entry: Entry | null = null;
  private field: { readonly kind: "loc" | "guid" | "date"; readonly depth: number; text: string } | null =
    null;

  /** @param sitemap its name, for messages */
  constructor(sitemap: string) {
    this.sitemap = sitemap;
  }

  malformed(what: string): Failure {
    return new Failure("unsupported_content", `sitemap ${this.sitemap} ${what}`);
  }

  /** @param written the element's name in lower case */
  open(written: string, attributes: Readonly<Record<string, string>>): void {
    const name = nameOf(written);
    this.format ??= this.formatOf(name);
    if (this.openElements.length >= MAX_DEPTH)
      throw this.malformed(`nests elements more than ${MAX_DEPTH} deep`);
    const parent = this.openElements.at(-1);
    const base = baseOf(attributes["xml:base"], parent?.base);
    const element = { ...name, base };
    this.openElements.push(element);
    // An entry inside an entry means that the first one was never closed.
    if (element.local === this.format.entry) {
      this.closeEntry();
      this.entry = { prefix: element.prefix, base, loc: "", guid: "", lastModified: null };
    } else if (parent?.local === this.format.entry) this.openField(element, attributes);
  }

  close(): void {
    if (this.field && this.openElements.length === this.field.depth) this.closeField();
    const element = this.openElements.pop();
    if (element?.local === this.format?.entry) this.closeEntry();
  }

  text(text: string): void {
    const { field } = this;
    if (field && field.text.length <= MAX_LOC_LENGTH) field.text += text.slice(0, MAX_LOC_LENGTH + 1);
  }

  finish(): void {
    const [root] = this.openElements;
    if (!this.format) throw this.malformed("holds no element");
    if (root) throw this.malformed(`breaks off inside <${root.local}>`);
  }

  take(): readonly SitemapRecord[] {
    const taken = this.records;
    this.records = [];
    return taken;
  }

  private openField(element: OpenElement, attributes: Readonly<Record<string, string>>): void {
    const { format, entry } = this;
    if (!format || !entry) return;
    // <image:loc> does not name a page, so a location must have the prefix of its entry.
    if (element.local === format.loc && element.prefix === entry.prefix) {
      this.field = { kind: "loc", depth: this.openElements.length, text: "" };
      // Atom's links are empty elements; only the one to the page itself counts.
      const { rel = "alternate", href = "" } = attributes;
      if (rel === "alternate" && entry.loc === "") {
        entry.loc = href.trim();
        entry.base = element.base;
      }
    } else if (
      element.local === format.fallback &&
      attributes.ispermalink?.trim().toLowerCase() !== "false"
    ) {
      this.field = { kind: "guid", depth: this.openElements.length, text: "" };
    } else if (format.dates.includes(element.local)) {
      this.field = { kind: "date", depth: this.openElements.length, text: "" };
    }
  }

  private closeField(): void {
    const { entry, field } = this;
    this.field = null;
    if (!entry || !field) return;
    // The parser reads "&b</loc>" as text, so what follows a "<" does not belong to the URL.
    const text = (field.text.split("<", 1)[0] ?? "").trim();
    if (field.kind === "loc") entry.loc ||= text;
    // Generators write names there too, such as "urn:uuid:…" or a number.
    else if (field.kind === "guid") entry.guid ||= /^https?:/i.test(text) ? text : "";
    else entry.lastModified ??= parseLastModified(text);
  }

  private closeEntry(): void {
    const { format, entry } = this;
    this.entry = null;
    this.field = null;
    if (!format || !entry) return;
    const { base, lastModified } = entry;
    const loc = entry.loc || entry.guid;
    if (loc !== "") this.records.push({ names: format.names, loc, mayBeRelative: true, lastModified, base });
  }

  private formatOf({ local }: Name): Format {
    const format = Object.hasOwn(FORMATS, local) ? FORMATS[local] : undefined;
    if (format) return format;
    if (local === "html") throw this.malformed("is an HTML page, not a sitemap");
    throw this.malformed(
      `starts with <${local.slice(0, 40)}>, not with urlset, sitemapindex, rss, rdf:RDF or feed`,
    );
  }
}

/** The base of an element: its own, which may be relative to that of its parent. */
const baseOf = (own: string | undefined, outer: string | undefined): string | undefined =>
  own === undefined ? outer : (URL.parse(own, outer)?.href ?? own);

function nameOf(written: string): Name {
  const colon = written.indexOf(":");
  return colon < 0
    ? { prefix: "", local: written }
    : { prefix: written.slice(0, colon), local: written.slice(colon + 1) };
}

const W3C_DATE =
  /^\d{4}(?:-\d\d(?:-\d\d(?<time>[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?<zone>Z|[+-]\d\d:?\d\d)?)?)?)?$/i;
const MAIL_DATE =
  /^(?:[a-z]{3,9},?\s+)?\d{1,2}\s+[a-z]{3,9}\s+\d{4}\s+\d\d:\d\d(?::\d\d)?(?:\s*(?<zone>[a-z]{1,4}|[+-]\d{4}))?$/i;

/**
 * Converts a date of a sitemap (W3C Datetime) or a feed (RFC 822) to ISO 8601 in UTC, which is assumed for a time
 * without a zone; null when it is not a date.
 */
export function parseLastModified(written: string): string | null {
  const text = written.trim();
  if (text.length > 64) return null;
  const w3c = W3C_DATE.exec(text);
  const mail = w3c ? null : MAIL_DATE.exec(text);
  if (!w3c && !mail) return null;
  const hasZone = (w3c ?? mail)?.groups?.zone !== undefined;
  const isDateOnly = w3c !== null && w3c.groups?.time === undefined;
  const plain = w3c ? text.toUpperCase().replace(" ", "T").replace(",", ".") : text;
  const time = Date.parse(hasZone || isDateOnly ? plain : `${plain}${w3c ? "Z" : " GMT"}`);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
