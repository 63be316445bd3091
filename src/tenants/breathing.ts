/** Work in one go before others have their turn, in ms: a search waits for no more than this. */
const TURN_MS = 5;

/**
 * Lets others have their turn now and then, between the steps of work that would keep a server from answering for
 * long. Awaited after each step; most of the time it returns at once.
 */
export function createBreathing(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < TURN_MS) return undefined;
    return new Promise((resume) => {
      setImmediate(() => {
        since = performance.now();
        resume();
      });
    });
  };
}
