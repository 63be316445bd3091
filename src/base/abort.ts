const actionsOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Runs the action when the signal aborts, at once where it has. One listener serves all actions of a
 * signal: a crawl's signal has hundreds, and Node warns of a leak from the eleventh listener on.
 * @returns takes the action back when it is disposed of
 */
export function onAbort(signal: AbortSignal | undefined, action: () => void): Disposable {
  if (signal?.aborted) action();
  if (!signal || signal.aborted) return { [Symbol.dispose]() {} };
  const actions = actionsOf.get(signal) ?? follow(signal);
  // The same function may be given twice.
  const own = (): void => action();
  actions.add(own);
  return { [Symbol.dispose]: () => void actions.delete(own) };
}

function follow(signal: AbortSignal): Set<() => void> {
  const actions = new Set<() => void>();
  actionsOf.set(signal, actions);
  const runAll = (): void => {
    for (const action of [...actions]) action();
  };
  signal.addEventListener("abort", runAll, { once: true });
  return actions;
}

/** The work's result, or the rejection that `reason` makes as soon as the signal aborts; the work is left behind then. */
export function orAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  reason: () => unknown,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const listening = onAbort(signal, () => reject(reason()));
    work.then(resolve, reject).finally(() => listening[Symbol.dispose]());
  });
}

/** The work's result, or what `late` gives or throws when it takes longer; the work is left behind then. */
export async function within<T, Late>(ms: number, work: Promise<T>, late: () => Late): Promise<T | Late> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, ms);
  try {
    return await Promise.race([work, over.promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for this many ms, or until the signal aborts or the event comes. */
export async function pause(
  ms: number,
  signal: AbortSignal | undefined,
  event?: Promise<void>,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  using _ = onAbort(signal, resolve);
  await (event ? Promise.race([event, promise]) : promise);
  clearTimeout(timer);
}
