import { Failure } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import { originOf, type PageUrl } from "../../urls/index.ts";
import { binaryText, isFileType, isPageType, parseContentType } from "../charset/content-type.ts";
import type { PinningProxy } from "../egress/pinning-proxy.ts";
import { pageUrlOf, plainHeaders, unsupported } from "../http/read-answer.ts";
import { tooLarge } from "../http/wire.ts";
import type { FetchedPage, FetchLimits } from "../types.ts";
import { fileToSave, type Page, type Response } from "./chromium.ts";
import { hasNavigated, scrollThrough, settle, type Traffic, watchTraffic } from "./settle.ts";

export type BrowserBehaviour = {
  /** A selector; the page is read when an element matches it. */
  readonly waitFor: string | null;
  /** Whether to scroll through the page first, for content that loads when it becomes visible. */
  readonly scrolls: boolean;
  /** Whether to load images, fonts and media, which the text does not need. */
  readonly loadsMedia: boolean;
};

/** A page without the fields that only the code around the tries knows. */
export type VisitedPage = Omit<FetchedPage, "url" | "tries" | "durationMs">;

type ReadOptions = {
  readonly url: PageUrl;
  /** The operation as messages name it. */
  readonly what: string;
  readonly proxy: PinningProxy;
  readonly limits: FetchLimits;
  readonly behaviour: BrowserBehaviour;
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Called with the status of each answer for the page itself, before its document is read. */
  readonly onAnswer: (status: number) => void;
};

/** How long a page must be at rest before it is read, and the longest waits for that, in ms. */
const QUIET_MS = 400;
const MAX_SETTLE_MS = 10_000;
const MAX_GROWING_MS = 30_000;
/** Refreshes from page to page that are followed, as over plain HTTP (articles/visit.ts); scripts may move on more often. */
const MAX_REFRESHES = 3;

/**
 * Opens a URL in a tab, waits until the page is at rest and reads its document.
 * @throws Failure, or an error for `navigationFailure`
 */
export async function readPage(page: Page, options: ReadOptions): Promise<VisitedPage> {
  const { what, limits } = options;
  const traffic = watchTraffic(page);
  const asked = watchData(page);
  const broken = breakOff(page);
  const { response, latest } = await navigate(page, options);
  if (!response) throw new Failure("network", `${what}: the browser went to no page`);
  const first = await answerOf(page, response, options);
  const { type } = first;
  const isPage = isPageType(type);
  if (isPage && type?.essence.startsWith("text/") && type.essence !== "text/html")
    return { ...first.page, ...bodyOf(await response.text(), type.essence) };
  // XML may be a page, which the plain client tells; this browser would show a feed as a tree.
  if (isPage === null && first.page.status < 400) throw fileToSave(what);
  if (!isPage && first.page.status < 400) throw noPage(what, type);
  if (!(await loaded(page, broken))) return { ...first.page, ...bodyOf("", type?.essence ?? "") };
  const captured = await acrossNavigations(page, (navigations) =>
    capture(page, traffic, options, navigations),
  );
  if (!captured) throw tooLarge(what, limits.pageBytes);
  const otherwise = binaryText(captured.html.replace(SKELETON, ""));
  if (otherwise !== null && first.page.status < 400) throw unsupported(what, type, otherwise);
  // If scripts moved on to another page, that page's answer counts.
  const shown = await answerOf(page, latest() ?? response, options);
  const unread = unreadFrames(captured.frames, shown.page.finalUrl);
  return {
    ...shown.page,
    redirects: first.page.redirects,
    ...bodyOf(captured.html, "text/html"),
    encoding: captured.encoding,
    asked: [...asked].sort(),
    warnings: [...captured.warnings, ...unread],
  };
}

/** The plain client may read a document that is a file, which some browsers show. */
const noPage = (what: string, type: Answer["type"]): Failure =>
  isFileType(type) ? fileToSave(what) : unsupported(what, type);

