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
import { dirname, join } from "node:path";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import {
  compileEntry,
  introduce,
  keep,
  median,
  PROGRAM,
  parseNames,
  percentile,
  printTable,
  readOptions,
} from "./bench.ts";
import { installPython } from "./contenders.ts";

const TARGET_MS = 10;
/** The first starts read the binary from the disk. */
const WARM_UP_RUNS = 3;

type Command = {
  readonly label: string;
  readonly argv: readonly string[];
  /** The least number of bytes on stdout. */
  readonly leastBytes: number;
  /** The file for the standard input; none by default. */
  readonly input?: string;
};

/** The milliseconds of one run, including the creation and the end of the process; the CPU time of all threads. */
function timeRun({ label, argv, leastBytes, input }: Command) {
  const start = performance.now();
  const stdin = input === undefined ? "ignore" : Bun.file(input);
  const run = Bun.spawnSync({ cmd: [...argv], stdin, stdout: "pipe", stderr: "pipe" });
  const wallMs = performance.now() - start;
  if (run.exitCode !== 0) throw new Error(`${label} ended with exit code ${run.exitCode}: ${run.stderr}`);
  if (run.stdout.length < leastBytes)
    throw new Error(`${label} printed ${run.stdout.length} bytes, not ${leastBytes}`);
  return { wallMs, cpuMs: Number(run.resourceUsage.cpuTime.total) / 1000 };
}

/** Makes an article of about 100 kB within the frame of a site. */
function makePage(): string {
  const sentence = (index: number): string =>
    `<p>In the year ${1500 + index} the miller of parish ${index} mends ${index % 97} lanterns and <a href="/p/${index}">counts</a> the barges that pass the weir before the tide turns.</p>`;
  const text = Array.from({ length: 600 }, (_, index) => sentence(index)).join("\n");
  return `<!doctype html><html lang="en"><head><title>Parishes</title></head><body><nav><a href="/">Home</a></nav><main><article><h1>Parishes</h1>${text}</article></main><footer>© Weirside</footer></body></html>`;
}

const options = readOptions({ binary: PROGRAM, runs: 20, peer: "" });
const { binary, runs } = options;
using made = temporaryDirectory();
const empty = join(made.path, "empty");
await Bun.write(`${empty}.ts`, "export {};\n");
await compileEntry(`${empty}.ts`, empty);
const page = join(made.path, "page.html");
const html = makePage();
await Bun.write(page, html);
// At least half of the page must be printed.
const leastBytes = html.length / 2;
const commands: Command[] = [
  { label: "empty program", argv: [empty], leastBytes: 0 },
  { label: "--version", argv: [binary, "--version"], leastBytes: 1 },
  { label: "--help", argv: [binary, "--help"], leastBytes: 1 },
  { label: "a page as text", argv: [binary, "--file", page, "--output", "text"], leastBytes },
  { label: "a page as markdown", argv: [binary, "--file", page, "--output", "markdown"], leastBytes },
];
for (const peer of parseNames("--peer", options.peer, ["trafilatura"])) {
  const python = await installPython(peer, options.scratch);
  const argv = [join(dirname(python), "trafilatura")];
  commands.push({ label: "trafilatura, text", argv, input: page, leastBytes });
}
const megabytes = [empty, binary].map((path) => (Bun.file(path).size / 1e6).toFixed(1));
const about = await introduce(
  `${runs} runs each; empty program ${megabytes[0]} MB, ours ${megabytes[1]} MB; target of a start: ${TARGET_MS} ms over the empty program`,
);
for (let run = 0; run < WARM_UP_RUNS; run++) commands.forEach(timeRun);
const timings = new Map(commands.map(({ label }) => [label, [] as ReturnType<typeof timeRun>[]]));
for (let run = 0; run < runs; run++)
  for (const command of commands) timings.get(command.label)?.push(timeRun(command));
const wall = (label: string): number[] => (timings.get(label) ?? []).map(({ wallMs }) => wallMs);
const results = [...timings].map(([label, times]) => ({
  command: label,
  medianMs: median(wall(label)),
  p95Ms: percentile(wall(label), 0.95),
  cpuMs: median(times.map(({ cpuMs }) => cpuMs)),
  overEmptyMs: median(wall(label)) - median(wall("empty program")),
}));
printTable(results);
await keep(options.out, { ...about, runs, results });
