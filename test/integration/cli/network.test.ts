import { describe, expect, test } from "bun:test";
import type { BinaryResult } from "../../support/binary.ts";
import { runCommand } from "../../support/command.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { startForwardProxy } from "../../support/forward-proxy.ts";
import { startRawServer } from "../../support/raw-server.ts";
import { serveRecordingSite } from "../../support/recording-site.ts";

const site = forAllTests(serveRecordingSite());

const DEBUG = ["--log-level", "debug", "--log-format", "text", "--retries", "0"];

const everything = ({ stdout, stderr }: BinaryResult): string => `${stdout}\n${stderr}`;

describe("the proxy variables", () => {
  /** How many requests reached a proxy in one run, which must succeed. */
  async function proxied(
    env: (proxy: string) => Record<string, string>,
    args: (proxy: string) => string[] = () => [],
  ): Promise<number> {
    await using proxy = await startForwardProxy({ credentials: null, hosts: {} });
    const address = `http://127.0.0.1:${proxy.port}`;
    const run = await runCommand([`${site.origin}/page`, "--retries", "0", ...args(address)], {
      env: env(address),
    });
    expect([run.exitCode, run.stderr]).toEqual([0, ""]);
    return (await proxy.requests()).length;
  }

  for (const name of ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "ARTICLE_EXTRACTOR_PROXY"]) {
    test(`${name} is used`, async () => {
      expect(await proxied((proxy) => ({ [name]: proxy }))).toBe(1);
    });
  }

  test("HTTPS_PROXY is not used for http", async () => {
    expect(await proxied((proxy) => ({ HTTPS_PROXY: proxy }))).toBe(0);
  });

  for (const bypass of ["*", "127.0.0.1", "127.0.0.0/8", "h.example,127.0.0.1"]) {
    test(`NO_PROXY ${bypass} goes past them`, async () => {
      expect(await proxied((proxy) => ({ HTTP_PROXY: proxy, NO_PROXY: bypass }))).toBe(0);
      expect(await proxied((proxy) => ({ HTTP_PROXY: proxy, no_proxy: bypass }))).toBe(0);
    });
  }

  test("NO_PROXY for another host or port goes past nothing", async () => {
    expect(await proxied((proxy) => ({ HTTP_PROXY: proxy, NO_PROXY: "h.example,127.0.0.1:1" }))).toBe(1);
  });

  test("NO_PROXY does not undo --proxy", async () => {
    expect(
      await proxied(
        () => ({ NO_PROXY: "*" }),
        (proxy) => ["--proxy", proxy],
      ),
    ).toBe(1);
  });

  test("--proxy-bypass and ARTICLE_EXTRACTOR_PROXY_BYPASS go past every proxy", async () => {
    const bypass = ["--proxy-bypass", "127.0.0.1"];
    expect(
      await proxied(
        (proxy) => ({ HTTP_PROXY: proxy }),
        () => bypass,
      ),
    ).toBe(0);
    const env = { ARTICLE_EXTRACTOR_PROXY_BYPASS: "127.0.0.1" };
    expect(
      await proxied(
        () => env,
        (proxy) => ["--proxy", proxy],
      ),
    ).toBe(0);
  });

  test("--proxy goes before the setting, the setting before the variables", async () => {
    const nobody = "http://127.0.0.1:1";
    expect(
      await proxied(
        () => ({ ARTICLE_EXTRACTOR_PROXY: nobody }),
        (proxy) => ["--proxy", proxy],
      ),
    ).toBe(1);
    expect(await proxied((proxy) => ({ ARTICLE_EXTRACTOR_PROXY: proxy, HTTP_PROXY: nobody }))).toBe(1);
  });

  test("the proxy that was chosen is in the log", async () => {
    await using proxy = await startForwardProxy({ credentials: null, hosts: {} });
    const address = `http://127.0.0.1:${proxy.port}`;
    const run = await runCommand([`${site.origin}/page`, "-v"], { env: { HTTP_PROXY: address } });
    expect(run.stderr).toContain(`"message":"proxy resolved","proxy":"${address}"`);
  });
});

