import type { Host } from "../app/index.ts";
import { orAborted } from "../base/abort.ts";
import { Failure } from "../base/failure.ts";
import { systemCode, systemReason } from "../base/system-error.ts";
import type { ServingProcess } from "../server/index.ts";

/** All that a command sees of its process: it is a function from words and streams to an exit code. */
export type Io = Host &
  ServingProcess & {
    /** The words that start this program: its path, or the path of its runtime and its own. */
    readonly command: readonly string[];
    /** Makes worker threads that start from now on yield the processor to the main thread (on Linux). */
    readonly letWorkersGiveWay: () => void;
    readonly stdin: {
      readonly isTerminal: boolean;
      read(maxBytes: number): Promise<Uint8Array>;
      stream(): ReadableStream<Uint8Array>;
      /** Reads what is typed up to the next line break; null at the end of the input. */
      readLine(): Promise<string | null>;
    };
    readonly stdout: {
      readonly isTerminal: boolean;
      readonly columns: number;
      readonly identity: FileIdentity | null;
      /** Throws `OutputClosed`, or `Failure` `unwritable_output`. */
      write(content: string | Uint8Array): Promise<void>;
    };
    readonly stderr: {
      readonly isTerminal: boolean;
      readonly columns: number;
      readonly identity: FileIdentity | null;
      write(text: string): void;
    };
  };

/** Identifies the target of a stream, to recognise a path to the same file, pipe or terminal; null when it is closed. */
export type FileIdentity = { readonly dev: number; readonly ino: number };

/** The reader of the output has closed it, as `head` does when it has enough. */
export class OutputClosed extends Error {
  override readonly name = "OutputClosed";
}

/** Translates an error of writing to stdout. */
export function stdoutFailure(cause: unknown): Error {
  // The reader has closed the output, as `head` does, so nothing is wrong.
  if (systemCode(cause) === "EPIPE") return new OutputClosed();
  return new Failure("unwritable_output", `standard output cannot be written: ${systemReason(cause)}`, {
    cause,
  });
}

/**
 * Waits for work that cannot be cancelled, such as opening or reading a pipe without a writer; the work is abandoned
 * when the person interrupts.
 * @throws Failure `cancelled`, and what the work throws
 */
export const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  orAborted(work, signal, () => new Failure("cancelled", "interrupted"));

/** Makes the failure for a wrong command line. */
export const wrongUsage = (message: string, options?: ErrorOptions): Failure =>
  new Failure("invalid_usage", message, options);

/** Asks a person at the terminal; Enter means yes, and the end of the input no. */
export async function confirm(question: string, { stdin, stderr }: Io): Promise<boolean> {
  stderr.write(question);
  return /^(?:y|yes|)$/i.test((await stdin.readLine())?.trim() ?? "no");
}

/** Reads a stream to its end, or until it has given this many bytes or more. */
export async function readAtMost(stream: AsyncIterable<Uint8Array>, bytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= bytes) break;
  }
  return Buffer.concat(chunks);
}
