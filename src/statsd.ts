import { createSocket } from "node:dgram";

/** A UDP socket to a StatsD server. */
export interface StatsdSocket extends AsyncDisposable {
  /** Sends without waiting; a datagram that cannot be sent is lost, as StatsD means it. */
  send(datagram: string): void;
}

const MAX_DRAIN_MS = 500;

/** Opens the socket; disposing it waits until what was sent has left. */
export function openStatsd(host: string, port: number): StatsdSocket {
  const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
  socket.on("error", () => {}); // metrics never disturb the work
  socket.unref();
  const underWay = new Set<Promise<void>>();
  return {
    send: (datagram) => {
      const sent = new Promise<void>((resolve) => socket.send(datagram, port, host, () => resolve()));
      underWay.add(sent);
      void sent.then(() => underWay.delete(sent));
    },
    [Symbol.asyncDispose]: async () => {
      // A server's name that does not resolve must not hold the program back.
      const limit = new Promise((resolve) => setTimeout(resolve, MAX_DRAIN_MS).unref());
      await Promise.race([Promise.all(underWay), limit]);
      socket.close();
    },
  };
}
