import { type PageUrl, resolveHref } from "../urls/index.ts";
import { readDates } from "./dates.ts";
import { type JsonLdObject, readJsonLd, textOf } from "./json-ld.ts";
import { firstOf, type MetaTags, readMetaTags, type Sourced, tidyValue } from "./meta-tags.ts";
import { chooseTitle } from "./title.ts";
import type { Article } from "./types.ts";

export type Metadata = Pick<
  Article,
  | "title"
  | "byline"
  | "siteName"
  | "publishedDate"
  | "modifiedDate"
  | "lang"
  | "dir"
  | "excerpt"
  | "image"
  | "sources"
>;

/** Reads what the page says about its main content, and where each value was found. */
export function readMetadata(document: Document, base: PageUrl | null): Metadata {
  const meta = readMetaTags(document);
  const jsonLd = readJsonLd(document);
  const siteName = readSiteName(meta, jsonLd);
  const title = chooseTitle(document, { meta, siteName, host: base ? new URL(base).hostname : null });
  const byline = readByline(document, meta, jsonLd);
  const { published, modified } = readDates(document, meta, jsonLd);
  const image = firstOf(meta, ["og:image", "og:image:url", "twitter:image", "twitter:image:src"]);
  return {
    title: title?.value ?? null,
    byline: byline?.value ?? null,
    siteName,
    publishedDate: published?.value ?? null,
    modifiedDate: modified?.value ?? null,
    lang: readLang(document, meta),
    dir: readDir(document),
    excerpt: firstOf(meta, ["description", "og:description", "twitter:description"]),
    image: image === null ? null : imageUrl(image, base),
    sources: {
      title: title?.source ?? null,
      byline: byline?.source ?? null,
      publishedDate: published?.source ?? null,
      modifiedDate: modified?.source ?? null,
    },
  };
}

function imageUrl(reference: string, base: PageUrl | null): string | null {
  const absolute = resolveHref(reference, base);
  return absolute !== null && /^https?:/.test(absolute) ? absolute : null;
}

function readSiteName(meta: MetaTags, jsonLd: readonly JsonLdObject[]): string | null {
  const named = firstOf(meta, ["og:site_name", "application-name", "twitter:site:name"]);
  if (named) return named;
  for (const object of jsonLd) {
    const publisher = textOf(object.publisher);
    if (publisher && !publisher.startsWith("http")) return tidyValue(publisher);
  }
  return null;
}

function readByline(document: Document, meta: MetaTags, jsonLd: readonly JsonLdObject[]): Sourced | null {
  for (const object of jsonLd) {
    const author = cleanByline(textOf(object.author) ?? textOf(object.creator));
    if (author) return { value: author, source: "json-ld" };
  }
  const named = cleanByline(
    firstOf(meta, [
      "author",
      "article:author",
      "parsely-author",
      "dc.creator",
      "dcterms.creator",
      "sailthru.author",
    ]),
  );
  if (named) return { value: named, source: "meta" };
  const link = document.querySelector('[rel~="author"], [itemprop~="author"]');
  const written = cleanByline(link?.textContent ?? null);
  return written ? { value: written, source: "rel-author" } : null;
}

// Addresses and handles stand where names should; nothing is better than those.
export function cleanByline(text: string | null): string | null {
  const name = tidyValue(text ?? "").replace(/^(?:written |posted )?by[:\s]+/i, "");
  return name === "" || name.length > 200 || /^(?:https?:|@|www\.)/i.test(name) ? null : name;
}

function readLang(document: Document, meta: MetaTags): string | null {
  const written =
    document.documentElement.getAttribute("lang")?.trim() ||
    document.documentElement.getAttribute("xml:lang")?.trim() ||
    document.body.getAttribute("lang")?.trim() ||
    firstOf(meta, ["content-language", "og:locale", "dc.language"]);
  // A longer first subtag is no language of any registry: "english".
  if (!written || !/^[a-z]{2,3}(?![a-z])/i.test(written)) return null;
  try {
    return Intl.getCanonicalLocales(written.replace(/_/g, "-"))[0] ?? null;
  } catch {
    return null;
  }
}

function readDir(document: Document): "ltr" | "rtl" | null {
  const dir = (document.documentElement.getAttribute("dir") || document.body.getAttribute("dir"))
    ?.trim()
    .toLowerCase();
  return dir === "ltr" || dir === "rtl" ? dir : null;
}
