/** What the benches share: options, the machine, statistics, processes, tables and kept results. */
import { readdirSync, readFileSync } from "node:fs";
import { arch, cpus, loadavg, platform, release, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { compileSettings } from "../build.ts";

export const ROOT = join(import.meta.dir, "..", "..");
export const PROGRAM = join(ROOT, "dist", "article-extractor");

type Values<Spec> = {
  readonly [Name in keyof Spec]: Spec[Name] extends number ? number : string;
};

/**
 * Reads a bench's options: each is a count or a text, as its default is. 0 and "" stand for none. All benches know `--out
 * FILE`, which keeps the raw results, and `--scratch DIR`, where peers are installed.
 */
export function readOptions<Spec extends Readonly<Record<string, number | string>>>(spec: Spec) {
  const defaults = { out: "", scratch: join(tmpdir(), "article-extractor-bench"), ...spec };
  const options = Object.fromEntries(
    Object.keys(defaults).map((name) => [name, { type: "string" as const }]),
  );
  const { values } = parseArgs({ options });
  const read = Object.entries(defaults).map(([name, normal]) => {
    const written = values[name];
    if (written === undefined || written === "") return [name, normal];
    if (typeof normal === "string") return [name, written];
    const count = Number(written);
    if (!(Number.isInteger(count) && count > 0))
      throw new Error(`--${name} ${written} is not a count of 1 or more`);
    return [name, count];
  });
  return Object.fromEntries(read) as Values<Spec & { out: string; scratch: string }>; // each read by its default
}

/** Reads names separated by commas, each of them one of the choices. */
export function parseNames<Name extends string>(
  option: string,
  value: string,
  choices: readonly Name[],
): readonly Name[] {
  const names = value.split(",").filter((name) => name !== "");
  return names.map((name) => {
    const choice = choices.find((candidate) => candidate === name);
    if (choice === undefined) throw new Error(`${option} ${name}: choose among ${choices.join(", ")}`);
    return choice;
  });
}

/** What a number depends on besides the code: the kind of machine, but not which one it is. */
function describeMachine(): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() || "unknown processor";
  const memoryGiB = Math.round(totalmem() / 2 ** 30);
  return `${processors.length} × ${model}, ${memoryGiB} GiB, ${platform()} ${release()} ${arch()}, Bun ${Bun.version}`;
}

/** The measured commit, with `+changes` when files differ from it; `unknown` outside git. */
async function describeCommit(): Promise<string> {
  const git = (...argv: string[]) => Bun.$`git ${argv}`.cwd(ROOT).quiet().nothrow().text();
  const commit = (await git("rev-parse", "--short", "HEAD")).trim();
  if (commit === "") return "unknown";
  const changed = (await git("status", "--porcelain", "--untracked-files=no")).trim() !== "";
  return changed ? `${commit}+changes` : commit;
}

/**
 * Prints what is measured where; before the run, because the tree may change in the minutes that it takes.
 * @returns it, to be kept with the results
 */
export async function introduce(what: string) {
  const date = new Date().toISOString();
  // The CPU time of a page grows when other work shares the processor's caches: 1.3 times at a load of 15.
  const loadAverage = Number(loadavg()[0]?.toFixed(1));
  const about = { date, machine: describeMachine(), commit: await describeCommit(), loadAverage };
  console.log(`${about.machine}, load ${loadAverage}, commit ${about.commit}\n${what}\n`);
  return about;
}

/** Keeps the raw results in a file, if one was named. */
export async function keep(file: string, report: object): Promise<void> {
  if (file !== "") await Bun.write(file, `${JSON.stringify(report, null, 2)}\n`);
}

type Cell = string | number | null;

/** Prints rows in columns with the names of the first row's fields; numbers with three digits that count. */
export function printTable(rows: readonly Readonly<Record<string, Cell>>[]): void {
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => cellText(row[name] ?? null)))];
  const widths = names.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  for (const line of lines)
    console.log(
      line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join("  "),
    );
}

const cellText = (cell: Cell): string => {
  if (typeof cell !== "number") return cell ?? "–";
  const digits = Number.isInteger(cell) || cell >= 100 ? 0 : cell >= 10 ? 1 : 3;
  return cell.toFixed(digits);
};

/**
 * The value below which this share of the values lies, by the nearest rank; 0 for no values.
 * @param share 0–1: 0.5 is the median, 0.95 the 95th percentile
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The median of a quarter of the samples, from the first to the fourth. */
export const quarterOf = (samples: readonly number[], which: number): number =>
  median(samples.slice((samples.length * (which - 1)) / 4, (samples.length * which) / 4));

