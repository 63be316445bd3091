import net from "node:net";
import tls from "node:tls";

/** A request as it came over the wire. */
export type RawRequest = {
  readonly method: string;
  /** The request target as sent: a path, or an absolute URL where the client takes us for a proxy. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As many bytes as Content-Length says. */
  readonly body: string;
  /** Which connection it came over, from 1. */
  readonly connection: number;
};

export type RawServer = Awaited<ReturnType<typeof startRawServer>>;

export type RawServerOptions = {
  /** Writes whatever it likes to the socket, malformed answers included. */
  readonly answer: (request: RawRequest, socket: net.Socket) => void | Promise<void>;
  readonly tls?: { readonly key: string; readonly cert: string };
  readonly host?: string;
};

/**
 * A server that leaves every byte of the answer to the test: node:http would repair what tests want broken.
 * It reads requests one after another on a connection.
 */
export async function startRawServer(options: RawServerOptions) {
  const requests: RawRequest[] = [];
  const sockets = new Set<net.Socket>();
  let connections = 0;
  const answerOne = async (request: RawRequest, socket: net.Socket): Promise<void> => {
    await options.answer(request, socket);
    if (request.headers.connection === "close") socket.end();
  };
  const onSocket = (socket: net.Socket): void => {
    const connection = ++connections;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {}); // clients hang up on faulty answers
    let pending = "";
    socket.on("data", (bytes) => {
      pending += bytes.toString("latin1");
      for (let end = pending.indexOf("\r\n\r\n"); end >= 0; end = pending.indexOf("\r\n\r\n")) {
        const head = parseHead(pending.slice(0, end));
        const bodyEnd = end + 4 + Number(head.headers["content-length"] ?? 0);
        if (pending.length < bodyEnd) return;
        const request = { ...head, body: pending.slice(end + 4, bodyEnd), connection };
        pending = pending.slice(bodyEnd);
        requests.push(request);
        void answerOne(request, socket);
      }
    });
  };
  const server = options.tls ? tls.createServer(options.tls, onSocket) : net.createServer(onSocket);
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, options.host ?? "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    port: address.port,
    /** Every request so far, in order. */
    requests,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function parseHead(head: string): Omit<RawRequest, "body" | "connection"> {
  const [first = "", ...lines] = head.split("\r\n");
  const [method = "", target = ""] = first.split(" ");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { method, target, headers };
}
