/** What a look at a page's document finds. */
export type DocumentState = {
  /** Whether scripts, frames or a refresh may still change what is there. */
  readonly canChange: boolean;
  /** Whether a frame's document is being read. */
  readonly isLoading: boolean;
  /** Frames of the same origin that have no document yet. */
  readonly awaitedFrames: number;
  /** Another number after a change of elements or text, of frames and shadow roots too. */
  readonly size: number;
  /** Characters of text, of frames and shadow roots too. */
  readonly textLength: number;
  /** Whether there is any word besides menus, headers, footers and a note that something loads. */
  readonly hasWords: boolean;
  /** Of a `<meta http-equiv=refresh>` that leads to another page, in ms; null without one. */
  readonly refreshAfterMs: number | null;
  /** What the look cost the page. */
  readonly lookMs: number;
  /** How much later than asked for the page's timers came, because its scripts were at work. */
  readonly lateMs: number;
};

export type Wait = {
  /** Ends with the first look that finds another size, or a frame that is not there yet. */
  readonly size: number;
  readonly forMs: number;
  /** Looks after the first. */
  readonly looks: number;
};

/** Looks at the document until it changes or the wait is over. Runs inside the page, so it may use nothing from outside. */
export async function watchDocument(wait: Wait): Promise<DocumentState> {
  const isNoContent = /^(?:script|style|noscript|template|title|textarea|select|svg|nav|footer|aside)$/;
  /** "Loading…", in any language. */
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
  // Stops as soon as there is more than a placeholder, which on most pages is at once. A tree walker's callback
  // may be "no longer runnable" while the page opens windows.
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
      // Another origin's frame cannot be read.
    }
    if (!inner) return;
    // What is below the screen would never load.
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
      return state; // scripts have put something else in the place of timers
    }
  }
}

/** Scrolls to the end. Runs inside the page, so it may use nothing from outside. */
export function scrollToEnd(): number {
  const height = document.documentElement.scrollHeight;
  // Step by step: observers of visibility do not see what is jumped over.
  for (let y = 0; y <= height; y += window.innerHeight) window.scrollTo(0, y);
  window.scrollTo(0, height);
  return height;
}
