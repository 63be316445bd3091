import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { BINARY, cleanEnvironment, runBinary } from "../../support/binary.ts";
import { crawlOnce } from "../../support/crawl-run.ts";
import { startExtractor } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveLocal } from "../../support/local.ts";
import { crawlPage, serveNumberedSite } from "../../support/numbered-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { until } from "../../support/until.ts";
import { statementsOf } from "./statement.ts";

const statement = statementsOf("extraction");

type Environment = Readonly<Record<string, string>>;

const WITH_SCRIPT = `<html><title>Mill</title><article><p id=p>${"As sent. ".repeat(60)}</p></article><script>p.textContent = "As scripted. ".repeat(60)</script>`;
const answers = {
  "/cookie": {
    headers: { "content-type": "text/html", "set-cookie": "seen=yes; Max-Age=9999" },
    body: crawlPage("Cookie", [], 200),
  },
  "/scripted": { body: WITH_SCRIPT },
};
const site = forAllTests(serveNumberedSite({ pages: 130, answers }));
const place = forAllTests(temporaryDirectory()).path;

/** Extracts a page on the command line; gives the result and the lines of the log. */
async function extract(path: string, env: Environment = {}, words: readonly string[] = []) {
  const run = await runBinary([site.origin + path, "--min-words", "1", "--retries", "0", ...words], { env });
  const lines = run.stderr.split("\n").filter((line) => line.startsWith("{"));
  return { ...run, result: JSON.parse(run.stdout || "null"), log: lines.map((line) => JSON.parse(line)) };
}

const healthOf = async (env: Environment) => {
  await using server = await startExtractor({ env });
  const health = (await (await server.get("/health")).json()) as {
    cache: { max_size: number };
    workers: number;
  };
  return { health, log: server.stderr() };
};

const isolated = Bun.spawnSync(["unshare", "-rn", "true"]).exitCode === 0 ? ["unshare", "-rn"] : null;

/** Starts a server with nothing but these variables, in a network of its own; gives the address that it names. */
async function addressWith(env: Environment): Promise<string> {
  using state = temporaryDirectory();
  const child = Bun.spawn([...isolated!, BINARY, "serve", "extractor"], {
    cwd: state.path,
    env: cleanEnvironment({ ARTICLE_EXTRACTOR_STATE_DIR: state.path, ...env }),
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  const decoder = new TextDecoder();
  for await (const piece of child.stderr) {
    said += decoder.decode(piece, { stream: true });
    if (/serving extraction.*\n/.test(said)) break;
  }
  child.kill("SIGKILL");
  await child.exited;
  return /"url":"([^"]+)"/.exec(said)?.[1] ?? said;
}

