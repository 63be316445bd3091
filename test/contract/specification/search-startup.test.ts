import { expect } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { runBinary } from "../../support/binary.ts";
import { freePort } from "../../support/local.ts";
import { Served, writeDeployment } from "../../support/served.ts";
import { validated } from "../../support/specified.ts";
import { until } from "../../support/until.ts";
import { statementsOf } from "./statement.ts";

// What a server reads at its start, and what it refuses to start with.

const statement = statementsOf("search");

const folder = { source_type: "filesystem", codename: "docs", docs_name: "Docs", docs_root_dir: "docs" };
const web = { ...folder, source_type: "online", docs_entry_url: "https://docs.example/" };
const repository = {
  ...folder,
  source_type: "git",
  git_repo_url: "https://git.example/a.git",
  git_subpaths: ["docs"],
};
const without = (tenant: object, field: string): object =>
  Object.fromEntries(Object.entries(tenant).filter(([name]) => name !== field));
const problemsOf = (...tenants: readonly object[]): Promise<readonly string[]> => validated({ tenants });

/** What the server says that does not start. */
async function refusal(root: string, words: readonly string[] = []): Promise<string> {
  const { exitCode, stdout, stderr } = await runBinary(["serve", "search", ...words], { cwd: root });
  expect([exitCode, stdout]).toEqual([2, ""]);
  return stderr;
}

statement(
  "Documentation Search Service Specification",
  "the server listens on port 42042 by default",
  async () => {
    // Whoever has the port, it is named as taken.
    const taken = (() => {
      try {
        return Bun.listen({ hostname: "127.0.0.1", port: 42_042, socket: { data() {} } });
      } catch {
        return null;
      }
    })();
    const root = writeDeployment({ mcp_port: undefined });
    expect(await refusal(root)).toMatch(/42042.*the port is in use/);
    taken?.stop();
  },
);

statement(
  "What the service does",
  "The server reads `deployment.json` at startup and refuses to start on an invalid file.",
  async () => {
    expect(await refusal(writeDeployment({ mcp_port: 0 }))).toContain(
      "deployment.json: infrastructure.mcp_port: must be a whole number from 1 to 65535",
    );
    expect((await runBinary(["serve", "search"])).stderr).toContain("deployment.json");
    await using served = await Served.start(writeDeployment());
    expect((await fetch(`${served.url}/health`)).status).toBe(200);
  },
);

statement("Configuration file deployment.json", "Unknown fields are rejected everywhere.", async () => {
  const fallback = { enabled: false, url: "x" };
  const search = { engines: [], ranking: { k1: 1 }, boosts: { heading: 1 }, snippet: { length: 1 } };
  const lines = await validated({
    server: {},
    infrastructure: { port: 1, article_extractor_fallback: fallback },
    tenants: [
      { ...web, url: "x", search, test_queries: { word: [] } },
      { ...repository, codename: "repo", docs_root_dir: "repo", branch: "x" },
      { ...folder, codename: "more", docs_entry_url: "https://docs.example/" },
    ],
  });
  expect(lines.map((line) => line.replace(/: unknown field.*/, ""))).toEqual(
    expect.arrayContaining([
      "server",
      "infrastructure.port",
      "infrastructure.article_extractor_fallback.url",
      "tenants[0].url",
      "tenants[0].search.engines",
      "tenants[0].search.ranking.k1",
      "tenants[0].search.boosts.heading",
      "tenants[0].search.snippet.length",
      "tenants[0].test_queries.word",
      "tenants[1].branch",
      "tenants[2].docs_entry_url",
    ]),
  );
  expect(lines).toHaveLength(11);
});

statement("Errors 3", "Startup validation rejects the configuration and stops the server", async () => {
  const said = await refusal(writeDeployment({ mcp_port: 0, extra: 1 }, { codename: "X" }));
  // Every problem is told at once.
  expect(said.trimEnd().split("\n")).toHaveLength(3);
});

statement(
  "Errors 3",
  "the message form is `Tenant '<codename>' must specify either docs_sitemap_url or docs_entry_url`",
  async () => {
    expect(
      await refusal(writeDeployment({}, { ...without(web, "docs_entry_url"), codename: "tool" })),
    ).toContain("Tenant 'tool' must specify either docs_sitemap_url or docs_entry_url\n");
  },
);

