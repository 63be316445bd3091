import { describe, expect } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "../../support/binary.ts";
import { openDisplay } from "../../support/display.ts";
import { startExtractor } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { startForwardProxy } from "../../support/forward-proxy.ts";
import { serveRecordingSite } from "../../support/recording-site.ts";
import { serveScriptedSite } from "../../support/scripted-site.ts";
import { statementsOf } from "./statement.ts";

const statement = statementsOf("extraction");

const site = forAllTests(serveRecordingSite());
const scripted = forAllTests(serveScriptedSite());
const hosts = { "docs.example": new URL(site.origin).host };
const proxy = forAllTests(await startForwardProxy({ credentials: null, hosts }));
const proxyUrl = `http://127.0.0.1:${proxy.port}`;
const display = forAllTests(await openDisplay());
const env = { ...display.env, ARTICLE_EXTRACTOR_EGRESS: "open" };
const server = forAllTests(await startExtractor({ env }));

const PAGE = `${site.origin}/page`;
const post = (body: object): Promise<Response> => server.post("/", body);
const extract = async (body: object) => {
  const response = await post({ options: { min_word_count: 1 }, ...body });
  expect([response.status, response.ok ? "" : await response.clone().text()]).toEqual([200, ""]);
  return (await response.json()) as {
    readonly title: string;
    readonly text: string;
    readonly fetcher: string;
  };
};
let pages = 0;
/** The headers with which a page is asked for that nobody had before. */
async function headersOf(network: object) {
  await extract({ url: `${PAGE}?${++pages}`, prefer_browser: false, network });
  return site.seen.at(-1)!.headers;
}
const proxied = async () => (await proxy.requests()).length;

