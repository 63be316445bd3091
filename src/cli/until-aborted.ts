import { Failure } from "../base/failure.ts";

/**
 * Waits for what cannot be called off itself, such as opening or reading a pipe on which nobody writes;
 * it is left behind when the person interrupts.
 * @throws Failure `cancelled`, and what the work throws
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    work.catch(() => {}); // nobody else waits for it
    throw interrupted();
  }
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(interrupted());
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

const interrupted = (): Failure => new Failure("cancelled", "interrupted");
