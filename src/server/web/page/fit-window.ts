/** What is left free below, in pixels. */
const MARGIN = 16;
/** In a window with less room the page has to be scrolled. */
const MIN_HEIGHT = 200;

/**
 * Keeps the lower edge of an element that scrolls inside the window: where it begins depends on how far the page is
 * scrolled and on what is above, which a style sheet cannot know.
 * @param wide while it stands beside something else; at other times its height is left to the style sheet
 * @returns a function that does it at once, for who measures in it
 */
export function fitWindow(element: HTMLElement, wide: MediaQueryList): () => void {
  const fit = (): void => {
    const top = element.getBoundingClientRect().top;
    const room = innerHeight - Math.max(MARGIN, top) - MARGIN;
    element.style.maxHeight = wide.matches ? `${Math.max(MIN_HEIGHT, room)}px` : "";
  };
  const listening = new AbortController();
  const onMove = (): void => {
    if (element.isConnected) requestAnimationFrame(fit);
    else {
      listening.abort();
      sizes.disconnect();
    }
  };
  const sizes = new ResizeObserver(onMove);
  for (const one of [element, document.body]) sizes.observe(one);
  for (const kind of ["scroll", "resize"])
    addEventListener(kind, onMove, { passive: true, signal: listening.signal });
  return fit;
}
