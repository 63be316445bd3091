import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isOver, startExtractor, submitJob, untilJob } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { documentedLog } from "../support/log-calls.ts";
import { serveNumberedSite } from "../support/numbered-site.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { untilTrue } from "../support/until.ts";

const { rows, common } = await documentedLog();
const site = forAllTests(serveNumberedSite({ pages: 3, answers: { "/p/2": { status: 503 } } }));

/** Every line has a message, a level and fields as docs/logs.md has them; gives the messages. */
function expectDocumented(said: string): string[] {
  const lines: Record<string, unknown>[] = said
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  for (const line of lines) {
    const row = rows.find(({ message }) => message === line.message);
    expect(line).toMatchObject({ message: row?.message ?? "a row of docs/logs.md" });
    if (line.message !== "request") expect(line.level).toBe(row?.level);
    const unknown = Object.keys(line).filter((name) => !row?.fields.includes(name) && !common.includes(name));
    expect([line.message, unknown]).toEqual([line.message, []]);
  }
  return [...new Set(lines.map(({ message }) => String(message)))].sort();
}

test("serve extractor logs what docs/logs.md says", async () => {
  const env = {
    ARTICLE_EXTRACTOR_LOG_DIAGNOSTICS: "1",
    ARTICLE_EXTRACTOR_LOG_LEVEL: "debug",
    ARTICLE_EXTRACTOR_RETRIES: "1",
  };
  await using server = await startExtractor({ env });
  await server.post("/", { url: `${site.origin}/p/1` });
  await server.post("/", { url: `${site.origin}/none` });
  await server.get("/health");
  const id = await submitJob(server, { output_dir: "out", seeds: [`${site.origin}/`] });
  await untilJob(server, id, isOver);
  server.signal("SIGTERM");
  await server.exited;
  expect(expectDocumented(server.stderr())).toEqual(
    expect.arrayContaining([
      "extracted",
      "extraction failed",
      "job accepted",
      "page crawled",
      "page failed",
      "request",
      "the server ends",
      "host paused",
    ]),
  );
});

test("serve search logs what docs/logs.md says", async () => {
  const root = writeDeployment({ log_level: "debug" });
  await using served = await Served.start(root);
  await untilTrue(async () => (await served.search("proxies").catch(() => null))?.results.length === 1);
  await untilTrue(() => served.said.includes("index built"));
  writeFileSync(join(root, "deployment.json"), "{}");
  served.child.kill("SIGHUP");
  await untilTrue(() => served.said.includes("not applied"));
  expect(expectDocumented(served.said)).toEqual(
    expect.arrayContaining([
      "deployment file not applied; the previous one stays in force",
      "index built",
      "request",
    ]),
  );
});
