import type { Host } from "../app/index.ts";
import { orAborted } from "../base/abort.ts";
import { Failure } from "../base/failure.ts";
import { systemReason } from "../base/system-error.ts";
import type { ServingProcess } from "../server/index.ts";

/**
 * All that a command sees of the process around it, so that a command is a function from words and
 * streams to an exit code.
 */
export type Io = Host &
  ServingProcess & {
    /** The words that start this program: its path, or that of what runs it and its own. */
    readonly command: readonly string[];
    /** Has worker threads that start from now on leave the processor to the main thread (on Linux). */
    readonly letWorkersGiveWay: () => void;
    readonly stdin: {
      readonly isTerminal: boolean;
      read(maxBytes: number): Promise<Uint8Array>;
      /** What is typed up to the next line break; null at the end of the input. */
      readLine(): Promise<string | null>;
    };
    readonly stdout: {
      readonly isTerminal: boolean;
      readonly columns: number;
      readonly identity: FileIdentity | null;
      /** Throws `OutputClosed`, or `Failure` `unwritable_output`. */
      write(text: string): Promise<void>;
    };
    readonly stderr: {
      readonly isTerminal: boolean;
      readonly columns: number;
      readonly identity: FileIdentity | null;
      write(text: string): void;
    };
  };

/** What a stream goes to, so that a path to the same file, pipe or terminal is recognised; null: closed. */
export type FileIdentity = { readonly dev: number; readonly ino: number };

/** The reader of our output has gone, as `head` does when it has seen enough. */
export class OutputClosed extends Error {
  override readonly name = "OutputClosed";
}

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

/**
 * Waits for what cannot be called off itself, such as opening or reading a pipe on which nobody writes;
 * it is left behind when the person interrupts.
 * @throws Failure `cancelled`, and what the work throws
 */
export const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  orAborted(work, signal, () => new Failure("cancelled", "interrupted"));
