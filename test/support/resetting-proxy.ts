import { connect, createServer, type Socket } from "node:net";
import { reservePort } from "../../src/server/listen.ts";
import { seededRandom } from "./damage-pages.ts";

type ResettingOptions = {
  /** The port on loopback that connections lead to. */
  readonly to: number;
  readonly seed: number;
  /** How many of the pieces that pass end their connection: 0.02 of them. */
  readonly share: number;
  /** After so many resets everything passes. */
  readonly maxResets: number;
};

const MAX_DELAY_MS = 20;

/**
 * Stands before a server on loopback, and ends connections at random. Before a piece passes, a request never arrives or its
 * answer is lost; after a piece of a request, the server works in vain. Some connections are reset, others closed.
 */
export async function startResettingProxy({ to, seed, share, maxResets }: ResettingOptions) {
  const random = seededRandom(seed);
  const sockets = new Set<Socket>();
  let resets = 0;
  const pass = (from: Socket, into: Socket): void => {
    let isCut = false;
    from.on("data", (piece) => {
      const isHit = !isCut && resets < maxResets && random() < share;
      // What follows a lost piece does not arrive either.
      isCut ||= isHit && random() < 0.5;
      if (!isCut) into.write(piece);
      if (!isHit) return;
      resets++;
      const isReset = random() < 0.5;
      // Either at once, or while the connection is idle or carries the next statement.
      const end = (): void => {
        for (const socket of [from, into]) isReset ? socket.resetAndDestroy() : socket.destroy();
      };
      setTimeout(end, random() < 0.5 ? 0 : random() * MAX_DELAY_MS);
    });
    from.on("close", () => into.destroy());
    from.on("error", () => into.destroy());
    sockets.add(from);
    from.on("close", () => sockets.delete(from));
  };
  const server = createServer((client) => {
    const behind = connect({ host: "127.0.0.1", port: to });
    pass(client, behind);
    pass(behind, client);
  });
  const port = await reservePort("127.0.0.1", 0);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    port,
    /** How many connections it has ended. */
    resets: () => resets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
