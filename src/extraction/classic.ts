import { Readability } from "@mozilla/readability";
import { NodeHtmlMarkdown } from "node-html-markdown";
import { Failure } from "../base/failure.ts";
import { parseDocument } from "./parse.ts";

/** The content that Readability finds on a page. */
type ClassicContent = {
  /** This HTML is not sanitised. */
  readonly html: string;
  readonly excerpt: string | null;
};

/**
 * Finds a page's content with Mozilla's Readability; null where it finds none.
 * @throws Failure `too_complex` and `too_large` as `parseDocument`
 */
export function findClassicContent(html: string): ClassicContent | null {
  const found = new Readability<string>(parsePage(html)).parse();
  return found?.content ? { html: found.content, excerpt: found.excerpt || null } : null;
}

function parsePage(html: string): Document {
  try {
    return parseDocument(html);
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.code !== "too_complex") throw cause;
    const message = "the page has too many elements for the engine readability, which takes 120 000";
    throw new Failure("too_complex", message, { cause });
  }
}

/**
 * Writes sanitised HTML (the `content` of an article) as Markdown, with node-html-markdown.
 *
 * The package copies attributes and code as they are. Characters that would end a fence, a label or a title are
 * therefore escaped first; otherwise a page could put HTML of its own into the Markdown.
 */
export function writeClassicMarkdown(content: string): string {
  let longestRun = 0;
  for (const [run] of content.matchAll(/`+/g)) longestRun = Math.max(longestRun, run.length);
  const translator = new NodeHtmlMarkdown({
    bulletMarker: "-",
    useInlineLinks: false,
    codeFence: "`".repeat(Math.max(3, longestRun + 1)),
    textReplace: [
      [/</g, "\\<"],
      [/&(?=#?\w)/g, "\\&"],
    ],
  });
  return translator.translate(content.replace(/<(?:a|img) [^>]*>/g, escapeAttributes));
}

/** A tag whose attributes may stand in Markdown as they are. */
const escapeAttributes = (tag: string): string =>
  tag.replace(/ (alt|title|href|src)="([^"]*)"/g, (_, name: string, value: string) =>
    name === "alt" || name === "title"
      ? ` ${name}="${value.replace(/\s+/g, " ").replace(/[\\[\]`*_~]|&(?:lt|amp|quot);/g, "\\$&")}"`
      : ` ${name}="${value.replace(/[\s`\\()]|&[lg]t;/g, percentEncoded)}"`,
  );

const ENTITIES: Readonly<Record<string, string>> = { "&lt;": "%3C", "&gt;": "%3E", "(": "%28", ")": "%29" };

const percentEncoded = (character: string): string => ENTITIES[character] ?? encodeURIComponent(character);
