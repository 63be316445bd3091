import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { METRICS } from "../../src/base/metrics.ts";
import { startExtractor } from "../support/extractor-server.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { freePort } from "../support/local.ts";
import { postMcp } from "../support/mcp.ts";
import { serveNumberedSite } from "../support/numbered-site.ts";
import { Served, writeDeployment } from "../support/served.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { untilTrue } from "../support/until.ts";

const { path: directory } = forAllTests(temporaryDirectory());
const FILES = join(import.meta.dir, "../../scripts/deploy/monitoring");
const read = (name: string): Promise<string> => Bun.file(join(FILES, name)).text();
const hasPrometheus = Bun.which("prometheus") !== null && Bun.which("promtool") !== null;

type Rules = {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
};
type Panel = { readonly title: string; readonly targets?: readonly { readonly expr: string }[] };

const alerts = (Bun.YAML.parse(await read("alerts.yml")) as Rules).groups.flatMap(({ rules }) => rules);
const dashboard = JSON.parse(await read("dashboard.json")) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
};
const panelExpressions = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => [title, expr] as const),
);
/** What Grafana puts in for its variables. */
const filledIn = (expression: string): string =>
  expression.replaceAll("$__rate_interval", "1m").replace(/\$(job|instance)\b/g, ".*");

const SUFFIXES = {
  counter: ["_total"],
  timing: ["_seconds_bucket", "_seconds_sum", "_seconds_count"],
  gauge: [""],
};
/** The labels of each series that the servers may have, besides those of the scrape. */
const LABELS = new Map(
  Object.entries(METRICS).flatMap(([name, { kind, labels }]) =>
    SUFFIXES[kind].map((suffix) => [
      `article_extractor_${name}${suffix}`,
      [...labels, ...(suffix.endsWith("bucket") ? ["le"] : [])] as string[],
    ]),
  ),
);

/** Runs promtool; gives what it says when it is not content. */
function promtool(words: readonly string[], input = ""): string {
  const run = Bun.spawnSync(["promtool", ...words], { stdin: Buffer.from(input) });
  return run.exitCode === 0 ? "" : `${run.stdout}${run.stderr}`;
}

describe("the alerts and the dashboard", () => {
  test.each([...alerts.map(({ alert, expr }) => [alert, expr] as const), ...panelExpressions])(
    "%s asks for metrics that there are, by labels that they have: %s",
    (_, expression) => {
      const names = expression.match(/\b(?:article_extractor|process)_\w+/g) ?? [];
      if (!/^up\b/.test(expression)) expect(names.length).toBeGreaterThan(0);
      for (const name of names.filter((one) => one.startsWith("article_extractor")))
        expect([...LABELS.keys()]).toContain(name);
      const known = new Set([...names.flatMap((name) => LABELS.get(name) ?? []), "job", "instance"]);
      const selected = [...expression.matchAll(/\{([^}]*)\}/g)].flatMap(([, labels = ""]) =>
        [...labels.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label),
      );
      const grouped = [...expression.matchAll(/\b(?:by|ignoring) \(([^)]*)\)/g)].flatMap(([, labels = ""]) =>
        labels.split(/,\s*/),
      );
      for (const label of [...selected, ...grouped]) expect(known).toContain(label ?? "");
    },
  );

  test("show every metric somewhere", () => {
    const shown = [...panelExpressions.map(([, expr]) => expr), ...alerts.map(({ expr }) => expr)].join("\n");
    const missing = Object.keys(METRICS).filter((name) => !shown.includes(`article_extractor_${name}`));
    // The command line has no /metrics.
    expect(missing).toEqual(["cli_extractions"]);
  });
});

type Series = readonly (readonly [series: string, values: string])[];
const EXTRACTOR = 'job="article-extractor",instance="a"';
const requests = (status: string, step: number) =>
  [`article_extractor_http_requests_total{${EXTRACTOR},status="${status}"}`, `0+${step}x90`] as const;
const own = (name: string, labels = "") => `article_extractor_${name}{${EXTRACTOR}${labels && `,${labels}`}}`;

