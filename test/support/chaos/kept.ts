import { readFileSync } from "node:fs";
import { runningProcesses } from "../processes.ts";
import { type Running, start } from "../scale/crawl.ts";

/** How long a command that has ended stays away. */
const RESTART_MS = 300;
const MOST_STARTS = 300;
const LOOK_EVERY_MS = 200;

type KeptOptions = {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** How a command ends that has done its work; a server (null) never does. */
  readonly doneWith: number | null;
};

/** A command of the built program that is started again whenever it ends before its work is done, as systemd would. */
export class Kept implements AsyncDisposable {
  readonly runs: Running[] = [];
  /** Of every process so far, those that a server has started among them, the most memory that it ever had, in kB. */
  readonly peaks = new Map<number, number>();
  /** When a process that was stopped went on, in ms since 1970 by the monotonic clock, and for how long it was stopped. */
  readonly wakes: { readonly at: number; readonly stoppedMs: number }[] = [];
  /** Settled when the work is done. */
  readonly done: Promise<void>;
  readonly #options: KeptOptions;
  readonly #watch = setInterval(() => this.#look(), LOOK_EVERY_MS);
  #isOver = false;
  #kills = 0;

  constructor(options: KeptOptions) {
    this.#options = options;
    this.done = this.#keep();
    this.done.catch(() => {});
  }

  /** All that it has said so far, whichever of its processes. */
  said(): string {
    return this.runs.map((run) => run.stderr()).join("");
  }

  /** Its living processes; the first one has started the others. */
  pids(): number[] {
    const run = this.runs.at(-1);
    if (run === undefined || run.hasEnded()) return [];
    const own = runningProcesses().filter(
      ({ pid, parent, args }) => parent === run.pid && pid !== run.pid && args.includes("article-extractor"),
    );
    return [run.pid, ...own.map(({ pid }) => pid)];
  }

  /** The process at a share in [0, 1) of the living ones; undefined while there is none. */
  at(share: number): number | undefined {
    const pids = this.pids();
    return pids[Math.floor(share * pids.length)];
  }

  kill(pid: number): void {
    this.#look();
    if (pid === this.runs.at(-1)?.pid) this.#kills++;
    signal(pid, "SIGKILL");
  }

  /** Stops a process. @returns what lets it go on */
  stop(pid: number): () => void {
    const stoppedAt = performance.now();
    signal(pid, "SIGSTOP");
    return () => {
      const now = performance.now();
      this.wakes.push({ at: performance.timeOrigin + now, stoppedMs: now - stoppedAt });
      signal(pid, "SIGCONT");
    };
  }

  async #keep(): Promise<void> {
    const { words, env, doneWith } = this.#options;
    while (!this.#isOver) {
      const run = start(words, env);
      this.runs.push(run);
      const code = await run.exited;
      if (this.#isOver || (doneWith !== null && code === doneWith)) return;
      this.#judge(run, code);
      await Bun.sleep(RESTART_MS);
    }
  }

  /** A command that ends by itself says why, and only we kill. */
  #judge(run: Running, code: number | null): void {
    const what = `${this.#options.words.slice(0, 2).join(" ")} ended with ${code}: ${run.stderr().slice(-2000)}`;
    if (code === null && this.#kills-- <= 0) throw new Error(`nobody killed it, but ${what}`);
    if (code !== null && !/error:|"level":"(?:error|critical)"/.test(run.stderr()))
      throw new Error(`it does not say why ${what}`);
    if (this.runs.length > MOST_STARTS) throw new Error(`it never comes to its end; ${what}`);
  }

  #look(): void {
    for (const pid of this.pids()) {
      const peak = Number(/VmHWM:\s+(\d+)/.exec(statusOf(pid))?.[1] ?? 0);
      this.peaks.set(pid, Math.max(peak, this.peaks.get(pid) ?? 0));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    clearInterval(this.#watch);
    const pids = this.pids();
    for (const pid of pids) signal(pid, "SIGKILL");
    await this.runs.at(-1)?.exited;
    await this.done.catch(() => {});
  }
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}

/** Sends a signal to a process that may have ended just now. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
