/**
 * Measures how much longer the program takes to start than a compiled program that does nothing.
 *
 *   make bench-startup
 *   sh scripts/bun scripts/bench/startup.ts [--binary PATH] [--runs N]
 *
 * The empty program is compiled with the product's settings. The commands take turns, so that a busy
 * moment of the machine hits all of them alike; the medians of 20 runs each are compared. The target
 * is at most 10 ms over the empty program. Exits 1 when a command fails or prints nothing.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { compileEntry } from "./compile.ts";
import { describeCommit, describeMachine } from "./machine.ts";
import { parseCount } from "./options.ts";
import { percentile } from "./statistics.ts";

const REPOSITORY = join(import.meta.dir, "..", "..");
const TARGET_MS = 10;
/** The first starts read the binary from the disk. */
const WARM_UP_RUNS = 3;

type Command = {
  readonly label: string;
  readonly argv: readonly string[];
  readonly printsSomething: boolean;
};

/** Wall time of one start in milliseconds, process creation and exit included. */
function timeRun({ label, argv, printsSomething }: Command): number {
  const start = performance.now();
  const run = Bun.spawnSync({ cmd: [...argv], stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const elapsedMs = performance.now() - start;
  if (run.exitCode !== 0) throw new Error(`${label} ended with exit code ${run.exitCode}: ${run.stderr}`);
  if (printsSomething && run.stdout.length === 0) throw new Error(`${label} printed nothing`);
  return elapsedMs;
}

function timeAlternating(
  commands: readonly Command[],
  runs: number,
): ReadonlyMap<Command, readonly number[]> {
  for (let run = 0; run < WARM_UP_RUNS; run++) commands.forEach(timeRun);
  const times = new Map(commands.map((command) => [command, [] as number[]]));
  for (let run = 0; run < runs; run++) {
    for (const [command, elapsed] of times) elapsed.push(timeRun(command));
  }
  return times;
}

function printTimes(times: ReadonlyMap<Command, readonly number[]>): void {
  const [emptyTimes = []] = times.values();
  const emptyMs = percentile(emptyTimes, 0.5);
  for (const [{ label }, elapsed] of times) {
    const medianMs = percentile(elapsed, 0.5);
    const comparison = elapsed === emptyTimes ? "" : `, ${describeDifference(medianMs - emptyMs)}`;
    const p95Ms = percentile(elapsed, 0.95);
    console.log(
      `${label.padEnd(14)} median ${medianMs.toFixed(1)} ms, p95 ${p95Ms.toFixed(1)} ms${comparison}`,
    );
  }
}

function describeDifference(differenceMs: number): string {
  const verdict = differenceMs <= TARGET_MS ? "met" : "missed";
  return `${differenceMs.toFixed(1)} ms over the empty program (target ${TARGET_MS} ms: ${verdict})`;
}

async function main(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: { binary: { type: "string" }, runs: { type: "string" } },
  });
  const binary = resolve(values.binary ?? join(REPOSITORY, "dist", "article-extractor"));
  if (!(await Bun.file(binary).exists())) throw new Error(`${binary} is missing: run make build first`);
  const runs = parseCount("--runs", values.runs) ?? 20;
  const scratch = await mkdtemp(join(tmpdir(), "article-extractor-startup-"));
  try {
    const empty = join(scratch, "empty");
    await Bun.write(`${empty}.ts`, "export {};\n");
    await compileEntry(`${empty}.ts`, empty);
    console.log(`${describeMachine()}\ncommit ${await describeCommit(REPOSITORY)}, ${runs} runs each`);
    for (const path of [empty, binary])
      console.log(
        `${(Bun.file(path).size / 1e6).toFixed(1)} MB ${path === empty ? "empty program" : "article-extractor"}`,
      );
    const commands = [
      { label: "empty program", argv: [empty], printsSomething: false },
      { label: "--version", argv: [binary, "--version"], printsSomething: true },
      { label: "--help", argv: [binary, "--help"], printsSomething: true },
    ];
    printTimes(timeAlternating(commands, runs));
  } finally {
    await rm(scratch, { recursive: true });
  }
}

if (import.meta.main) {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    console.error(`bench-startup: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
