import { onAbort } from "../../../base/abort.ts";
import type { Log } from "../../../base/log.ts";
import type { EgressCaller } from "../../../fetching/index.ts";
import { MAX_BODY_BYTES } from "../../middleware/body.ts";
import { ClientConnection } from "./connection.ts";
import type { McpOptions } from "./offer.ts";

/** One client that started the server itself. */
type StdioClient = {
  /** Writes to stdout; rejects when the client cannot be reached any more. */
  readonly write: (text: string) => Promise<void>;
  /** Ends the service. */
  readonly signal: AbortSignal;
  readonly caller: EgressCaller;
  readonly log: Log;
};

/** How long calls may take after the client has closed stdin, in ms. */
const GRACE_MS = 8_000;

/**
 * Serves one client over stdin and stdout, a message on each line, until it closes stdin; the answers of calls
 * under way are still written. Throws what `client.write` throws.
 */
export async function serveMcpStdio(
  options: McpOptions,
  { write, signal, caller, log }: StdioClient,
): Promise<void> {
  // Imported here, because a server over HTTP that no such client reaches does not need it.
  const { connectClient } = await import("./modern.ts");
  const connection = new ClientConnection((text) => write(`${text}\n`));
  const ended = Promise.withResolvers<void>();
  const server = connectClient(options, connection, (callSignal) => ({
    signal: () => callSignal,
    caller: () => caller,
    client: () => "",
    log,
  }));
  connection.onerror = ended.reject;
  const lines = createLines(MAX_BODY_BYTES, {
    onLine: (line) => connection.receive(line),
    onTooLong: () => connection.refuse(`a message has at most ${MAX_BODY_BYTES} bytes`),
  });
  process.stdin.on("data", lines);
  process.stdin.once("end", () => {
    // The last line may end with the stream.
    lines(Buffer.of(NEWLINE));
    // The timer must not keep the program from ending.
    setTimeout(ended.resolve, GRACE_MS).unref();
    void connection.idle().then(ended.resolve);
  });
  onAbort(signal, ended.resolve);
  try {
    await ended.promise;
  } finally {
    process.stdin.off("data", lines);
    process.stdin.pause();
    await server.close();
  }
}

const NEWLINE = 10;

/** Makes what puts pieces of a stream together to lines; blank ones are left out. */
export function createLines(
  maxBytes: number,
  { onLine, onTooLong }: { readonly onLine: (line: string) => void; readonly onTooLong: () => void },
): (piece: Buffer) => void {
  let pieces: Buffer[] = [];
  let length = 0;
  const add = (part: Buffer): void => {
    length += part.length;
    // Of a line that is too long only the length is kept.
    if (length <= maxBytes) pieces.push(part);
    else pieces = [];
  };
  return (piece) => {
    let start = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, start)) {
      add(piece.subarray(start, end));
      // A byte order mark is trimmed as well.
      const [line, isTooLong] = [Buffer.concat(pieces).toString().trim(), length > maxBytes];
      [pieces, length, start] = [[], 0, end + 1];
      if (isTooLong) onTooLong();
      else if (line !== "") onLine(line);
    }
    add(piece.subarray(start));
  };
}