// Section: Limits
const HELD: Readonly<Record<string, () => void | Promise<void>>> = {
  "HOST | 0.0.0.0 | server | Bind address.": async () => {
    expect(await addressWith({})).toStartWith("http://0.0.0.0:");
    expect(await addressWith({ HOST: "::" })).toStartWith("http://[::]:");
  },
  "PORT | 3000 | server | HTTP port.": async () => {
    expect(await addressWith({})).toEndWith(":3000");
    expect(await addressWith({ PORT: "4123" })).toEndWith(":4123");
  },
  "WEB_CONCURRENCY | 2 | server | Worker count in the container image.": async () => {
    const recipe = join(import.meta.dir, "../../../scripts/deploy/Containerfile");
    expect(readFileSync(recipe, "utf8")).toMatch(/\bWEB_CONCURRENCY=2\b/);
    expect((await healthOf({ WEB_CONCURRENCY: "2" })).log).toContain('"processes":2');
  },
  "ARTICLE_EXTRACTOR_CACHE_SIZE | 1000 | all | Entries of the LRU cache of rendered articles.": async () => {
    expect((await healthOf({})).health.cache.max_size).toBe(1000);
    await using server = await startExtractor({ env: { ARTICLE_EXTRACTOR_CACHE_SIZE: "1" } });
    const asked = async (path: string): Promise<number> => {
      const before = site.count(path);
      await server.post("/", { url: site.origin + path });
      return site.count(path) - before;
    };
    // The page that was used longest ago leaves first.
    expect([await asked("/p/1"), await asked("/p/1"), await asked("/p/2"), await asked("/p/1")]).toEqual([
      1, 0, 1, 1,
    ]);
  },
  "ARTICLE_EXTRACTOR_THREADPOOL_SIZE | 0 | all | Worker threads for CPU-heavy steps": async () => {
    expect((await healthOf({ ARTICLE_EXTRACTOR_THREADPOOL_SIZE: "3" })).health.workers).toBe(3);
  },
  "0 lets the runtime choose.": async () => {
    const chosen = (await healthOf({})).health.workers;
    expect(chosen).toBeGreaterThanOrEqual(1);
    expect((await healthOf({ ARTICLE_EXTRACTOR_THREADPOOL_SIZE: "0" })).health.workers).toBe(chosen);
  },
  "ARTICLE_EXTRACTOR_PREFER_BROWSER | true when the browser fetcher exists": async () => {
    const unset = { ARTICLE_EXTRACTOR_PREFER_BROWSER: "" };
    expect((await extract("/scripted", unset)).result).toMatchObject({ fetcher: "browser" });
    const without = { ...unset, ARTICLE_EXTRACTOR_BROWSER_PATH: "none" };
    expect((await extract("/scripted", without)).result).toMatchObject({ fetcher: "http" });
  },
  "Force the browser fetcher.": async () => {
    const { result } = await extract("/scripted", { ARTICLE_EXTRACTOR_PREFER_BROWSER: "true" });
    expect([result.fetcher, result.text]).toEqual(["browser", expect.stringContaining("As scripted.")]);
    expect((await extract("/scripted", { ARTICLE_EXTRACTOR_PREFER_BROWSER: "false" })).result.fetcher).toBe(
      "http",
    );
  },
  "ARTICLE_EXTRACTOR_STORAGE_STATE_FILE | unset | all | Path that persists browser cookies": async () => {
    const file = join(place, "kept.json");
    await extract("/cookie", { ARTICLE_EXTRACTOR_STORAGE_STATE_FILE: file });
    expect(JSON.parse(readFileSync(file, "utf8")).cookies).toMatchObject([{ name: "seen", value: "yes" }]);
    await extract("/cookie", { ARTICLE_EXTRACTOR_STORAGE_STATE_FILE: file });
    expect(site.visits.at(-1)?.headers.cookie).toBe("seen=yes");
  },
  "unset means an ephemeral session.": async () => {
    for (const _ of [1, 2]) await extract("/cookie");
    expect(site.visits.at(-1)?.headers.cookie).toBeUndefined();
  },
  "ARTICLE_EXTRACTOR_STORAGE_QUEUE_DIR | <storage_state>.changes": async () => {
    const file = join(place, "queued.json");
    const env = { ARTICLE_EXTRACTOR_STORAGE_STATE_FILE: file };
    await extract("/cookie", env);
    expect(existsSync(`${file}.changes`)).toBeTrue();
    await extract("/cookie", { ...env, ARTICLE_EXTRACTOR_STORAGE_QUEUE_DIR: join(place, "queue") });
    expect(readdirSync(join(place, "queue", "done"))).not.toEqual([]);
  },
  "Directory of queued deltas; same mount as the storage file.": () => {
    // A delta moves there by renaming; what it holds is the change of one page.
    const queue = join(place, "queued.json.changes/done");
    const [name = ""] = readdirSync(queue);
    expect(readFileSync(join(queue, name), "utf8")).toContain('"seen"');
  },
  "ARTICLE_EXTRACTOR_STORAGE_QUEUE_MAX_ENTRIES | 20 | browser | Warn above this many pending deltas.":
    async () => {
      const MANY = "changes of the session wait to be merged";
      expect((await withPending(19, {})).filter((message) => message.endsWith(MANY))).toEqual([]);
      expect(await withPending(20, {})).toContain(`more than 20 ${MANY}`);
      expect(await withPending(2, { ARTICLE_EXTRACTOR_STORAGE_QUEUE_MAX_ENTRIES: "2" })).toContain(
        `more than 2 ${MANY}`,
      );
    },
  "ARTICLE_EXTRACTOR_STORAGE_QUEUE_MAX_AGE_SECONDS | 60 | browser | Warn when the oldest": async () => {
    const OLD = (seconds: number) => `a change of the session waits longer than ${seconds} s to be merged`;
    expect(await withPending(1, {}, 30)).not.toContain(OLD(60));
    expect(await withPending(1, {}, 61)).toContain(OLD(60));
    expect(await withPending(1, { ARTICLE_EXTRACTOR_STORAGE_QUEUE_MAX_AGE_SECONDS: "20" }, 30)).toContain(
      OLD(20),
    );
  },
  "ARTICLE_EXTRACTOR_STORAGE_QUEUE_RETENTION_SECONDS | 300 | browser | Keep processed deltas": async () => {
    const file = join(place, "pruned.json");
    const env = { ARTICLE_EXTRACTOR_STORAGE_STATE_FILE: file };
    const done = `${file}.changes/done`;
    await extract("/cookie", env);
    const [first = ""] = readdirSync(done);
    const keptAt = async (ageSeconds: number, changes: Environment = {}): Promise<boolean> => {
      const time = Date.now() / 1000 - ageSeconds;
      utimesSync(join(done, first), time, time);
      await extract("/cookie", { ...env, ...changes });
      return existsSync(join(done, first));
    };
    expect([await keptAt(290), await keptAt(301)]).toEqual([true, false]);
  },
  "ARTICLE_EXTRACTOR_LOG_LEVEL | info (server), critical (CLI)": async () => {
    await using server = await startExtractor();
    await server.post("/", { url: `${site.origin}/p/3` });
    const said = await until(server.stderr, (text) => text.includes("extracted"));
    expect(said).toContain('"level":"info"');
    expect(said).not.toContain('"level":"debug"');
    expect((await extract("/p/3")).stderr).toBe("");
  },
  "debug, info, warning, and so on.": async () => {
    const levelsAt = async (level: string): Promise<unknown[]> => {
      const { log } = await extract("/none", { ARTICLE_EXTRACTOR_LOG_LEVEL: level });
      return [...new Set(log.map((line) => line.level))].sort();
    };
    expect(await levelsAt("debug")).toContain("warning");
    expect(await levelsAt("info")).toEqual(["info", "warning"]);
    expect(await levelsAt("warning")).toEqual(["warning"]);
    expect(await levelsAt("error")).toEqual([]);
    expect((await extract("/none", { ARTICLE_EXTRACTOR_LOG_LEVEL: "loud" })).exitCode).toBe(2);
  },
  "ARTICLE_EXTRACTOR_LOG_FORMAT | json | all | `json` or `text`.": async () => {
    const level = { ARTICLE_EXTRACTOR_LOG_LEVEL: "info" };
    expect((await extract("/p/3", level)).stderr).toStartWith('{"timestamp":');
    expect((await extract("/p/3", { ...level, ARTICLE_EXTRACTOR_LOG_FORMAT: "text" })).stderr).toMatch(
      /^\S+Z INFO /,
    );
  },
  "ARTICLE_EXTRACTOR_LOG_DIAGNOSTICS | 0 | all | 1 emits cache/fetch metadata.": async () => {
    const lineWith = async (env: Environment) => {
      const { log } = await extract("/p/3", { ARTICLE_EXTRACTOR_LOG_LEVEL: "info", ...env });
      return log.find(({ message }) => message === "extracted");
    };
    expect(await lineWith({ ARTICLE_EXTRACTOR_LOG_DIAGNOSTICS: "1" })).toMatchObject({
      cache: "miss",
      fetcher: "http",
    });
    const plain = await lineWith({});
    for (const field of ["cache", "fetcher", "fetch_ms"]) expect(plain).not.toHaveProperty(field);
  },
  "ARTICLE_EXTRACTOR_METRICS_ENABLED | 0 | all | Toggle metrics.": async () => {
    expect((await extract("/p/3")).stderr).not.toContain('"metric"');
    expect((await extract("/p/3", { ARTICLE_EXTRACTOR_METRICS_ENABLED: "1" })).stderr).toContain('"metric"');
  },
  "ARTICLE_EXTRACTOR_METRICS_SINK | log | all | `log` or `statsd`.": async () => {
    const enabled = { ARTICLE_EXTRACTOR_METRICS_ENABLED: "1" };
    expect((await extract("/p/3", enabled)).stderr).toContain('"metric"');
    const statsd = { ...enabled, ARTICLE_EXTRACTOR_METRICS_SINK: "statsd" };
    expect((await extract("/p/3", statsd)).stderr).not.toContain('"metric":');
    expect((await extract("/p/3", { ...enabled, ARTICLE_EXTRACTOR_METRICS_SINK: "file" })).exitCode).toBe(2);
  },
  "ARTICLE_EXTRACTOR_METRICS_STATSD_HOST | 127.0.0.1 | statsd | Destination host.": async () => {
    expect(await datagramsAt("127.0.0.1", {})).not.toEqual([]);
    const other = { ARTICLE_EXTRACTOR_METRICS_STATSD_HOST: "127.0.0.2" };
    expect(await datagramsAt("127.0.0.2", other)).not.toEqual([]);
  },
  "ARTICLE_EXTRACTOR_METRICS_STATSD_PORT | 8125 | statsd | Destination UDP port.": async () => {
    // `doctor` and the manual name the default; another test may use the port itself.
    const { stdout } = await runBinary(["man"]);
    expect(stdout.replace(/\\[&f.]?[A-Z]?/g, "")).toMatch(/METRICS_STATSD_PORT[\s\S]{0,120}8125/);
  },
  "ARTICLE_EXTRACTOR_METRICS_NAMESPACE | article_extractor | statsd | Metric prefix.": async () => {
    const usual = await datagramsAt("127.0.0.1", {});
    expect(usual.filter((datagram) => !datagram.startsWith("article_extractor."))).toEqual([]);
    const own = await datagramsAt("127.0.0.1", { ARTICLE_EXTRACTOR_METRICS_NAMESPACE: "mill" });
    expect(own.filter((datagram) => !datagram.startsWith("mill."))).toEqual([]);
  },
  "ARTICLE_EXTRACTOR_CRAWLER_CONCURRENCY | 5 | crawler | Default concurrency.": async () => {
    expect((await configWith({})).concurrency).toBe(5);
    expect((await configWith({ ARTICLE_EXTRACTOR_CRAWLER_CONCURRENCY: "7" })).concurrency).toBe(7);
  },
  "ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT | 1.0 | crawler | Default seconds": async () => {
    expect((await configWith({})).rate_limit_delay).toBe(1);
    expect((await configWith({ ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "0.25" })).rate_limit_delay).toBe(0.25);
  },
  "ARTICLE_EXTRACTOR_CRAWLER_MAX_PAGES | 100 | crawler | Default page cap.": async () => {
    expect((await configWith({})).max_pages).toBe(100);
    const run = await crawlOnce([`${site.origin}/`], { env: { ARTICLE_EXTRACTOR_CRAWLER_MAX_PAGES: "3" } });
    expect(run.manifest?.successful).toBe(3);
  },
  "transient-404 body threshold 500 bytes": async () => {
    const head =
      "<title>Mill</title><article><p>The wheel of the mill turns slowly all day, and the water falls.</p>";
    await using bounds = serveLocal(
      ({ url }) =>
        new Response(head.padEnd(Number(url.split("/").at(-1)), " "), {
          status: 404,
          headers: { "content-type": "text/html" },
        }),
    );
    const codeAt = async (bytes: number) =>
      (await runBinary([`${bounds.url.origin}/${bytes}`, "--no-browser", "--min-words", "1"])).exitCode;
    expect([await codeAt(500), await codeAt(501)]).toEqual([1, 0]);
  },
  "default per-host delay 1 second": async () => {
    const before = site.visits.length;
    using directory = temporaryDirectory();
    const words = [
      "crawl",
      `${site.origin}/p/1`,
      `${site.origin}/p/2`,
      "--max-depth",
      "0",
      "--ignore-robots",
    ];
    await runBinary([...words, "--output-dir", "out"], { cwd: directory.path });
    const [first, second] = site.visits.slice(before).map(({ at }) => at);
    expect(second! - first!).toBeGreaterThanOrEqual(990);
  },
  "a `.env` file next to the entrypoint is read": async () => {
    const { result, agent } = await besideEntrypoint({});
    expect([result.fetcher, agent]).toEqual(["http", "Beside/1"]);
  },
  "explicit environment variables override it": async () => {
    expect((await besideEntrypoint({ ARTICLE_EXTRACTOR_USER_AGENT: "Explicit/1" })).agent).toBe("Explicit/1");
  },
};

