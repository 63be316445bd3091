import { expect } from "bun:test";
import { runBinary } from "../../support/binary.ts";
import { startExtractor } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveRecordingSite } from "../../support/recording-site.ts";
import { Served, writeDeployment } from "../../support/served.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until, untilTrue } from "../../support/until.ts";
import { statementsOf } from "./statement.ts";

const statement = statementsOf("extraction");

const site = forAllTests(serveRecordingSite());
const datagrams: string[] = [];
const statsd = await Bun.udpSocket({
  hostname: "127.0.0.1",
  socket: { data: (_, bytes) => void datagrams.push(bytes.toString()) },
});
forAllTests({ [Symbol.dispose]: () => statsd.close() });

const METRICS = { ARTICLE_EXTRACTOR_METRICS_ENABLED: "1" };
const STATSD = {
  ...METRICS,
  ARTICLE_EXTRACTOR_METRICS_SINK: "statsd",
  ARTICLE_EXTRACTOR_METRICS_STATSD_PORT: String(statsd.port),
};

/** Runs the program on a page of the site; gives its counters at the StatsD server. */
async function countersOf(path: string, env: Readonly<Record<string, string>>): Promise<string[]> {
  datagrams.length = 0;
  await runBinary([site.origin + path, "--retries", "0"], { env });
  return await until(
    () => datagrams.filter((datagram) => datagram.endsWith("|c")),
    (counters) => counters.some((counter) => counter.includes("cli_extractions")),
  );
}

const linesOf = (text: string): Record<string, unknown>[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

statement("Events", "Logs in `json` or `text` format.", async () => {
  // Warnings at the start are among them: there is no key, and one variable is misspelt.
  const env = { ARTICLE_EXTRACTOR_LOG_FROMAT: "text" };
  const forms = {
    json: /^\{"timestamp":"[^"]+Z","level":"[a-z]+","message":"[^"]+".*\}$/,
    text: /^\d{4}-\d\d-\d\dT[\d:.]+Z [A-Z]+ \S.*$/,
  };
  for (const [format, line] of Object.entries(forms)) {
    const words = ["--log-format", format];
    await using extractor = await startExtractor({ env, words, host: "0.0.0.0" });
    await extractor.post("/", { url: "https://nowhere.invalid/" });
    await untilTrue(() => extractor.stderr().includes("extraction failed"));
    extractor.signal("SIGTERM");
    await extractor.exited;
    await using search = await Served.start(writeDeployment({ mcp_host: "0.0.0.0" }), { env, words });
    await untilTrue(() => search.said.includes("index built"));
    for (const text of [extractor.stderr(), search.said]) {
      expect(text).toMatch(/LOG_FROMAT is no setting/);
      expect(text).toMatch(/there is no API key/);
      expect(text).toMatch(/serving (?:extraction|documentation)/);
      expect(
        text
          .trimEnd()
          .split("\n")
          .filter((one) => !line.test(one)),
      ).toEqual([]);
    }
  }
});

statement(
  "Events",
  "With diagnostics on, the log lines carry `request_id`, cache hints and the fetcher",
  async () => {
    const env = { ARTICLE_EXTRACTOR_LOG_DIAGNOSTICS: "1" };
    await using server = await startExtractor({ env });
    const url = `${site.origin}/diagnosed`;
    for (const id of ["first", "second"]) await server.post("/", { url }, { "x-request-id": id });
    await untilTrue(() => server.stderr().split('"extracted"').length > 2);
    const lines = linesOf(server.stderr()).filter(({ message }) => message === "extracted");
    expect(lines).toMatchObject([
      { request_id: "first", cache: "miss", fetcher: "http" },
      { request_id: "second", cache: "hit", fetcher: "http" },
    ]);
  },
);

statement("Events", "every HTTP request is logged", async () => {
  await using server = await startExtractor({ env: { ARTICLE_EXTRACTOR_LOG_LEVEL: "debug" } });
  const paths = ["/health", "/docs", "/crawl", "/nothing"];
  for (const path of paths) await (await server.get(path)).text();
  await server.post("/", "{");
  const logged = await until(
    () => linesOf(server.stderr()).filter(({ message }) => message === "request"),
    ({ length }) => length > paths.length,
  );
  expect(logged.map(({ method, path, status }) => [method, path, status])).toEqual([
    ["GET", "/health", 200],
    ["GET", "/docs", 200],
    ["GET", "/crawl", 200],
    ["GET", "/nothing", 404],
    ["POST", "/", 400],
  ]);
});

statement("Events", "logs carry the field `storage_queue_pending_entries`", async () => {
  using directory = temporaryDirectory();
  const env = { ARTICLE_EXTRACTOR_STORAGE_STATE_FILE: `${directory.path}/state.json` };
  const lines = async (changes: object) =>
    linesOf((await runBinary([`${site.origin}/page`, "-v"], { env: { ...env, ...changes } })).stderr);
  const { storage_queue_pending_entries: pending } = (await lines({})).at(-1) ?? {};
  expect(pending).toBe(0);
  for (const line of await lines({ ARTICLE_EXTRACTOR_STORAGE_STATE_FILE: "" }))
    expect(line).not.toHaveProperty("storage_queue_pending_entries");
});

statement("Events", "go to the `log` sink", async () => {
  const run = await runBinary([`${site.origin}/page`], { env: METRICS });
  expect(linesOf(run.stderr)).toContainEqual(
    expect.objectContaining({
      metric: "article_extractor.cli_extractions.success",
      kind: "counter",
      value: 1,
    }),
  );
  const failed = await runBinary([`${site.origin}/status/403`], { env: METRICS });
  const first = failed.stderr.split("\n").filter((line) => line.startsWith("{"));
  expect(first.join("\n")).toContain('"metric":"article_extractor.cli_extractions.failure"');
});

statement("Events", "or to the `statsd` sink over UDP", async () => {
  const counters = await countersOf("/page", STATSD);
  expect(counters.every((counter) => /^[\w.-]+:\d+\|c$/.test(counter))).toBeTrue();
  expect(counters.length).toBeGreaterThan(0);
});

statement("Events", "counters are prefixed by the namespace", async () => {
  const counters = await countersOf("/page", { ...STATSD, ARTICLE_EXTRACTOR_METRICS_NAMESPACE: "our.site" });
  expect(counters.filter((counter) => !counter.startsWith("our.site."))).toEqual([]);
});

statement("Events", "<namespace>.cli_extractions.success", async () => {
  const env = { ...STATSD, ARTICLE_EXTRACTOR_METRICS_NAMESPACE: "ns" };
  expect(await countersOf("/page", env)).toContain("ns.cli_extractions.success:1|c");
  const failed = await countersOf("/status/403", env);
  expect(failed).toContain("ns.cli_extractions.failure:1|c");
  expect(failed.join()).not.toContain("cli_extractions.success");
});
