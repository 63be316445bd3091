import type { FaultyBucket } from "../bucket.ts";
import type { GitServer } from "../git-server.ts";
import type { PostgresServer } from "../postgres.ts";
import type { ManyHosts, Mood } from "../scale/site.ts";
import type { Kept } from "./kept.ts";

/** What a scenario gives to the faults. */
export type Targets = {
  readonly processes: readonly Kept[];
  readonly clock?: { set(seconds: number): void } | null;
  readonly disk?: { fill(): void; free(): void } | null;
  readonly database?: PostgresServer | undefined;
  readonly store?: FaultyBucket | undefined;
  readonly site?: ManyHosts;
  readonly source?: GitServer;
  /** The server that clients are slow at. */
  readonly door?: { readonly port: number };
};
type Target = keyof Targets;
type End = () => unknown;

/** A fault of one target. Faults of one target never overlap; those of several do. */
type Fault = {
  readonly name: string;
  readonly target: Target;
  readonly lastsMs: readonly [number, number];
  /** @param share a number in [0, 1) that chooses within the fault @returns what ends it */
  start(targets: Targets, share: number): End | Promise<End>;
  /** What the processes say of it when it has lasted for so long while there was work. */
  readonly says: { readonly words: RegExp; readonly afterMs: number } | null;
};

/** A fault of a target, which is there when the fault starts. */
const on = <K extends Target>(
  target: K,
  name: string,
  lastsMs: Fault["lastsMs"],
  start: (it: NonNullable<Targets[K]>, share: number) => End | Promise<End>,
  says: Fault["says"] = null,
): Fault => ({
  name,
  target,
  lastsMs,
  says,
  start: (targets, share) => start(targets[target] as NonNullable<Targets[K]>, share),
});

const nothing = (): void => {};
const ONCE = [0, 0] as const;

/** The command at a share of all, and one of its processes; null while none lives. */
function chosen(processes: readonly Kept[], share: number): { kept: Kept; pid: number } | null {
  const place = share * processes.length;
  const kept = processes[Math.floor(place)];
  const pid = kept?.at(place % 1);
  return kept === undefined || pid === undefined ? null : { kept, pid };
}

const moody = (mood: Mood, says: Fault["says"] = null): Fault => {
  const start = async (site: ManyHosts): Promise<End> => {
    await site.setMood(mood);
    return () => site.setMood("well");
  };
  return on("site", `the site is ${mood}`, [500, 4000], start, says);
};

const faultyStore = (does: string, answer: FaultyBucket["fault"], says: Fault["says"] = null): Fault => {
  const start = (store: FaultyBucket): End => {
    store.fault = answer;
    return () => {
      store.fault = () => null;
    };
  };
  return on("store", `the store ${does}`, [500, 7000], start, says);
};

/** An answer whose body breaks off. */
const broken = (): Response => new Response(breaking() as never);
async function* breaking(): AsyncGenerator<string> {
  yield "<";
  await Bun.sleep(5);
  throw new Error("the connection breaks");
}

/** The store does what it is asked to, and its answer breaks off. */
async function loseAnswer(request: Request): Promise<Response | null> {
  if (request.headers.has("x-answer-lost")) return null;
  const headers = { ...Object.fromEntries(request.headers), "x-answer-lost": "yes" };
  const body = await request.arrayBuffer();
  await fetch(request.url, { method: request.method, headers, body });
  return broken();
}

const STORE_AWAY = { words: /store away; what needs it waits/, afterMs: 3000 };
const JUMPS = [-86_400, -3600, -20, 20, 3600, 86_400];

