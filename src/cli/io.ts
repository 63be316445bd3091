import type { Host } from "../app/index.ts";
import type { ServingProcess } from "../server/index.ts";

/**
 * All that a command sees of the process around it, so that a command is a function from words and
 * streams to an exit code.
 */
export type Io = Host &
  ServingProcess & {
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