/** The most frames that are named one by one when they were not read. */
const MAX_NAMED = 8;

/** Warns of the frames that the browser has not written into the page. */
function unreadFrames(frames: Capture["frames"], page: PageUrl): readonly string[] {
  const warnings = frames
    .filter(({ isRead }) => !isRead)
    .map(({ urls: [url = ""] }) => {
      const isForeign = URL.parse(url)?.origin !== originOf(page);
      return `The frame ${url} was not read: ${isForeign ? "it is of another origin" : "the browser could not load it"}`;
    });
  return warnings.slice(0, MAX_NAMED);
}

/** The markup that the browser puts around a body of plain text. */
const SKELETON = /^<!DOCTYPE html><html[^>]{0,200}><head><\/head><body[^>]{0,200}>/;

type Answer = {
  readonly type: ReturnType<typeof parseContentType>;
  readonly page: Pick<VisitedPage, "headers" | "status" | "fetchedBy" | "finalUrl" | "redirects">;
};

async function answerOf(page: Page, response: Response, { url, proxy }: ReadOptions): Promise<Answer> {
  const headers = plainHeaders(Object.entries(await response.allHeaders()));
  const refused = proxy.answered(headers, response.url());
  if (refused) throw refused;
  const where = await whereFrom(response, page, url);
  return {
    type: parseContentType(headers["content-type"] ?? null),
    page: { headers, status: response.status(), fetchedBy: "browser", ...where },
  };
}

/** @param navigations the number of documents that were left for another one while reading this page */
async function capture(
  page: Page,
  traffic: Traffic,
  options: ReadOptions,
  navigations: number,
): Promise<(Capture & { readonly warnings: readonly string[] }) | null> {
  const { url, what, limits, behaviour, log, signal } = options;
  const rest = {
    quietMs: QUIET_MS,
    maxMs: MAX_SETTLE_MS,
    maxGrowingMs: MAX_GROWING_MS,
    awaitsWords: true,
    awaitsRefresh: navigations < MAX_REFRESHES,
    signal,
  };
  const end = await settle(page, traffic, rest);
  if (end !== "rested") log.debug("the page never came to rest", { url });
  if (behaviour.scrolls) await scrollThrough(page, traffic, rest);
  if (behaviour.waitFor !== null)
    await waitFor(page, behaviour.waitFor, { what, timeoutMs: limits.requestTimeoutMs });
  const captured = await page.evaluate(captureDocument, limits.pageBytes);
  const warnings =
    end === "growing" ? [`The page still grew after ${MAX_GROWING_MS} ms and was read as it was then`] : [];
  return captured && { ...captured, warnings };
}

/** Repeats the work on the next document whenever the page moves on; `intercept` limits how often it may. */
async function acrossNavigations<T>(page: Page, work: (navigations: number) => Promise<T>): Promise<T> {
  for (let navigations = 0; ; navigations++) {
    try {
      return await work(navigations);
    } catch (error) {
      if (!hasNavigated(error)) throw error;
      await page.waitForLoadState("domcontentloaded", { timeout: 0 });
    }
  }
}

const NO_BODY = "ERR_HTTP_RESPONSE_CODE_FAILURE";

type Navigation = {
  readonly response: Response | null;
  /** The answer that the tab shows now; scripts may have moved on to another page. */
  readonly latest: () => Response | null;
};

/** Opens a URL. For 4xx and 5xx without a body the browser shows its own error page; the status counts. */
async function navigate(page: Page, { url, limits, onAnswer }: ReadOptions): Promise<Navigation> {
  let answer: Response | null = null;
  page.on("response", (response) => {
    const isShown = response.status() !== 204 && response.status() !== 205;
    if (response.request().isNavigationRequest() && response.frame() === page.mainFrame() && isShown) {
      answer = response;
      onAnswer(response.status());
    }
  });
  const latest = (): Response | null => answer;
  try {
    return {
      response: await page.goto(url, { waitUntil: "commit", timeout: limits.requestTimeoutMs }),
      latest,
    };
  } catch (error) {
    if (answer && error instanceof Error && error.message.includes(NO_BODY))
      return { response: answer, latest };
    throw error;
  }
}

