/** How long work runs before it lets others run, in ms; this is the longest wait of a search. */
const TURN_MS = 5;

/** Makes a function that begins each work when the one before has ended, well or not. */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  };
}

/** Lets whatever waits for the thread have its turn. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resume) => setImmediate(resume));

/**
 * Makes a function to await after each step of long work: it yields to the event loop every few milliseconds, so that
 * a server continues to answer, and returns at once in between.
 */
export function createYieldWhenDue(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < TURN_MS) return undefined;
    return yieldToEventLoop().then(() => {
      since = performance.now();
    });
  };
}
