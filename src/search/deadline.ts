import { Failure } from "../failure.ts";

/** @throws Failure `timeout` when `deadline` (performance.now() time, ms) has passed */
export function checkDeadline(deadline: number): void {
  if (performance.now() > deadline) throw new Failure("timeout", "the search took longer than its limit");
}