const inNetwork = (words: string): boolean => /^(?:HOST|PORT) /.test(words);
describe("settings and constants", () => {
  for (const [words, holds] of Object.entries(HELD))
    if (inNetwork(words) && isolated === null) test.skip(words, () => {});
    else statement("Limits", words, holds);
});

if (isolated !== null)
  statement(
    "Extraction and Crawl Service Specification",
    "the server listens on port 3000 by default",
    async () => {
      expect(await addressWith({})).toEndWith(":3000");
    },
  );

/** The plan of a crawl with these variables and no option. */
async function configWith(env: Environment): Promise<Readonly<Record<string, unknown>>> {
  using directory = temporaryDirectory();
  const words = ["crawl", `${site.origin}/p/130`, "--output-dir", "out", "--max-depth", "0"];
  await runBinary(words, { cwd: directory.path, env });
  return JSON.parse(readFileSync(join(directory.path, "out/manifest.json"), "utf8")).config;
}

/** The datagrams that reach an address of loopback. */
async function datagramsAt(hostname: string, changes: Environment): Promise<string[]> {
  const received: string[] = [];
  const socket = await Bun.udpSocket({
    hostname,
    socket: { data: (_, bytes) => void received.push(bytes.toString()) },
  });
  const env = {
    ARTICLE_EXTRACTOR_METRICS_ENABLED: "1",
    ARTICLE_EXTRACTOR_METRICS_SINK: "statsd",
    ARTICLE_EXTRACTOR_METRICS_STATSD_PORT: String(socket.port),
    ...changes,
  };
  await extract("/p/3", env);
  await until(
    () => received.length,
    (count) => count > 0,
  );
  socket.close();
  return received;
}

