import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { systemCode } from "../base/system-error.ts";

/** A UDP socket to a StatsD server. */
export interface StatsdSocket extends AsyncDisposable {
  /** Sends without waiting; a datagram that cannot be sent is lost, as StatsD means it. */
  send(datagram: string): void;
}

export type StatsdOptions = {
  /** Name or address. */
  readonly host: string;
  readonly port: number;
  /** Told once why datagrams do not leave, in words that follow a colon. */
  readonly onTrouble: (reason: string) => void;
};

const MAX_DRAIN_MS = 500;
/** How long an answer of the resolver is used, a refusal too: each datagram would ask again. */
const RESOLVED_MS = 60_000;

/** Opens the socket; disposing it waits until what was sent has left, half a second at most. */
export function openStatsd({ host, port, onTrouble }: StatsdOptions): StatsdSocket {
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
      // A resolver that does not answer must not hold the program back.
      const limit = new Promise((resolve) => setTimeout(resolve, MAX_DRAIN_MS).unref());
      await Promise.race([Promise.all(underWay), limit]);
      if (underWay.size > 0) tell(`${unresolved} within ${MAX_DRAIN_MS} ms of the end`);
      socket.close();
    },
  };
}

/** Fulfilled with the address, or null where there is none; never rejected. */
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
