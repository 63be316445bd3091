import { pause } from "../../base/abort.ts";
import { type Client, type Connections, closeNow, limited } from "./connections.ts";

/** Called with each message, and with null when some may have been missed. */
type Wake = (message: string | null) => void;

/** How often the connection is asked whether it still lives, in ms: a lost one may never say so. */
const PROBE_MS = 10_000;
const ANSWER_MS = 5_000;
/** The pause before a lost connection is replaced, in ms, shortened at random by up to half. */
const RECONNECT_MS = 1_000;

/** Receives the messages of all channels on one connection, which it opens for the first and replaces when it is lost. */
export function createListener(connections: Connections) {
  const channels = new Map<string, Set<Wake>>();
  const ending = new AbortController();
  let client: Client | null = null;
  let isHearing = false;

  const tell = (wakes: Iterable<Wake>, message: string | null): void => {
    for (const wake of [...wakes]) wake(message);
  };
  const begin = async (on: Client, channel: string): Promise<void> => {
    await limited(on.query(`LISTEN "${channel}"`), "LISTEN", { ms: ANSWER_MS, signal: ending.signal });
    tell(channels.get(channel) ?? [], null);
  };
  /** Listens until the connection is lost. */
  const hear = async (): Promise<void> => {
    const own = await connections.open();
    const lost = new AbortController();
    own.once("end", () => lost.abort());
    own.on("notification", ({ channel, payload }) => tell(channels.get(channel) ?? [], payload ?? ""));
    const either = AbortSignal.any([lost.signal, ending.signal]);
    try {
      for (const channel of channels.keys()) await begin(own, channel);
      client = own;
      while (!either.aborted) {
        await pause(PROBE_MS, either);
        if (!either.aborted)
          await limited(own.query("SELECT 1"), "a probe", { ms: ANSWER_MS, signal: either });
      }
    } finally {
      client = null;
      closeNow(own);
    }
  };
  const keepHearing = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      // Listeners also poll, and polling reports a connection that cannot be opened.
      await hear().catch(() => {});
      await pause(RECONNECT_MS * (1 - Math.random() / 2), ending.signal);
    }
  };
  return {
    listen(channel: string, wake: Wake): Disposable {
      const wakes = channels.get(channel) ?? new Set();
      // The same function may be given twice.
      const own: Wake = (message) => wake(message);
      wakes.add(own);
      const isNew = !channels.has(channel);
      channels.set(channel, wakes);
      if (!isHearing) void keepHearing();
      isHearing = true;
      if (isNew && client !== null) {
        const on = client;
        begin(on, channel).catch(() => closeNow(on));
      } else if (client !== null) queueMicrotask(() => own(null));
      return { [Symbol.dispose]: () => void wakes.delete(own) };
    },
    [Symbol.dispose]: () => ending.abort(),
  };
}
