const followers = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Runs the action when the signal aborts, at once where it has. One listener serves all actions of a
 * signal: a crawl's signal has hundreds, and Node warns of a leak from the eleventh listener on.
 * @returns takes the action back
 */
export function onAbort(signal: AbortSignal, action: () => void): () => void {
  if (signal.aborted) {
    action();
    return () => {};
  }
  let actions = followers.get(signal);
  if (!actions) {
    const all = new Set<() => void>();
    actions = all;
    followers.set(signal, all);
    const runAll = (): void => {
      for (const follow of [...all]) follow();
    };
    signal.addEventListener("abort", runAll, { once: true });
  }
  const own = actions;
  own.add(action);
  return () => void own.delete(action);
}

/** The work's result, or the rejection that `reason` makes as soon as the signal aborts. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal, reason: () => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    const release = onAbort(signal, () => reject(reason()));
    work.then(resolve, reject).finally(release);
  });
}