/** This many items spread evenly over the list, always the same ones; the whole list when it is short enough. */
export function spread<Item>(items: readonly Item[], count: number): readonly Item[] {
  if (count >= items.length) return items;
  return Array.from({ length: count }, (_, index) => items[Math.floor((index * items.length) / count)]!);
}

/** The lines of a program's output, as they come. */
export async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of stream) {
    text += decoder.decode(piece, { stream: true });
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      yield text.slice(0, end);
      text = text.slice(end + 1);
    }
  }
}

/** A site of pages of 92 kB in a process of its own, whose CPU time is nobody's. */
export async function serveCrawlSite(pages: number) {
  const site = Bun.spawn([process.execPath, join(import.meta.dir, "crawl-site.ts"), String(pages)], {
    stdout: "pipe",
  });
  const { value } = await linesOf(site.stdout).next();
  const { port, bytes }: { port: number; bytes: number } = JSON.parse(value ?? "{}");
  return { url: `http://127.0.0.1:${port}`, bytes, [Symbol.dispose]: () => site.kill() };
}

/** Starts a server on a free port, which its command is told, and waits until it answers. */
export async function startServer(command: (port: string) => readonly string[], env: NodeJS.ProcessEnv) {
  const taken = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port } = taken;
  await taken.stop(true);
  const startedAt = performance.now();
  const cwd = env.HOME ?? ROOT;
  const child = Bun.spawn([...command(String(port))], { cwd, env, stdio: ["ignore", "ignore", "ignore"] });
  const stop = async (): Promise<void> => {
    child.kill();
    await child.exited;
  };
  const server = { url: `http://127.0.0.1:${port}`, pid: child.pid, startedAt, [Symbol.asyncDispose]: stop };
  for (;;) {
    const isUp = await fetch(`${server.url}/health`).then(
      (response) => response.ok,
      () => false,
    );
    if (isUp) return server;
    if (performance.now() - startedAt > 30_000 || child.exitCode !== null)
      throw new Error(`${command(String(port)).join(" ")} does not answer`);
    await Bun.sleep(5);
  }
}

type Answer = {
  readonly error: string | null;
  readonly results: readonly unknown[];
  readonly stats: { readonly query_time_ms: number };
};

/** Calls root_search; returns the whole result and what it says. */
export async function callSearch(url: string, args: object) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "root_search", arguments: args },
    }),
  });
  return ((await response.json()) as { result: { structuredContent: Answer } }).result; // the tool's schema
}

/** CPU time of this process since then, in ms. */
export function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The unit of CPU times in /proc. */
export const TICK_MS = 10;

type Process = {
  readonly pid: number;
  readonly parent: number;
  readonly ownTicks: number;
  readonly cpuTicks: number;
};

function readProcess(pid: number): Process | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // Its own time, and that of its ended children (proc(5): utime, stime, cutime, cstime).
    const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15).map(Number);
    const ownTicks = user + system;
    return {
      pid,
      parent: Number(fields[1]),
      ownTicks,
      cpuTicks: ownTicks + childrenUser + childrenSystem,
    };
  } catch {
    return null; // it has ended
  }
}

/** All processes of the machine. */
export const readProcesses = (): Process[] =>
  readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []));

/** CPU time of a process with its threads, and of the children that it has now, in ms. */
export function cpuMsOf(pid: number): number {
  const family = readProcesses().filter((one) => one.pid === pid || one.parent === pid);
  return sum(family.map(({ ownTicks }) => ownTicks)) * TICK_MS;
}

/** Everything that a process has started, directly or not, and that still runs. */
export function descendantsOf(root: number, processes: readonly Process[]): Process[] {
  const children = processes.filter(({ parent }) => parent === root);
  return [...children, ...children.flatMap(({ pid }) => descendantsOf(pid, processes))];
}

/**
 * Memory of a process in MB: `VmRSS`, its peak `VmHWM`, or `Pss`, where shared memory is divided among those who share it. 0 when
 * it has ended.
 */
export function memoryMb(pid: number, field: "VmRSS" | "VmHWM" | "Pss"): number {
  try {
    const text = readFileSync(`/proc/${pid}/${field === "Pss" ? "smaps_rollup" : "status"}`, "latin1");
    return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** Compiles an entry to an executable with the settings of the product's own build. */
export async function compileEntry(entry: string, outfile: string): Promise<void> {
  await Bun.build({ ...compileSettings(outfile), entrypoints: [entry] });
}
