import { Failure } from "../base/failure.ts";

/** Loop steps between two looks at the clock; they take a millisecond at most. */
const STEPS_BETWEEN = 0xffff;

/**
 * Checks the deadline in loops over the words of a document, of which there may be ten million; the first time after
 * 65 535 steps, because most loops are short, and a look at the clock for each would take a tenth of a search.
 * @throws like `checkDeadline`
 */
export function checkDeadlineAt(step: number, deadline: number): void {
  if ((step & STEPS_BETWEEN) === STEPS_BETWEEN) checkDeadline(deadline);
}

/** @throws Failure `timeout` when `deadline` (in the time of performance.now(), ms) has passed */
export function checkDeadline(deadline: number): void {
  if (performance.now() > deadline) throw new Failure("timeout", "the search took longer than its limit");
}