const FAULTS: readonly Fault[] = [
  on("processes", "a process is killed", ONCE, (processes, share) => {
    const one = chosen(processes, share);
    one?.kept.kill(one.pid);
    return nothing;
  }),
  on("processes", "a process is stopped", [100, 6000], (processes, share) => {
    const one = chosen(processes, share);
    return one?.kept.stop(one.pid) ?? nothing;
  }),
  on("clock", "the clock jumps", [500, 5000], (clock, share) => {
    clock.set(JUMPS[Math.floor(share * JUMPS.length)] ?? 0);
    return () => clock.set(0);
  }),
  on(
    "disk",
    "the disk is full",
    [500, 4000],
    (disk) => {
      disk.fill();
      return () => disk.free();
    },
    { words: /the disk is full|no space is left/, afterMs: 2500 },
  ),
  on(
    "database",
    "the database is stopped at once",
    [100, 5000],
    async (database) => {
      await database.stop("immediate");
      return () => database.start();
    },
    { words: /the database cannot be reached/, afterMs: 2000 },
  ),
  on("database", "the database resets all connections", ONCE, async ({ url }) => {
    await using sql = new Bun.SQL(url, { max: 1 });
    await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;
    return nothing;
  }),
  on("database", "the database freezes", [100, 5000], (database, share) => {
    database.freeze(share < 0.5 ? "connections" : "all");
    return () => database.thaw();
  }),
  faultyStore("answers 500", () => new Response("", { status: 500 }), STORE_AWAY),
  faultyStore("answers 503", () => new Response("", { status: 503 }), STORE_AWAY),
  faultyStore("is slow", () => Bun.sleep(1000).then(() => null)),
  faultyStore("breaks connections", broken, STORE_AWAY),
  faultyStore("loses answers", loseAnswer),
  moody("slow"),
  moody("broken"),
  moody("unavailable", { words: /host paused/, afterMs: 2000 }),
  on("source", "the repository answers 503", [500, 4000], (git) => {
    git.intercept(() => new Response("", { status: 503 }));
    return () => git.intercept(null);
  }),
  on("door", "clients are slow to read and to send", [500, 5000], async ({ port }) => {
    const clients = await Promise.all(
      Array.from({ length: 8 }, (_, index) => slowClient(port, index % 2 === 0)),
    );
    return () => {
      for (const end of clients) end();
    };
  }),
];

/** Never reads the long answers that it asked for, or sends a request byte for byte. @returns what ends it */
async function slowClient(port: number, isReader: boolean): Promise<() => void> {
  const open = (socket: Bun.Socket): void => void (isReader && socket.pause());
  const opening = Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {}, error() {}, open } });
  // While the server is started again nobody listens.
  const socket = await opening.catch(() => null);
  const head = `Host: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n`;
  if (isReader) socket?.write(`GET /openapi.json HTTP/1.1\r\n${head}\r\n`.repeat(20));
  else socket?.write(`POST / HTTP/1.1\r\n${head}Content-Length: 1000\r\n\r\n{`);
  const drip = setInterval(() => isReader || socket?.write(" "), 200);
  return () => {
    clearInterval(drip);
    socket?.terminate();
  };
}

/** A fault with its time. */
export type PlannedFault = {
  readonly fault: Fault;
  readonly atMs: number;
  readonly lastsMs: number;
  readonly share: number;
};

/** Between two faults of a target there is some time for what it is there for. */
const CALM_MS = 1000;
/** Faults to leave out, to find out which one matters: `CHAOS_WITHOUT='clock|disk'`. */
const LEFT_OUT = process.env.CHAOS_WITHOUT ? new RegExp(process.env.CHAOS_WITHOUT) : null;

/** The faults of some seconds; the same for the same random numbers in [0, 1) and targets. */
export function planFaults(random: () => number, seconds: number, targets: Targets): PlannedFault[] {
  const between = (least: number, most: number): number => least + random() * (most - least);
  const fitting = FAULTS.filter(({ target }) => targets[target] !== undefined && targets[target] !== null);
  const busyUntil = new Map<Target, number>();
  const planned: PlannedFault[] = [];
  for (let atMs = between(500, 1500); atMs < seconds * 1000; atMs += between(300, 1500)) {
    const fault = fitting[Math.floor(random() * fitting.length)] as Fault;
    const lastsMs = between(...fault.lastsMs);
    const share = random();
    if ((busyUntil.get(fault.target) ?? 0) > atMs || LEFT_OUT?.test(fault.name)) continue;
    busyUntil.set(fault.target, atMs + lastsMs + CALM_MS);
    planned.push({ fault, atMs, lastsMs, share });
  }
  return planned;
}
