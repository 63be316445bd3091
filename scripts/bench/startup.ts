/**
 * Measures how much longer the program takes to start than a compiled program that does nothing, and the cost of one
 * page from the shell, including the start.
 *
 *   make bench-startup [PEER=trafilatura]
 *   sh scripts/bun scripts/bench/startup.ts [--binary PATH] [--runs N] [--peer trafilatura] [--scratch DIR]
 *
 * The empty program is compiled with the product's settings; the page is a generated article of 100 kB. The commands
 * take turns, so that a busy moment of the machine slows all of them alike, and the medians of 20 runs each are
 * compared. --version and --help may take at most 10 ms longer than the empty program. Exits 1 when a command fails,
 * prints nothing, or prints a page of the wrong length.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { compileEntry } from "./compile.ts";
import { installPython } from "./contenders.ts";
import { describeCommit, describeMachine } from "./machine.ts";
import { parseCount, parseNames } from "./options.ts";
import { percentile } from "./statistics.ts";

const REPOSITORY = join(import.meta.dir, "..", "..");
const TARGET_MS = 10;
/** The first starts read the binary from the disk. */
const WARM_UP_RUNS = 3;

type Command = {
  readonly label: string;
  readonly argv: readonly string[];
  /** The least number of bytes on stdout. */
  readonly leastBytes: number;
  readonly isStart: boolean;
  /** The file for the standard input; none by default. */
  readonly input?: string;
};

/** The milliseconds of one run, including the creation and the end of the process. */
type Timing = { readonly wallMs: number; readonly cpuMs: number };

function timeRun({ label, argv, leastBytes, input }: Command): Timing {
  const start = performance.now();
  const stdin = input === undefined ? "ignore" : Bun.file(input);
  const run = Bun.spawnSync({ cmd: [...argv], stdin, stdout: "pipe", stderr: "pipe" });
  const wallMs = performance.now() - start;
  if (run.exitCode !== 0) throw new Error(`${label} ended with exit code ${run.exitCode}: ${run.stderr}`);
  if (run.stdout.length < leastBytes)
    throw new Error(`${label} printed ${run.stdout.length} bytes, not ${leastBytes}`);
  // The value is in microseconds and covers all threads.
  return { wallMs, cpuMs: Number(run.resourceUsage.cpuTime.total) / 1000 };
}

function timeAlternating(
  commands: readonly Command[],
  runs: number,
): ReadonlyMap<Command, readonly Timing[]> {
  for (let run = 0; run < WARM_UP_RUNS; run++) commands.forEach(timeRun);
  const times = new Map(commands.map((command) => [command, [] as Timing[]]));
  for (let run = 0; run < runs; run++) {
    for (const [command, timings] of times) timings.push(timeRun(command));
  }
  return times;
}

function printTimes(times: ReadonlyMap<Command, readonly Timing[]>): void {
  const [empty = []] = times.values();
  const median = (timings: readonly Timing[], what: keyof Timing): number =>
    percentile(
      timings.map((timing) => timing[what]),
      0.5,
    );
  const emptyMs = median(empty, "wallMs");
  for (const [{ label, isStart }, timings] of times) {
    const wallMs = median(timings, "wallMs");
    const comparison = isStart && timings !== empty ? `, ${describeDifference(wallMs - emptyMs)}` : "";
    const p95Ms = percentile(
      timings.map((timing) => timing.wallMs),
      0.95,
    );
    console.log(
      `${label.padEnd(22)} median ${wallMs.toFixed(1)} ms, p95 ${p95Ms.toFixed(1)} ms, CPU ${median(timings, "cpuMs").toFixed(1)} ms${comparison}`,
    );
  }
}

/** Makes an article of about 100 kB within the frame of a site. */
function makePage(): string {
  const sentence = (index: number): string =>
    `<p>In the year ${1500 + index} the miller of parish ${index} mends ${index % 97} lanterns and <a href="/p/${index}">counts</a> the barges that pass the weir before the tide turns.</p>`;
  const text = Array.from({ length: 600 }, (_, index) => sentence(index)).join("\n");
  return `<!doctype html><html lang="en"><head><title>Parishes</title></head><body><nav><a href="/">Home</a></nav><main><article><h1>Parishes</h1>${text}</article></main><footer>© Weirside</footer></body></html>`;
}

/** The commands that print a page's text; at least half of it must be printed. */
async function pageCommands(binary: string, scratch: string, hasPeer: boolean): Promise<Command[]> {
  const page = join(scratch, "page.html");
  const html = makePage();
  await Bun.write(page, html);
  const common = { leastBytes: html.length / 2, isStart: false };
  const ours = (form: string): Command => ({
    label: `a page as ${form}`,
    argv: [binary, "--file", page, "--output", form],
    ...common,
  });
  if (!hasPeer) return [ours("text"), ours("markdown")];
  const python = await installPython("trafilatura", scratch);
  const argv = [join(dirname(python), "trafilatura")];
  return [ours("text"), ours("markdown"), { label: "trafilatura, text", argv, input: page, ...common }];
}

function describeDifference(differenceMs: number): string {
  const verdict = differenceMs <= TARGET_MS ? "met" : "missed";
  return `${differenceMs.toFixed(1)} ms over the empty program (target ${TARGET_MS} ms: ${verdict})`;
}

async function main(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      binary: { type: "string" },
      runs: { type: "string" },
      peer: { type: "string" },
      scratch: { type: "string" },
    },
  });
  const binary = resolve(values.binary ?? join(REPOSITORY, "dist", "article-extractor"));
  if (!(await Bun.file(binary).exists())) throw new Error(`${binary} is missing: run make build first`);
  const runs = parseCount("--runs", values.runs) ?? 20;
  const peers = parseNames("--peer", values.peer, ["trafilatura"]);
  const made = await mkdtemp(join(tmpdir(), "article-extractor-startup-"));
  try {
    const empty = join(made, "empty");
    await Bun.write(`${empty}.ts`, "export {};\n");
    await compileEntry(`${empty}.ts`, empty);
    console.log(`${describeMachine()}\ncommit ${await describeCommit(REPOSITORY)}, ${runs} runs each`);
    for (const path of [empty, binary])
      console.log(
        `${(Bun.file(path).size / 1e6).toFixed(1)} MB ${path === empty ? "empty program" : "article-extractor"}`,
      );
    const start = (label: string, command: string[], leastBytes: number): Command => ({
      label,
      argv: command,
      leastBytes,
      isStart: true,
    });
    const commands = [
      start("empty program", [empty], 0),
      start("--version", [binary, "--version"], 1),
      start("--help", [binary, "--help"], 1),
      ...(await pageCommands(binary, values.scratch ?? made, peers.length > 0)),
    ];
    printTimes(timeAlternating(commands, runs));
  } finally {
    await rm(made, { recursive: true });
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