/** For each alert series that raise it within an hour and a half, a value a minute, and series that do not. */
const CASES: Readonly<Record<string, { readonly raise: Series; readonly calm: Series }>> = {
  Down: {
    raise: [[`up{${EXTRACTOR}}`, "1x80 0x10"]],
    calm: [
      [`up{${EXTRACTOR}}`, "1x88 0"],
      ['up{job="other"}', "0x90"],
    ],
  },
  ProcessesMissing: {
    raise: [
      [own("processes", 'state="alive"'), "1x90"],
      [own("processes", 'state="configured"'), "2x90"],
    ],
    calm: [
      [own("processes", 'state="alive"'), "2x90"],
      [own("processes", 'state="configured"'), "2x90"],
    ],
  },
  Restarts: {
    raise: [[`process_start_time_seconds{${EXTRACTOR}}`, "1x70 2 3 4 5 6 7 8"]],
    calm: [[`process_start_time_seconds{${EXTRACTOR}}`, "1x70 2x20"]],
  },
  ServerErrors: {
    raise: [requests("200", 90), requests("500", 10)],
    calm: [requests("200", 99), requests("502", 50)],
  },
  Overloaded: {
    raise: [requests("200", 80), requests("429", 20)],
    calm: [requests("200", 99), requests("429", 1)],
  },
  PagesFail: {
    raise: [
      [own("article_requests_total", 'outcome="success"'), "0+10x90"],
      [own("article_requests_total", 'outcome="failure"'), "0+20x90"],
    ],
    // Few pages are no sign of anything.
    calm: [[own("article_requests_total", 'outcome="failure"'), "0+1x90"]],
  },
  FewFileDescriptors: {
    raise: [
      [`process_open_fds{${EXTRACTOR}}`, "900x90"],
      [`process_max_fds{${EXTRACTOR}}`, "1000x90"],
    ],
    calm: [
      [`process_open_fds{${EXTRACTOR}}`, "500x90"],
      [`process_max_fds{${EXTRACTOR}}`, "1000x90"],
    ],
  },
  JobsWait: {
    raise: [
      [own("crawl_jobs", 'state="queued"'), "3x90"],
      [own("crawl_jobs", 'state="running"'), "0x90"],
    ],
    calm: [
      [own("crawl_jobs", 'state="queued"'), "3x90"],
      [own("crawl_jobs", 'state="running"'), "1x90"],
    ],
  },
  JobsLost: { raise: [[own("jobs_lost_total"), "0+1x90"]], calm: [[own("jobs_lost_total"), "0x80 1x10"]] },
  DatabaseAway: {
    raise: [[own("database_retries_total", 'reason="away"'), "0+1x90"]],
    calm: [[own("database_retries_total", 'reason="conflict"'), "0+1x90"]],
  },
  BucketErrors: {
    raise: [
      [own("store_errors_total"), "0+5x90"],
      [own("store_requests_total", 'verb="read"'), "0+10x90"],
    ],
    calm: [
      [own("store_errors_total"), "0x90"],
      [own("store_requests_total", 'verb="read"'), "0+10x90"],
    ],
  },
  TenantDegraded: {
    raise: [[own("tenant_degraded", 'tenant="x"'), "1x90"]],
    calm: [[own("tenant_degraded", 'tenant="x"'), "1x20 0 1x10 0 1x20 0x40"]],
  },
  TenantStale: {
    raise: [[own("tenant_sync_timestamp_seconds", 'tenant="x"'), "-700000x90"]],
    calm: [[own("tenant_sync_timestamp_seconds", 'tenant="x"'), "0x90"]],
  },
  SearchesSlow: {
    raise: [0.5, 1, 2.5, "+Inf"].map((le, at) => [
      own("mcp_call_duration_seconds_bucket", `tool="search",le="${le}"`),
      `0+${at > 1 ? 10 : 1}x90`,
    ]),
    calm: [0.5, 1, 2.5, "+Inf"].map((le) => [
      own("mcp_call_duration_seconds_bucket", `tool="search",le="${le}"`),
      "0+10x90",
    ]),
  },
  TracesLost: {
    raise: [[own("trace_spans_lost_total"), "0+5x90"]],
    calm: [[own("trace_spans_lost_total"), "0x60 5x30"]],
  },
};

describe.skipIf(!hasPrometheus)("the alerts in promtool", () => {
  test("each has a case", () => {
    expect(alerts.map(({ alert }) => alert)).toEqual(
      Object.keys(CASES).map((name) => `ArticleExtractor${name}`),
    );
    expect(promtool(["check", "rules", join(FILES, "alerts.yml")])).toBe("");
  });

  test.each(Object.entries(CASES))(
    "%s is raised by what it is about, and by that alone",
    (name, { raise, calm }) => {
      const tried = (series: Series, isRaised: boolean) => ({
        interval: "1m",
        input_series: series.map(([one, values]) => ({ series: one, values })),
        // Whether any is raised is asked, not with which words: these may change.
        promql_expr_test: [
          {
            expr: `count(ALERTS{alertname="ArticleExtractor${name}",alertstate="firing"})`,
            eval_time: "90m",
            exp_samples: isRaised ? [{ labels: "{}", value: 1 }] : [],
          },
        ],
      });
      const file = join(directory, `${name}.json`);
      const cases = {
        rule_files: [join(FILES, "alerts.yml")],
        evaluation_interval: "1m",
        tests: [tried(raise, true), tried(calm, false)],
      };
      writeFileSync(file, JSON.stringify(cases));
      expect(promtool(["test", "rules", file])).toBe("");
    },
  );
});

const site = forAllTests(serveNumberedSite({ pages: 5, answerMs: 1 }));
const extractor = forAllTests(await startExtractor());
const search = forAllTests(await Served.start(writeDeployment()));

