import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { systemCode } from "../base/system-error.ts";

/** A UDP socket to a StatsD server. */
interface StatsdSocket extends AsyncDisposable {
  /** Sends without waiting; a datagram that cannot be sent is lost, as usual with StatsD. */
  send(datagram: string): void;
}

const MAX_DRAIN_MS = 500;
/** How long the resolver's answer is used, even a refusal; otherwise each datagram would ask again. */
const RESOLVED_MS = 60_000;

/**
 * Opens the socket; disposing of it waits until everything has been sent, at most half a second.
 * @param host a name or an address
 * @param onTrouble called once with the reason why datagrams are not sent, in words that follow a colon
 */
export function openStatsd(host: string, port: number, onTrouble: (reason: string) => void): StatsdSocket {
  const family = isIP(host) === 6 ? 6 : 4;
  const socket = createSocket(family === 6 ? "udp6" : "udp4");
  let isTold = false;
  const tell = (reason: string): void => {
    if (!isTold) onTrouble(reason);
    isTold = true;
  };
  const unresolved = `the name ${host} is not resolved`;
  const addressOf = resolveNowAndThen(host, family, (code) => tell(`${unresolved} (${code})`));
  socket.on("error", (error) => tell(codeOf(error))); // metrics never disturb the work
  socket.unref();
  const underWay = new Set<Promise<void>>();
  return {
    send: (datagram) => {
      const sent = addressOf().then((address) => {
        if (address === null) return;
        return new Promise<void>((resolve) =>
          socket.send(datagram, port, address, (error) => {
            if (error) tell(codeOf(error));
            resolve();
          }),
        );
      });
      underWay.add(sent);
      void sent.then(() => underWay.delete(sent));
    },
    [Symbol.asyncDispose]: async () => {
      // A resolver that does not answer must not delay the end of the program.
      const limit = new Promise((resolve) => setTimeout(resolve, MAX_DRAIN_MS).unref());
      await Promise.race([Promise.all(underWay), limit]);
      if (underWay.size > 0) tell(`${unresolved} within ${MAX_DRAIN_MS} ms of the end`);
      socket.close();
    },
  };
}

/** Resolves to the address, or to null without one; never rejects. */
function resolveNowAndThen(
  host: string,
  family: 4 | 6,
  onFailure: (code: string) => void,
): () => Promise<string | null> {
  let answer: Promise<string | null> | null = null;
  let askedAt = 0;
  return () => {
    const now = performance.now();
    if (answer !== null && now - askedAt < RESOLVED_MS) return answer;
    askedAt = now;
    answer = lookup(host, { family }).then(
      ({ address }) => address,
      (error: unknown) => {
        onFailure(codeOf(error));
        return null;
      },
    );
    return answer;
  };
}

const codeOf = (error: unknown): string => systemCode(error) ?? String(error);
