/**
 * A clock in ms since 1970 that counts steadily from `start` on, however the machine's clock is set meanwhile: the times of
 * one piece of work never run backwards.
 */
export function clockFrom(start: number): () => number {
  const offset = start - performance.now();
  return () => Math.floor(offset + performance.now());
}

/** For what one process measures and waits for; what several share needs the machine's time, or a database's. */
export const steadyNow = clockFrom(Date.now());

/** A clock that is adjusted, not set, moves by less than this, in ms. */
const TOLERANCE_MS = 100;
const LOOK_EVERY_MS = 250;
let isWatched = false;
let aheadMs = 0;
let setAt = Number.NEGATIVE_INFINITY;

/**
 * How long ago this process first saw that the machine's clock was set, in ms. Soon after that, times that others had
 * written before may seem to be over, or far away.
 */
export function sinceSetMs(): number {
  // From the first question on it looks by itself: the clock may be set, and set back before the next question.
  if (!isWatched) setInterval(sinceSetMs, LOOK_EVERY_MS).unref();
  isWatched = true;
  const before = aheadMs;
  aheadMs = Date.now() - steadyNow();
  if (Math.abs(aheadMs - before) > TOLERANCE_MS) setAt = performance.now();
  return performance.now() - setAt;
}