describe("secrets are sent where they belong and shown nowhere:", () => {
  const url = (path: string) => site.origin.replace("://", "://reader:s3cr%40t@") + path;

  test("credentials in a URL become an Authorization header", async () => {
    const run = await runCommand([url("/page"), ...DEBUG]);
    expect(run.exitCode).toBe(0);
    expect(site.seen.at(-1)?.headers.authorization).toBe(`Basic ${btoa("reader:s3cr@t")}`);
    expect(everything(run)).not.toMatch(/s3cr|reader:/);
    expect(JSON.parse(run.stdout)).toMatchObject({
      url: `${site.origin}/page`,
      final_url: `${site.origin}/page`,
    });
  });

  test("also in a list, in front matter and in failures", async () => {
    const list = `${url("/page")}\n${url("/status/500")}\nhttps://reader:s3cr%40t@[bad/\n`;
    const json = await runCommand(["--input-file", "-", ...DEBUG], { stdin: list });
    expect(json.stdout.trimEnd().split("\n").length).toBe(3);
    expect(everything(json)).not.toMatch(/s3cr|reader:/);
    const markdown = await runCommand([url("/page"), "--output", "markdown", "--frontmatter", ...DEBUG]);
    expect(everything(markdown)).not.toMatch(/s3cr|reader:/);
    for (const wrong of ["https://reader:s3cr@[bad/", "ftp://reader:s3cr@h/", "reader:s3cr@h"]) {
      expect(everything(await runCommand([wrong]))).not.toContain("s3cr");
      expect(everything(await runCommand(["-", "--url", wrong]))).not.toContain("s3cr");
    }
    expect(everything(await runCommand([url("/page"), "--egress", "public"]))).not.toContain("s3cr");
  });

  test("credentials and secret headers stay behind when a redirect leaves the origin", async () => {
    await using other = serveRecordingSite();
    await runCommand([
      url(`/to?url=${encodeURIComponent(`${other.origin}/there`)}`),
      ...["--header", "Cookie: id=1", "--header", "X-Api-Key: k", "--header", "Accept-Language: de"],
    ]);
    expect(site.seen.at(-1)?.headers).toMatchObject({
      cookie: "id=1",
      "x-api-key": "k",
      "accept-language": "de",
    });
    const { headers } = other.seen[0]!;
    expect(headers).toMatchObject({ "accept-language": "de" });
    expect([headers.authorization, headers.cookie, headers["x-api-key"]]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("credentials of a proxy are sent to it alone", async () => {
    await using proxy = await startForwardProxy({ credentials: "user:s3cr@t", hosts: {} });
    const address = `http://user:s3cr%40t@127.0.0.1:${proxy.port}`;
    for (const args of [["--proxy", address], []]) {
      const run = await runCommand([`${site.origin}/page`, ...args, ...DEBUG], {
        env: args.length === 0 ? { HTTP_PROXY: address } : {},
      });
      expect(run.exitCode).toBe(0);
      expect(run.stderr).toContain(`proxy=http://127.0.0.1:${proxy.port}\n`);
      expect(everything(run)).not.toContain("s3cr");
      expect(JSON.stringify(site.seen.at(-1)?.headers)).not.toMatch(/proxy-authorization/i);
    }
    expect((await proxy.requests()).map(({ authorized }) => authorized)).toEqual([true, true]);
  });

  const BROKEN = "http://user:s3cr@[bad";
  const FAILING: readonly (readonly [name: string, args: readonly string[], env: Record<string, string>])[] =
    [
      ["a --proxy that is no address", ["--proxy", BROKEN], {}],
      ["an HTTP_PROXY that is no address", [], { HTTP_PROXY: BROKEN }],
      ["an ARTICLE_EXTRACTOR_PROXY that is no address", [], { ARTICLE_EXTRACTOR_PROXY: BROKEN }],
      ["a proxy that is not there", ["--proxy", "http://user:s3cr@127.0.0.1:1"], {}],
      ["a proxy that the egress policy refuses", ["--proxy", "http://user:s3cr@169.254.169.254"], {}],
      ["a header that cannot be sent", ["--header", "Authorization: s3cr\u2603"], {}],
      ["a header of a wrong form", ["--header", "Authorization s3cr"], {}],
    ];
  for (const [name, args, env] of FAILING) {
    test(`${name} is named without them`, async () => {
      const run = await runCommand([`${site.origin}/page`, ...args, ...DEBUG], { env });
      expect([run.exitCode === 0, run.stdout]).toEqual([false, ""]);
      expect(run.stderr).toContain("error: ");
      expect(run.stderr).not.toContain("s3cr");
    });
  }

  test("a proxy that asks for credentials which it does not get is a failure", async () => {
    await using proxy = await startForwardProxy({ credentials: "user:pw", hosts: {} });
    const run = await runCommand([
      `${site.origin}/page`,
      "--proxy",
      `127.0.0.1:${proxy.port}`,
      "--retries",
      "0",
    ]);
    expect([run.exitCode, run.stdout]).toEqual([1, ""]);
    expect(run.stderr).toMatch(/^error: [^\n]*proxy[^\n]*\n$/);
  });
});

describe("a proxy that does not open the way", () => {
  /** A proxy that answers everything with one status. */
  const answering = (status: number) =>
    startRawServer({
      answer: (_, socket) => void socket.end(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`),
    });

  test.each([
    [502, 2, "could not reach the host"],
    [503, 2, "could not reach the host"],
    [504, 2, "could not reach the host"],
    [403, 1, "refused the connection"],
    [407, 1, "asks for other credentials"],
  ])("that answers CONNECT with %d is asked %d times, and %s", async (status, times, words) => {
    await using proxy = await answering(status);
    const args = ["https://site.invalid/page", "--proxy", `127.0.0.1:${proxy.port}`, "--retries", "1"];
    const run = await runCommand([...args, "--no-browser"]);
    expect([run.exitCode, run.stderr]).toEqual([1, expect.stringContaining(`the proxy ${words}`)]);
    expect(run.stderr).toContain(`through the proxy 127.0.0.1:${proxy.port}: `);
    expect(proxy.requests.map(({ target }) => target)).toEqual(Array(times).fill("site.invalid:443"));
  });

  test.each([
    ["http", "http_status", "GET http://site.invalid/robots.txt answered HTTP 502"],
    ["https", "network", "the proxy could not reach the host"],
  ])("makes a page of %s fail in a crawl as %s", async (scheme, code, words) => {
    await using proxy = await answering(502);
    const args = ["crawl", `${scheme}://site.invalid/`, "--proxy", `127.0.0.1:${proxy.port}`];
    const run = await runCommand([...args, "--jsonl", "--no-browser", "--rate-limit", "0"]);
    expect(run.exitCode).toBe(1);
    expect(JSON.parse(run.stdout)).toMatchObject({
      success: false,
      error: { code, message: expect.stringContaining(words) },
    });
    expect(run.stderr).not.toContain("robots:");
    expect(proxy.requests.map(({ target }) => target)).not.toContain("http://site.invalid/");
  });
});

describe("the egress policy", () => {
  test("public refuses a redirect into this machine, too, and every spelling of it", async () => {
    const { port } = new URL(site.origin);
    for (const host of [
      "127.0.0.1",
      "localhost",
      "127.1",
      "2130706433",
      "0x7f.1",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "0",
    ]) {
      const run = await runCommand([`http://${host}:${port}/page`, "--egress", "public"]);
      expect([host, run.exitCode, run.stdout]).toEqual([host, 1, ""]);
      expect(run.stderr).toStartWith("error: the egress policy refuses ");
    }
  });

  test("refuses metadata addresses under each policy", async () => {
    for (const policy of ["auto", "open", "public", "169.254.169.254"]) {
      const run = await runCommand(["http://169.254.169.254/latest/", "--egress", policy]);
      expect([policy, run.exitCode]).toEqual([policy, 1]);
      expect(run.stderr).toContain("refused always");
    }
  });

  test("from the environment is overridden by --egress", async () => {
    const env = { ARTICLE_EXTRACTOR_EGRESS: "public" };
    expect((await runCommand([`${site.origin}/page`], { env })).exitCode).toBe(1);
    expect((await runCommand([`${site.origin}/page`, "--egress", "auto"], { env })).exitCode).toBe(0);
  });
});