// Section: Extraction request
const FIELDS: Readonly<Record<string, () => Promise<void>>> = {
  "url | string | Page address to extract.": async () => {
    expect((await extract({ url: PAGE })).title).toBe("Tide tables");
    for (const url of [undefined, 7, "no address"]) expect((await post({ url })).status).toBe(422);
  },
  "prefer_browser | boolean | Force the browser fetcher over the plain HTTP client.": async () => {
    const url = `${scripted.origin}/plain`;
    expect((await extract({ url, prefer_browser: true })).text).toContain("As scripted.");
    expect((await extract({ url, prefer_browser: false })).text).toContain("As sent.");
    expect((await post({ url, prefer_browser: "yes" })).status).toBe(422);
  },
  "network | object | Network options (below).": async () => {
    expect((await post({ url: PAGE, network: {} })).status).toBe(200);
    expect((await post({ url: PAGE, network: "x" })).status).toBe(422);
  },
  "user_agent | string | User-agent string to send.": async () => {
    expect((await headersOf({ user_agent: "tester/7" }))["user-agent"]).toBe("tester/7");
  },
  "random_user_agent | boolean | Use a random user agent.": async () => {
    const agents = new Set<string | undefined>();
    while (agents.size < 2) agents.add((await headersOf({ random_user_agent: true }))["user-agent"]);
    for (const agent of agents) expect(agent).toStartWith("Mozilla/5.0 ");
    expect((await headersOf({ random_user_agent: false }))["user-agent"]).toStartWith("article-extractor/");
  },
  "headed | boolean | Run the browser visibly": async () => {
    const network = { headed: true };
    expect((await extract({ url: `${scripted.origin}/app`, network })).fetcher).toBe("browser");
    expect(server.stderr()).toContain('"headed":true');
    await using blind = await startExtractor();
    expect((await blind.post("/", { url: PAGE, network })).status).toBe(422);
  },
  "proxy | string or null | Proxy address.": async () => {
    const before = await proxied();
    expect((await extract({ url: "http://docs.example/page", network: { proxy: proxyUrl } })).title).toBe(
      "Tide tables",
    );
    expect(await proxied()).toBe(before + 1);
    await extract({ url: `${PAGE}?null`, network: { proxy: null } });
    expect(await proxied()).toBe(before + 1);
  },
  "proxy_bypass | array of string | Hosts that skip the proxy.": async () => {
    const before = await proxied();
    await extract({ url: `${PAGE}?around`, network: { proxy: proxyUrl, proxy_bypass: ["127.0.0.1"] } });
    expect(await proxied()).toBe(before);
    await extract({
      url: `${PAGE}?through`,
      network: { proxy: proxyUrl, proxy_bypass: ["elsewhere.example"] },
    });
    expect(await proxied()).toBe(before + 1);
  },
  "storage_state | string or null | Path of a file holding browser cookies/session.": async () => {
    const network = { storage_state: "state.json" };
    await extract({ url: `${scripted.origin}/session`, prefer_browser: false, network });
    expect(readFileSync(join(server.directory, "state.json"), "utf8")).toContain("s3cret");
    const url = `${scripted.origin}/members`;
    expect((await extract({ url, prefer_browser: false, network })).text).toContain("Welcome back.");
    const ephemeral = { url, prefer_browser: false, network: { storage_state: null } };
    expect((await extract(ephemeral)).text).toContain("Please log in.");
  },
  "user_interaction_timeout | number | Seconds to wait for user interaction in headed mode.": async () => {
    const network = { headed: true, user_interaction_timeout: 0.5 };
    const before = scripted.count("/late");
    await extract({ url: `${scripted.origin}/late`, network });
    // It is shown for so long, and then taken.
    expect(scripted.count("/late") - before).toBe(2);
  },
  "`HTTPS_PROXY` and `NO_PROXY` are honoured for fetching": async () => {
    const asked = async (url: string, variables: Readonly<Record<string, string>>): Promise<number> => {
      const before = await proxied();
      await runBinary([url, "--retries", "0"], { env: variables });
      return (await proxied()) - before;
    };
    const through = { HTTPS_PROXY: proxyUrl };
    expect(await asked("https://docs.example/page", through)).toBe(1);
    expect(await asked("https://docs.example/page", { ...through, NO_PROXY: ".example" })).toBe(0);
    // As everywhere it is about https:// alone; docs/how-to/proxy.md says so.
    expect(await asked(PAGE, through)).toBe(0);
  },
  "the resolved proxy is written to the log": async () => {
    const named = async (variables: Readonly<Record<string, string>>): Promise<unknown> => {
      const { stderr } = await runBinary([PAGE, "-v", "--retries", "0"], { env: variables });
      const line = stderr.split("\n").find((one) => one.includes('"proxy resolved"'));
      return JSON.parse(line ?? "{}").proxy;
    };
    const address = `127.0.0.1:${proxy.port}`;
    const secret = { HTTP_PROXY: `http://user:secret@${address}` };
    expect(await named({})).toBe("none");
    expect(await named(secret)).toContain(address);
    expect(await named(secret)).not.toContain("secret");
  },
};

describe("a request", () => {
  for (const [words, holds] of Object.entries(FIELDS)) statement("Extraction request", words, holds);
});

statement(
  "Authentication",
  "Sessions for target sites that need a login are carried by the `storage_state` file",
  async () => {
    const file = join(server.directory, "person.json");
    const cookie = {
      name: "sid",
      value: "s3cret",
      domain: "127.0.0.1",
      path: "/",
      expires: -1,
      httpOnly: true,
      secure: false,
      sameSite: "Lax",
    };
    writeFileSync(file, JSON.stringify({ cookies: [cookie], origins: [] }));
    const url = `${scripted.origin}/members`;
    for (const prefer_browser of [true, false]) {
      const page = await extract({ url, prefer_browser, network: { storage_state: "person.json" } });
      expect(page.text).toContain("Welcome back.");
    }
  },
);

statement("Authentication", "and headed mode (see network options)", async () => {
  const network = { headed: true, user_interaction_timeout: 2, storage_state: "headed.json" };
  await extract({ url: `${scripted.origin}/self-login`, network });
  expect(existsSync(join(server.directory, "headed.json"))).toBeTrue();
  expect(
    (await extract({ url: `${scripted.origin}/members`, network: { storage_state: "headed.json" } })).text,
  ).toContain("Welcome back.");
});
