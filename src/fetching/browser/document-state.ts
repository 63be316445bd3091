/** The state of a page's document at one moment. */
export type DocumentState = {
  /** Whether scripts, frames or a refresh may still change what is there. */
  readonly canChange: boolean;
  /** Whether the document of some frame is still being parsed. */
  readonly isLoading: boolean;
  /** The number of same-origin frames that have no document yet. */
  readonly awaitedFrames: number;
  /** A number that differs after a change of elements or text, also inside frames and shadow roots. */
  readonly size: number;
  /** The number of characters of text, frames and shadow roots included. */
  readonly textLength: number;
  /** Whether there are any words apart from menus, headers, footers and notes that something is loading. */
  readonly hasWords: boolean;
  /** The delay of a `<meta http-equiv=refresh>` that leads to another page, in ms; null without one. */
  readonly refreshAfterMs: number | null;
  /** The time that measuring took inside the page. */
  readonly lookMs: number;
  /** How late the page's timers fired, because its scripts were busy. */
  readonly lateMs: number;
};

export type Wait = {
  /** The size to compare with: a different one, or a frame without a document, ends the wait. */
  readonly size: number;
  readonly forMs: number;
  /** How often to look after the first time. */
  readonly looks: number;
};

/**
 * Looks at the document until it changes or the wait is over. Runs inside the page, so it may use nothing
 * from outside this function.
 */
export async function watchDocument(wait: Wait): Promise<DocumentState> {
  const isNoContent = /^(?:script|style|noscript|template|title|textarea|select|svg|nav|footer|aside)$/;
  /** Matches a placeholder such as "Loading…", in any language. */
  const isPlaceholder = /^(?:(?:loading|please wait)[\s\d%.…]*)?$|^[^.…]{1,40}(?:\.\.\.|…)$/i;
  const maxPlaceholder = 48;
  let canChange = false;
  let isLoading = false;
  let awaitedFrames = 0;
  let size = 0;
  let textLength = 0;
  let words = "";
  let lateMs = 0;
  const measure = (root: Document | ShadowRoot, depth: number): void => {
    const elements = root.querySelectorAll("*");
    const text = "body" in root ? root.body : root;
    const length = text?.textContent?.length ?? 0;
    size = (size * 31 + elements.length * 1_000_003 + length) % 1e15;
    textLength += length;
    if (text) gatherWords(text);
    for (const element of elements) {
      if (element.shadowRoot) measure(element.shadowRoot, depth);
      if (element.localName === "iframe" || element.localName === "frame")
        measureFrame(element as HTMLIFrameElement, depth + 1);
      if (element.localName === "script") {
        const { type } = element as HTMLScriptElement;
        canChange ||= type === "" || /module|javascript/.test(type);
      }
    }
  };
  const isContent = (element: Element): boolean => {
    if (isNoContent.test(element.localName)) return false;
    return element.localName !== "header" || element.closest("main, article") !== null;
  };
  // It stops at the first words that are no placeholder, which most pages have at once. A tree walker's
  // callback may be "no longer runnable" while the page opens windows, so there is none.
  const gatherWords = (root: Node): void => {
    let node: Node | null = root;
    while (node && words.length <= maxPlaceholder) {
      const value = node.nodeType === 3 ? (node.nodeValue ?? "") : "";
      if (/[\p{L}\p{N}]/u.test(value)) words += ` ${value.trim()}`;
      let next: Node | null = node.nodeType !== 1 || isContent(node as Element) ? node.firstChild : null;
      while (!next && node && node !== root) {
        next = node.nextSibling;
        if (!next) node = node.parentNode;
      }
      node = next;
    }
  };
  const measureFrame = (frame: HTMLIFrameElement, depth: number): void => {
    if (depth > 10) return;
    const hasInline = frame.hasAttribute("srcdoc");
    const isOwn = hasInline || (frame.src !== "" && URL.parse(frame.src)?.origin === location.origin);
    let inner: Document | null = null;
    try {
      inner = frame.contentDocument;
    } catch {
      // A frame of another origin cannot be read.
    }
    if (!inner) return;
    // A lazy frame below the screen would never load.
    if (isOwn && frame.loading === "lazy") frame.loading = "eager";
    if (inner.URL === "about:blank" && isOwn) awaitedFrames++;
    if (inner.readyState === "loading") isLoading = true;
    canChange ||= isOwn;
    measure(inner, depth);
  };
  const refresh = (): number | null => {
    const meta = document.querySelector('meta[http-equiv="refresh" i]');
    const [, seconds, url] =
      /^\s*(\d+)(?:\.[\d.]*)?[\s;,]+(?:url\s*=\s*)?["']?([^"']+)/i.exec(
        meta?.getAttribute("content") ?? "",
      ) ?? [];
    const target = url === undefined ? null : URL.parse(url.trim(), document.baseURI);
    if (!target || !/^https?:$/.test(target.protocol)) return null;
    target.hash = "";
    return target.href === location.href.replace(/#.*/, "") ? null : Number(seconds) * 1000;
  };
  const look = (): DocumentState => {
    canChange = false;
    isLoading = false;
    awaitedFrames = 0;
    size = 0;
    textLength = 0;
    words = "";
    const lookedAt = performance.now();
    measure(document, 0);
    const refreshAfterMs = refresh();
    return {
      canChange: canChange || refreshAfterMs !== null,
      isLoading,
      awaitedFrames,
      size,
      textLength,
      hasWords: !isPlaceholder.test(words.trim()),
      refreshAfterMs,
      lookMs: performance.now() - lookedAt,
      lateMs,
    };
  };
  for (let left = wait.looks; ; left--) {
    const state = look();
    if (left === 0 || state.size !== wait.size || isLoading || awaitedFrames > 0) return state;
    const pauseMs = Math.max(wait.forMs / wait.looks, 4 * state.lookMs);
    const sleptAt = performance.now();
    try {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      lateMs += Math.max(0, performance.now() - sleptAt - pauseMs);
    } catch {
      return state; // The page's scripts have replaced the timers.
    }
  }
}

/** Scrolls to the end. Runs inside the page, so it may use nothing from outside this function. */
export function scrollToEnd(): number {
  const height = document.documentElement.scrollHeight;
  // The page scrolls step by step, because observers of visibility miss what is jumped over.
  for (let y = 0; y <= height; y += window.innerHeight) window.scrollTo(0, y);
  window.scrollTo(0, height);
  return height;
}
