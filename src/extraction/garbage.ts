/**
 * Input, in characters, after which garbage is collected. The runtime counts on the machine's whole memory
 * and lets the strings of read pages pile up: over 1 497 pages 336 MB instead of 211. A collection costs
 * 9 ms of CPU, so 0.15 ms a page; every 8 million characters it would cost twice that for 10 MB.
 */
const MAX_CHARS_BETWEEN = 16_000_000;

/**
 * Keeps the memory of a thread that extracts page after page small: call what it returns after each page
 * with the page's length in characters.
 * @param collect collects all garbage of the thread
 */
export function createGarbageWatch(collect: () => void): (bodyChars: number) => void {
  let chars = 0;
  return (bodyChars) => {
    chars += bodyChars;
    if (chars < MAX_CHARS_BETWEEN) return;
    chars = 0;
    collect();
  };
}
