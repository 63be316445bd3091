import { expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { Served, writeDeployment } from "../support/served.ts";
import { until } from "../support/until.ts";

/** The nice value of each thread of a process; the main one's is the process's own. */
function niceOfThreads(pid: number): ReadonlyMap<number, number> {
  const threads = new Map<number, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`).map(Number))
    try {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "latin1");
      threads.set(thread, Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]));
    } catch {} // it has ended
  return threads;
}

// Elsewhere a thread has no priority of its own that could be set.
test.skipIf(process.platform !== "linux")("what builds indexes gives way to what answers", async () => {
  const sections = Array.from({ length: 40 }, (_, n) => `## Part ${n}\n\nThe wheel of the mill turns.\n`);
  const documents = Object.fromEntries(
    Array.from({ length: 1500 }, (_, n) => [`page-${n}.md`, `# Page ${n}\n\n${sections.join("\n")}`]),
  );
  const root = writeDeployment({}, {}, documents);
  const own = niceOfThreads(process.pid).get(process.pid) ?? 0;
  {
    await using server = await Served.start(root);
    const { pid } = server.child;
    const threads = await until(
      () => niceOfThreads(pid),
      (nice) => [...nice.values()].some((value) => value > own),
    );
    expect(Math.max(...threads.values())).toBe(Math.min(own + 10, 19));
    expect(threads.get(pid)).toBe(own);
  }
  rmSync(root, { recursive: true });
});
