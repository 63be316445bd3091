import { Failure } from "../base/failure.ts";
import { systemReason } from "../base/system-error.ts";
import { OutputClosed } from "./io.ts";

/** Whether the system refused for this reason. */
export const hasCode = (error: unknown, code: string): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === code;

/** What an error of writing to stdout means to a command. */
export function stdoutFailure(cause: unknown): Error {
  // The reader has seen enough, as `head` does: nothing is wrong.
  if (hasCode(cause, "EPIPE")) return new OutputClosed();
  return new Failure("unwritable_output", `standard output cannot be written: ${systemReason(cause)}`, {
    cause,
  });
}
