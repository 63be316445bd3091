import { choice, SWITCH, text, texts, whole } from "./kinds.ts";
import type { Elsewhere, OptionTable } from "./option.ts";

const SELECTOR = 1000;

/** What is taken of a page. */
export const EXTRACTION = {
  minWordCount: {
    kind: whole(0, 1_000_000_000),
    byDefault: 150,
    means: "Warn when the content has fewer words",
    flag: "--min-words N",
    field: "min_word_count",
    library: "minWordCount",
    label: "Warn if under (words)",
    changed: ["reading", "words to warn below"],
  },
  /**
   * Which error is worse where the classification is unsure: `precision` leaves out what may not be content, `recall`
   * keeps everything near the content that is not clearly beside it, `balanced` keeps the author's own markup whole.
   */
  favor: {
    kind: choice("balanced", "precision", "recall"),
    byDefault: "balanced",
    means: "What to keep when unsure: precision (less noise), recall (more content) or balanced",
    flag: "--favor WORD",
    variable: "ARTICLE_EXTRACTOR_FAVOR",
    field: "favor",
    library: "favor",
    label: "When unsure, keep",
    choices: { balanced: "balanced", precision: "less, but cleaner", recall: "more, but noisier" },
  },
  /**
   * `readability` is the usual pipeline: Mozilla's Readability on linkedom, with Markdown by node-html-markdown. It ignores
   * `favor` and has no limits of its own.
   */
  engine: {
    kind: choice("article-extractor", "readability"),
    byDefault: "article-extractor",
    means: "Extraction engine: article-extractor, or readability for comparison",
    flag: "--engine NAME",
    variable: "ARTICLE_EXTRACTOR_ENGINE",
    field: "engine",
    library: "engine",
    label: "Engine",
    choices: { "article-extractor": "article-extractor", readability: "readability, for comparison" },
  },
  includeImages: {
    kind: SWITCH,
    byDefault: true,
    means: "Keep images",
    contrary: "Leave images out",
    flag: "!--no-images",
    field: "include_images",
    library: "includeImages",
    label: "Images",
  },
  includeCode: {
    kind: SWITCH,
    byDefault: true,
    means: "Keep code blocks",
    contrary: "Leave code blocks out",
    flag: "!--no-code",
    field: "include_code",
    library: "includeCode",
    label: "Code",
  },
  select: {
    kind: text(SELECTOR),
    byDefault: null,
    means: "Extract only elements that match; an error if none does",
    flag: "--select CSS",
    field: "select",
    onRequest: "CSS selector of the elements that hold the content",
    library: "select",
    argument: "select",
    label: "Only elements matching (CSS)",
    placeholder: "main article",
    example: null,
  },
  exclude: {
    kind: texts(SELECTOR, 100),
    byDefault: [],
    means: "Leave out elements that match; a warning if none does",
    flag: "--exclude CSS ...",
    field: "exclude",
    onRequest: "CSS selectors of elements to leave out",
    library: "exclude",
    label: "Exclude elements matching (CSS)",
    placeholder: ".related",
    example: [],
  },
  /** The page as Markdown, which many sites of documentation offer beside the HTML. */
  takesNativeMarkdown: {
    kind: SWITCH,
    byDefault: true,
    means: "Take the site's own Markdown of a page where the page names it and it holds as much",
    contrary: "Make the Markdown of the page, though its site may have some",
    flag: "!--no-native-markdown",
    field: "native_markdown",
    library: "nativeMarkdown",
    changed: ["reading", "taking a site's Markdown"],
  },
  /** The page that stands in for the one asked for: a challenge, a consent wall, a login page and the like. */
  keepsBlocked: {
    kind: SWITCH,
    byDefault: false,
    means: "Take the text of a challenge, login page, paywall and the like, with a warning",
    flag: "--keep-blocked",
    field: "keep_blocked",
    library: "keepBlocked",
  },
  failsOnHttpError: {
    kind: SWITCH,
    byDefault: false,
    means: "Fail for every HTTP error status; else a 404 or 410 whose body is a page is one",
    flag: "-f, --fail-on-http-error",
    group: "Fetching",
    field: "fail_on_http_error",
    library: "failOnHttpError",
  },
} as const satisfies OptionTable;

/** Why these are not at every door. */
export const EXTRACTION_ELSEWHERE: Elsewhere = {
  variable: "a matter of one page or site",
  argument: "the operator chooses, and the schema of a tool is short",
  label: "the page shows the status, and why a page is blocked",
};