statement("Errors 3.1", "Online tenants need `docs_sitemap_url` or `docs_entry_url`.", async () => {
  for (const blank of [{}, { docs_entry_url: "" }, { docs_sitemap_url: " , ", docs_entry_url: " " }])
    expect(await problemsOf({ ...without(web, "docs_entry_url"), ...blank })).toEqual([
      "tenants[0]: Tenant 'docs' must specify either docs_sitemap_url or docs_entry_url",
    ]);
  expect(await problemsOf(web)).toEqual([]);
  const listed = { docs_sitemap_url: "https://docs.example/sitemap.xml" };
  expect(await problemsOf({ ...without(web, "docs_entry_url"), ...listed })).toEqual([]);
});

statement(
  "Online tenant",
  "At least one of `docs_sitemap_url` and `docs_entry_url` is required.",
  async () => {
    const both = { docs_sitemap_url: "https://docs.example/sitemap.xml" };
    expect(await problemsOf({ ...web, ...both })).toEqual([]);
    expect(await problemsOf(without(web, "docs_entry_url"))).toHaveLength(1);
  },
);

statement("Errors 3.2", "Git tenants need `git_repo_url` and `git_subpaths`.", async () => {
  const none = [
    "tenants[0].git_repo_url: Tenant 'docs' must specify git_repo_url",
    "tenants[0].git_subpaths: Tenant 'docs' must specify git_subpaths",
  ];
  expect(await problemsOf(without(without(repository, "git_repo_url"), "git_subpaths"))).toEqual(none);
  expect(await problemsOf({ ...repository, git_subpaths: [] })).toEqual(none.slice(1));
  expect(await problemsOf(repository)).toEqual([]);
});

statement("Errors 3.3", "Filesystem tenants need `docs_root_dir`.", async () => {
  expect(await problemsOf(without(folder, "docs_root_dir"))).toEqual([
    "tenants[0].docs_root_dir: Tenant 'docs' must specify docs_root_dir",
  ]);
  expect(await problemsOf(folder)).toEqual([]);
});

const GOOD = ["ab", "a1", "a-b", "a_b", "z".repeat(64)];
const BAD = ["A", "a", "Docs", "1docs", "do cs", "a".repeat(65), "-docs", "dócs", ""];
async function holdsCodenames(good: readonly string[], bad: readonly string[]): Promise<void> {
  const named = (codename: string) => ({ ...folder, codename });
  expect(await problemsOf(...good.map(named))).toEqual([]);
  const lines = await problemsOf(...bad.map(named));
  for (const [place, codename] of bad.entries())
    expect(lines[place]).toBe(
      `tenants[${place}].codename: must be 2 to 64 lower-case letters, digits, _ and -, beginning with a letter, not ${JSON.stringify(codename)}`,
    );
}

statement("Errors 3.4", "Codenames are lowercase, 2-64 characters, start with a letter.", () =>
  holdsCodenames(GOOD, BAD),
);
statement("Tenant, common fields", "lowercase, 2-64 characters, starts with a letter.", () =>
  holdsCodenames(["docs", "d0cs-9_x"], ["DOCS", "x", "9docs", "_docs"]),
);
statement("Limits", "codename length | 2 to 64 characters", () =>
  holdsCodenames(["xy", "x".repeat(64)], ["x", "x".repeat(65)]),
);
statement("Tenant, common fields", "Unique routing identifier", async () => {
  expect(await problemsOf(folder, { ...folder, docs_root_dir: "more" })).toEqual([
    "tenants[1].codename: must be unique, but tenants[0] is 'docs' too",
  ]);
});

/** Which of these schedules are refused, and why. */
async function refusedSchedules(schedules: readonly string[]): Promise<readonly (string | null)[]> {
  const lines = await problemsOf(
    ...schedules.map((refresh_schedule, at) => ({
      ...web,
      codename: `web-${at}`,
      docs_root_dir: `web-${at}`,
      refresh_schedule,
    })),
  );
  return schedules.map((_, at) => {
    const line = lines.find((one) => one.startsWith(`tenants[${at}].refresh_schedule: `));
    return line === undefined ? null : (line.split("has an invalid refresh_schedule: ")[1] ?? line);
  });
}
const takes = async (...schedules: readonly string[]): Promise<void> => {
  expect(await refusedSchedules(schedules)).toEqual(schedules.map(() => null));
};
async function refuses(why: string, ...schedules: readonly string[]): Promise<void> {
  const reasons = await refusedSchedules(schedules);
  for (const reason of reasons) expect(reason).toContain(why);
}