/** Gathers the addresses from which a page's scripts read data. */
function watchData(page: Page): ReadonlySet<string> {
  const asked = new Set<string>();
  page.on("request", (request) => {
    const isData = request.resourceType() === "fetch" || request.resourceType() === "xhr";
    if (isData && request.method() === "GET") asked.add(request.url());
  });
  return asked;
}

/** Resolves when the document's connection breaks off, which would leave the page loading for ever. */
function breakOff(page: Page): Promise<Error> {
  return new Promise((resolve) => {
    page.on("requestfailed", (request) => {
      const why = request.failure()?.errorText ?? "";
      // A script that goes to another page aborts the document before it.
      const isDocument = request.isNavigationRequest() && request.frame() === page.mainFrame();
      if (isDocument && why !== "net::ERR_ABORTED") resolve(new Error(why));
    });
  });
}

/**
 * Waits until the document has been parsed.
 * @returns false when the answer has no document and the tab shows the browser's own error page
 */
async function loaded(page: Page, broken: Promise<Error>): Promise<boolean> {
  const state = page.waitForLoadState("domcontentloaded", { timeout: 0 });
  state.catch(() => {});
  const error = await Promise.race([state, broken]);
  if (error && !error.message.includes(NO_BODY)) throw error;
  return !error && !page.url().startsWith("chrome-error:");
}

const bodyOf = (html: string, contentType: string) => ({
  html,
  contentType,
  // The browser has decoded the document and does not tell which characters it replaced.
  encoding: "utf-8",
  bodyBytes: Buffer.byteLength(html),
  warnings: [],
});

/** Returns where the page came from: where scripts moved on to, the tab's own URL if it is http(s). */
async function whereFrom(
  response: Response,
  page: Page,
  url: PageUrl,
): Promise<Pick<FetchedPage, "finalUrl" | "redirects">> {
  const hops: PageUrl[] = [];
  for (let hop = response.request().redirectedFrom(); hop; hop = hop.redirectedFrom())
    hops.unshift(pageUrlOf(new URL(hop.url()), url));
  const answered = URL.parse(response.url());
  const shown = URL.parse(page.url());
  const final = shown && /^https?:$/.test(shown.protocol) ? shown : answered;
  return { finalUrl: final ? pageUrlOf(final, url) : url, redirects: hops };
}

async function waitFor(
  page: Page,
  selector: string,
  limit: { readonly what: string; readonly timeoutMs: number },
): Promise<void> {
  try {
    await page.waitForSelector(`css=${selector}`, { state: "attached", timeout: limit.timeoutMs });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const shown = JSON.stringify(selector);
    if (error.name === "TimeoutError")
      throw new Failure("timeout", `${limit.what}: nothing matched ${shown} within ${limit.timeoutMs} ms`);
    if (!/not a valid selector|while parsing/i.test(error.message)) throw error;
    throw new Failure("invalid_usage", `${shown} is not a CSS selector to wait for`);
  }
}

/** A page's document, as read inside the page. */
type Capture = {
  /** The HTML, with the content of open shadow roots and same-origin frames written in their places. */
  readonly html: string;
  readonly contentType: string;
  readonly encoding: string;
  /** The frames of framesets, each with the address that was asked for and the one that answered. */
  readonly frames: readonly { readonly urls: readonly string[]; readonly isRead: boolean }[];
};

/**
 * Writes out a page's document. A document with shadow roots or readable frames is written from a copy in
 * which each shadow root replaces its host's content, its slots filled, and each same-origin frame is
 * replaced by its document. Runs inside the page, so it may use nothing from outside this function.
 * @param maxChars a longer document gives null
 */