describe.skipIf(!hasPrometheus)("a Prometheus with the example's configuration", () => {
  let url = "";
  let prometheus: Bun.Subprocess | null = null;
  afterAll(async () => {
    prometheus?.kill();
    await prometheus?.exited;
  });
  const api = async (path: string) =>
    (await (await fetch(`${url}/api/v1/${path}`)).json()) as {
      readonly status: string;
      readonly error?: string;
      readonly data: never;
    };
  const query = (expression: string) => api(`query?query=${encodeURIComponent(expression)}`);

  beforeAll(async () => {
    expect((await extractor.post("/", { url: `${site.origin}/p/1` })).status).toBe(200);
    expect((await extractor.post("/", { url: `${site.origin}/nothing` })).status).toBe(502);
    await untilTrue(async () => (await search.search("proxies").catch(() => null))?.results.length === 1);
    const configuration = (await read("prometheus.yml"))
      .replace("127.0.0.1:3000", new URL(extractor.url).host)
      .replace("127.0.0.1:3002", new URL(search.url).host)
      .replace("rule_files:", "global: { scrape_interval: 1s, evaluation_interval: 1s }\nrule_files:");
    writeFileSync(join(directory, "prometheus.yml"), configuration);
    writeFileSync(join(directory, "alerts.yml"), await read("alerts.yml"));
    expect(promtool(["check", "config", join(directory, "prometheus.yml")])).toBe("");
    mkdirSync(join(directory, "data"));
    url = `http://127.0.0.1:${freePort()}`;
    prometheus = Bun.spawn(
      [
        "prometheus",
        `--config.file=${join(directory, "prometheus.yml")}`,
        `--storage.tsdb.path=${join(directory, "data")}`,
        `--web.listen-address=${new URL(url).host}`,
      ],
      { stdio: ["ignore", "ignore", "ignore"] },
    );
    await untilTrue(async () => {
      const up = await query("sum(up)").catch(() => null);
      return (
        (up?.data as { result?: { value: [number, string] }[] } | undefined)?.result?.[0]?.value[1] === "2"
      );
    });
  });

  test.each([
    ["serve extractor", () => extractor.url],
    ["serve search", () => search.url],
  ])("finds nothing wrong with the metrics of %s", async (_, urlOf) => {
    const text = await (await fetch(`${urlOf()}/metrics`)).text();
    expect(promtool(["check", "metrics"], text)).toBe("");
    const names = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(text).toContain(`# HELP ${name} `);
  });

  test("can read every expression, and finds what was done", async () => {
    for (const [title, expression] of panelExpressions) {
      const { status, error } = await query(filledIn(expression));
      expect([title, expression, status, error]).toEqual([title, expression, "success", undefined]);
    }
    const found = async (title: string): Promise<number> => {
      const counts = panelExpressions
        .filter(([one]) => one === title)
        .map(async ([, expression]) => {
          const { data } = await query(filledIn(expression));
          return (data as { result: unknown[] }).result.length;
        });
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    };
    const always =
      "Version, Processes alive, Running since, Resident memory, File descriptors, Jobs, Documents";
    const rates =
      "Requests by status, Requests by route, CPU, Pages asked for, Time of a page, Failures by code";
    for (const title of [...always.split(", "), ...rates.split(", "), "Calls of tools"])
      await untilTrue(async () => (await found(title)) > 0);
    const rules = (await api("rules")).data as { groups: { rules: { name: string; health: string }[] }[] };
    const healths = rules.groups.flatMap((group) => group.rules.map(({ health }) => health));
    expect(healths).toEqual(alerts.map(() => "ok"));
    for (const { name, definition } of dashboard.templating.list) {
      const label = /, (\w+)\)$/.exec(definition ?? "")?.[1];
      if (label === undefined) continue;
      expect([
        name,
        ((await query(`count by (${label}) (article_extractor_build_info)`)).data as { result: unknown[] })
          .result.length,
      ]).toEqual([name, 2]);
    }
  });

  test("gets no new series from whoever asks for what there is not", async () => {
    const seriesOf = async (base: string): Promise<string[]> =>
      (await (await fetch(`${base}/metrics`)).text())
        .split("\n")
        .filter((line) => line.startsWith("article_extractor_"))
        .map((line) => line.replace(/ \S+$/, ""));
    const odd = async (base: string, at: number): Promise<void> => {
      await fetch(`${base}/nothing-${at}`);
      await fetch(`${base}/crawl/${at}`);
      await fetch(`${base}/search?q=x&tenant=none-${at}`);
      await fetch(`${base}/`, { method: at % 2 === 0 ? "PROPFIND" : `METHOD${at}` }).catch(() => {});
      const params = { name: `tool-${at}`, arguments: { query: `q${at}` } };
      await postMcp(base, { method: "tools/call", params });
    };
    for (const base of [extractor.url, search.url]) {
      for (let at = 0; at < 3; at++) await odd(base, at);
      await seriesOf(base);
      const before = await seriesOf(base);
      for (let at = 3; at < 30; at++) await odd(base, at);
      expect((await seriesOf(base)).sort()).toEqual(before.sort());
    }
  });
});
