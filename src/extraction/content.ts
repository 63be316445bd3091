import type { PageUrl } from "../urls/index.ts";
import { canonicalise } from "./document/canonical.ts";
import { omit, withoutTitle } from "./document/filter.ts";
import { withoutSkippedLevels } from "./document/heading-levels.ts";
import { readDocument } from "./document/read.ts";
import { toHtml } from "./document/write-html.ts";
import { toMarkdown } from "./document/write-markdown.ts";
import { toText } from "./document/write-text.ts";
import type { ExtractionOptions } from "./types.ts";

/** The renderings of a page's content, all of the same things in the same order; those not asked for are null. */
export type RenderedContent = {
  readonly text: string;
  readonly content: string | null;
  readonly markdown: string | null;
};

export type ContentContext = {
  /** What relative references resolve against; null leaves them relative. */
  readonly base: PageUrl | null;
  /** A first heading that says this again is left out; null keeps all. */
  readonly title: string | null;
  /** Whether a script of the page draws the formulas between `$…$` and the like in its text. */
  readonly drawsFormulas: boolean;
  /** Whether headings keep their levels even where these skip some. */
  readonly keepsLevels?: boolean;
  readonly options: Pick<ExtractionOptions, "includeImages" | "includeCode" | "renderings">;
};

/** Renders the content below an element, which it consumes. */
export function renderContent(root: Element, context: ContentContext): RenderedContent {
  const { base, title, drawsFormulas, keepsLevels = false, options } = context;
  canonicalise(root, drawsFormulas);
  const read = withoutTitle(readDocument(root, base), title);
  const whole = keepsLevels ? read : withoutSkippedLevels(read);
  const hasOmissions = !options.includeImages || !options.includeCode;
  const shown = hasOmissions
    ? omit(whole, { images: !options.includeImages, code: !options.includeCode })
    : whole;
  return {
    text: toText(shown),
    content: options.renderings.includes("content") ? toHtml(shown) : null,
    markdown: options.renderings.includes("markdown") ? toMarkdown(shown) : null,
  };
}