function captureDocument(maxChars: number): Capture | null {
  // A frame of another origin cannot be read. One without a document of its own may have been filled by a script.
  const documentOf = (frame: HTMLIFrameElement): Document | null => {
    try {
      const inner = frame.contentDocument;
      return inner?.body && (inner.URL !== "about:blank" || inner.body.hasChildNodes()) ? inner : null;
    } catch {
      return null;
    }
  };
  const hasShadow = (root: Document): boolean => {
    for (const element of root.querySelectorAll("*")) if (element.shadowRoot) return true;
    return false;
  };
  const attributesOf = (element: Element): string =>
    [...element.attributes]
      .map(({ name, value }) => ` ${name}="${value.replace(/&/g, "&amp;").replace(/"/g, "&quot;")}"`)
      .join("");
  const voidTags = /^(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
  const rawTags = /^(?:script|style|xmp|noembed|noframes|plaintext)$/;
  const maxDepth = 1500;
  let length = 0;
  const parts: string[] = [];
  const frames: Capture["frames"][number][] = [];
  const add = (text: string): void => {
    length += text.length;
    if (length <= maxChars) parts.push(text);
  };
  const writeAll = (nodes: Iterable<Node>, depth: number): void => {
    for (const node of nodes) write(node, depth);
  };
  const write = (node: Node, depth: number): void => {
    if (length > maxChars || depth > maxDepth) return;
    if (node.nodeType === 3) writeText(node);
    if (node.nodeType === 1) writeElement(node as HTMLElement, depth);
  };
  const writeText = ({ nodeValue, parentNode }: Node): void => {
    const text = nodeValue ?? "";
    const isRaw = rawTags.test((parentNode as Element | null)?.localName ?? "");
    add(isRaw ? text : text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;"));
  };
  const writeElement = (element: HTMLElement, depth: number): void => {
    const tag = element.localName;
    if (tag === "slot" && element.getRootNode() instanceof ShadowRoot) {
      const assigned = (element as HTMLSlotElement).assignedNodes();
      return void writeAll(assigned.length > 0 ? assigned : element.childNodes, depth + 1);
    }
    if (tag === "iframe" || tag === "frame") return void writeFrame(element as HTMLIFrameElement, depth);
    add(`<${tag}${attributesOf(element)}>`);
    if (voidTags.test(tag)) return;
    if (element.shadowRoot) writeAll(element.shadowRoot.childNodes, depth + 1);
    else if (tag === "template") add((element as unknown as HTMLTemplateElement).innerHTML);
    else if (tag === "noscript") add(element.innerHTML);
    else writeAll(element.childNodes, depth + 1);
    add(`</${tag}>`);
  };
  const writeFrame = (frame: HTMLIFrameElement, depth: number): void => {
    const inner = documentOf(frame);
    if (frame.localName === "frame" && frame.src !== "")
      frames.push({ urls: inner ? [frame.src, inner.URL] : [frame.src], isRead: inner !== null });
    if (!inner) return void add(`<iframe${attributesOf(frame)}></iframe>`);
    add(`<div data-frame-src="${inner.URL.replace(/&/g, "&amp;").replace(/"/g, "&quot;")}">`);
    writeAll(inner.body.childNodes, depth + 1);
    add("</div>");
  };

  const root = document.documentElement;
  const contentType = document.contentType;
  const encoding = document.characterSet.toLowerCase();
  if (!root) return { html: "", contentType, encoding, frames };
  const inside = [...document.querySelectorAll<HTMLIFrameElement>("iframe, frame")];
  const isWhole = !inside.some(documentOf) && !hasShadow(document);
  if (!isWhole) write(root, 0);
  // The page's scripts may have replaced any method, so the length is read from a string built here.
  const html = `<!DOCTYPE html>${isWhole ? root.outerHTML : parts.join("")}`;
  return length > maxChars || html.length > maxChars ? null : { html, contentType, encoding, frames };
}