let queues = 0;
/** What is logged when a change comes to so many that wait, so old. */
async function withPending(count: number, changes: Environment, ageSeconds = 0): Promise<string[]> {
  const file = join(place, `pending-${++queues}.json`);
  const queue = `${file}.changes`;
  const env = {
    ARTICLE_EXTRACTOR_STORAGE_STATE_FILE: file,
    ARTICLE_EXTRACTOR_LOG_LEVEL: "warning",
    ...changes,
  };
  await extract("/cookie", env);
  const [made = ""] = readdirSync(join(queue, "done"));
  const older = made.replace(/^\d+/, (order) =>
    String(Number(order) - ageSeconds * 1000).padStart(order.length, "0"),
  );
  for (let n = 0; n < count; n++)
    cpSync(
      join(queue, "done", made),
      join(queue, older.replace(/[0-9a-f]{12}(?=\.)/, String(n).padStart(12, "0"))),
    );
  const { log } = await extract("/cookie", env);
  return log.map(({ message }) => message);
}

/** Runs the program in a directory of its own, with a `.env` beside it. */
async function besideEntrypoint(env: Environment) {
  using directory = temporaryDirectory();
  const bin = join(directory.path, "bin");
  mkdirSync(bin);
  cpSync(BINARY, join(bin, "article-extractor"));
  chmodSync(join(bin, "article-extractor"), 0o755);
  writeFileSync(join(bin, ".env"), "ARTICLE_EXTRACTOR_USER_AGENT=Beside/1\n");
  const options = { binary: join(bin, "article-extractor"), cwd: directory.path, env };
  const run = await runBinary([`${site.origin}/p/3`], options);
  return { result: JSON.parse(run.stdout), agent: site.visits.at(-1)?.headers["user-agent"] };
}
