import { Failure } from "../base/failure.ts";

/** Steps of a loop over a document's words between two looks at the clock, which take a millisecond at most. */
const STEPS_BETWEEN = 0xffff;

/** `checkDeadline` for loops over the words of a document, of which there may be ten millions. @throws as it does */
export function checkDeadlineAt(step: number, deadline: number): void {
  if ((step & STEPS_BETWEEN) === 0) checkDeadline(deadline);
}

/** @throws Failure `timeout` when `deadline` (performance.now() time, ms) has passed */
export function checkDeadline(deadline: number): void {
  if (performance.now() > deadline) throw new Failure("timeout", "the search took longer than its limit");
}
