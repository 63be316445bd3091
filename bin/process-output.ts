import { fstatSync, type Stats, write, writeSync } from "node:fs";

/** Writes to stdout and stderr: completely, in order, after what is already there. */
export interface ProcessOutput {
  /** Resolves when all of it is written. Rejects with the system's error. */
  toStdout(content: string | Uint8Array): Promise<void>;
  /** Drops text that cannot be written, because there is nowhere else to report it. */
  toStderr(text: string): void;
  /** Resolves when no write is under way any more, whether or not it succeeded. */
  drained(): Promise<void>;
}

/** How much text may wait for a reader of stderr who has stopped reading. */
const MAX_WAITING_CHARACTERS = 8_000_000;

/**
 * Writes to the given descriptors with write(2) alone. `Bun.write(Bun.stdout, text)` reserves and truncates
 * the file, which destroys the contents that `>> file` keeps; `process.stdout` costs 4 ms at the start and
 * loses its buffer at the end.
 */
export function createProcessOutput(): ProcessOutput {
  let opened: { readonly stdout: Destination; readonly stderr: Destination } | null = null;
  const destinations = () => (opened ??= openDestinations());
  let waiting = 0;
  let dropped = 0;
  return {
    toStdout: (content) => put(destinations().stdout, STDOUT, content),
    toStderr(text) {
      if (waiting > MAX_WAITING_CHARACTERS) {
        dropped++;
        return;
      }
      const note = dropped > 0 ? `warning: ${dropped} messages are lost, for nobody read them\n` : "";
      dropped = 0;
      waiting += text.length;
      put(destinations().stderr, STDERR, note + text)
        .catch(() => {})
        .finally(() => {
          waiting -= text.length;
        });
    },
    drained: async () => {
      if (opened) await Promise.all([opened.stdout.last, opened.stderr.last]);
    },
  };
}

const STDOUT = 1;
const STDERR = 2;

/** The destination of one or both descriptors. */
type Destination = {
  /**
   * Whether it is a file, which takes everything at once, so that a killed program's output is already there.
   */
  readonly isFile: boolean;
  /** Settles when everything so far is written. */
  last: Promise<void>;
};

function openDestinations() {
  const [out, error] = [statsOf(STDOUT), statsOf(STDERR)];
  const open = (stats: Stats | null): Destination => ({
    isFile: stats?.isFile() ?? false,
    last: Promise.resolve(),
  });
  const stdout = open(out);
  // When both are one terminal, or one pipe by `2>&1`, the output keeps its order.
  const isSame = out !== null && out.dev === error?.dev && out.ino === error.ino;
  return { stdout, stderr: isSame ? stdout : open(error) };
}

/** What a descriptor leads to; null when it is closed. */
export function statsOf(descriptor: number): Stats | null {
  try {
    return fstatSync(descriptor);
  } catch {
    return null;
  }
}

async function put(
  destination: Destination,
  descriptor: number,
  content: string | Uint8Array,
): Promise<void> {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  if (destination.isFile) return writeAtOnce(descriptor, bytes);
  const written = destination.last.then(() => writeAside(descriptor, bytes));
  destination.last = written.catch(() => {});
  return await written;
}

function writeAtOnce(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at, bytes.length - at);
}

const MAX_PAUSE_MS = 32;

// This runs on a thread of Bun's pool, so that a reader who does not read delays nothing else.
async function writeAside(descriptor: number, bytes: Uint8Array): Promise<void> {
  let pauseMs = 1;
  for (let at = 0; at < bytes.length; ) {
    const count = await writeSome(descriptor, bytes, at);
    at += count;
    // Another process that shares the pipe or terminal has made it non-blocking, and it is full.
    if (count === 0) await Bun.sleep(pauseMs);
    pauseMs = count === 0 ? Math.min(2 * pauseMs, MAX_PAUSE_MS) : 1;
  }
}

/** Returns how many bytes were written. */
const writeSome = (descriptor: number, bytes: Uint8Array, at: number): Promise<number> =>
  new Promise((resolve, reject) => {
    write(descriptor, bytes, at, bytes.length - at, null, (error, count) => {
      if (!error) resolve(count);
      else if (error.code === "EAGAIN") resolve(0);
      else reject(error);
    });
  });