statement("Errors 3.5", "`refresh_schedule` must be valid 5-field cron.", async () => {
  await takes("*/14 * * * *", "0 3 1,15 * *", "5/15 1-3/2 31 1 0-6", "0 0 29 2 *");
  await refuses("it needs five fields", "* * * *", "0 0 0 * * *", "", "@daily");
  await refuses("must be numbers from", "*/0 * * * *", "9-5 * * * *", "1,,2 * * * *", "x * * * *");
  // A day that never comes is no schedule.
  await refuses("never comes in these months", "0 0 30 2 *", "0 0 31 2 *", "0 0 31 4,6,9,11 *");
});
const FIELDS = [
  ["minute 0-59", 0, "0 * * * *", "59 * * * *", "60 * * * *", "minute '60' must be numbers from 0 to 59"],
  ["hour 0-23", 1, "0 0 * * *", "0 23 * * *", "0 24 * * *", "hour '24' must be numbers from 0 to 23"],
  [
    "day of month 1-31",
    2,
    "0 0 1 * *",
    "0 0 31 * *",
    "0 0 32 * *",
    "day of month '32' must be numbers from 1 to 31",
  ],
  ["month 1-12", 3, "0 0 * 1 *", "0 0 * 12 *", "0 0 * 13 *", "month '13' must be numbers from 1 to 12"],
  [
    "day of week 0-6",
    4,
    "0 0 * * 0",
    "0 0 * * 6",
    "0 0 * * 7",
    "day of week '7' must be numbers from 0 to 6",
  ],
] as const;
for (const [words, place, least, most, over, why] of FIELDS)
  statement("Cron syntax for refresh_schedule", words, async () => {
    await takes(least, most);
    await refuses(why, over);
    const named = ["0", "0", "1", "1", "0"].with(place, "mon").join(" ");
    await refuses("must be numbers from", named);
  });
statement("Cron syntax for refresh_schedule", "Step (`*/14`), list (`1,15`) and `*` forms are used.", () =>
  takes("*/14 * * * *", "0 0 1,15 * *", "* * * * *", "*/5 */2 */3 */4 */2", "0,30 1,2 3,4 5,6 0,6"),
);

statement("Errors 3.6", "Unknown fields are rejected.", async () => {
  expect(await refusal(writeDeployment({}, { docs_nam: "x" }))).toContain(
    "tenants[0].docs_nam: unknown field; did you mean docs_name?",
  );
});

statement("Authentication", "Secrets are kept out of the JSON file.", async () => {
  const lines = await validated({
    infrastructure: {
      article_extractor_fallback: { endpoint: "https://me:hunter2@x.example/", api_key_env: "sk-hunter2" },
    },
    tenants: [
      { ...repository, git_repo_url: "https://hunter2@git.example/a.git", git_auth_token_env: "ghp_hunter2" },
    ],
  });
  expect(lines.map((line) => line.split(":")[0])).toEqual([
    "infrastructure.article_extractor_fallback.endpoint",
    "infrastructure.article_extractor_fallback.api_key_env",
    "tenants[0].git_repo_url",
    "tenants[0].git_auth_token_env",
  ]);
  expect(lines.join()).not.toContain("hunter2");
});

statement("infrastructure", "At startup the server checks that the endpoint is reachable.", async () => {
  let connections = 0;
  const requests: unknown[] = [];
  const service = createServer((request, response) => {
    requests.push(request.method);
    response.writeHead(422).end();
  });
  service.on("connection", () => {
    connections++;
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const fallbackAt = (port: number): object => ({
    article_extractor_fallback: { enabled: true, endpoint: `http://127.0.0.1:${port}/extract` },
  });
  {
    const { port } = service.address() as AddressInfo; // it listens on a port
    await using _ = await Served.start(writeDeployment(fallbackAt(port)));
    await until(
      () => connections,
      (count) => count > 0,
    );
    // A request without a page would be an error to the service.
    expect(requests).toEqual([]);
  }
  service.close();
  const free = freePort();
  expect(await refusal(writeDeployment(fallbackAt(free)))).toContain(
    `article_extractor_fallback.endpoint: nobody answers at http://127.0.0.1:${free}/extract`,
  );
  const offline = { operation_mode: "offline", ...fallbackAt(free) };
  await using unasked = await Served.start(writeDeployment(offline));
  expect((await fetch(`${unasked.url}/ready`)).status).toBe(200);
  await using lenient = await Served.start(writeDeployment(fallbackAt(free)), { words: ["--lenient"] });
  expect((await fetch(`${lenient.url}/ready`)).status).toBe(200);
});

statement("infrastructure", "Service URL accepting a JSON body with a `url` field.", async () => {
  expect(
    await validated({ infrastructure: { article_extractor_fallback: { enabled: true } }, tenants: [] }),
  ).toEqual(["infrastructure.article_extractor_fallback.endpoint: is required when enabled is true"]);
});
