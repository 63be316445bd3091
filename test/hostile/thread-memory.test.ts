import { expect, test } from "bun:test";

const IN_THREAD = `
  const kept = [];
  for (let part = 0; part < 30; part++) kept.push(Array.from({ length: 131072 }, (_, index) => ({ index })));
  postMessage([kept.length, Math.round(process.memoryUsage.rss() / 1024 ** 2)]);
`;
const STARTS_THREAD = `
  const url = URL.createObjectURL(new Blob([${JSON.stringify(IN_THREAD)}], { type: "text/javascript" }));
  const resourceLimits = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 };
  const worker = new Worker(url, { resourceLimits });
  worker.onmessage = ({ data }) => {
    process.stdout.write(JSON.stringify(data));
    worker.terminate();
  };
`;

// When this fails, the runtime holds threads to their memory: extraction workers should have a limit then, and
// docs/SECURITY.md should say so.
test("a thread that passes its `resourceLimits` goes on: the runtime does not hold it to them", async () => {
  const child = Bun.spawn([process.execPath, "-e", STARTS_THREAD], { stdout: "pipe" });
  const [parts, megabytes] = (await new Response(child.stdout).json()) as [number, number]; // what it posts
  expect(parts).toBe(30);
  expect(megabytes).toBeGreaterThan(100);
});
