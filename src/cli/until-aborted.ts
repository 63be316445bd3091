import { orAborted } from "../base/abort.ts";
import { Failure } from "../base/failure.ts";

/**
 * Waits for what cannot be called off itself, such as opening or reading a pipe on which nobody writes;
 * it is left behind when the person interrupts.
 * @throws Failure `cancelled`, and what the work throws
 */
export const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  orAborted(work, signal, () => new Failure("cancelled", "interrupted"));
