import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ParseError, parse as parseJson } from "jsonc-parser";
import { makeCertificate } from "../support/certificates.ts";
import { documentedBlocks, documentedPages, serveExampleHosts } from "../support/documented.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { startForwardProxy } from "../support/forward-proxy.ts";
import { serveSite } from "../support/site.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const ROOT = join(import.meta.dir, "../..");

// The hosts of the examples, under their names: a proxy knows where they are.
const site = forAllTests(await serveSite());
const hosts = forAllTests(await serveExampleHosts());
const { key, cert } = await makeCertificate("inner.example");
const inner = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  tls: { key, cert },
  fetch: () =>
    new Response("<title>Inner pages</title><main><h1>Inner pages</h1><p>For us alone.</p></main>", {
      headers: { "content-type": "text/html" },
    }),
});
forAllTests({ [Symbol.asyncDispose]: () => inner.stop(true) });
const proxy = forAllTests(
  await startForwardProxy({
    credentials: null,
    hosts: {
      "weirside.example": new URL(site.origin).host,
      "example.org": hosts.host,
      "docs.example.org": hosts.host,
      "members.example": hosts.host,
      "inner.example:443": `127.0.0.1:${inner.port}`,
    },
  }),
);

/** Made-up hosts have no certificates. */
const withoutTls = (text: string): string =>
  text.replace(
    /\bhttps:\/\/(?=(?:[\w-]+\.)?(?:example\.org|members\.example|weirside\.example)\b)/g,
    "http://",
  );

const PORTS = /\b38\d{3}\b/g;
const portOf = new Map<string, number>();
/** The examples' ports, each with one that is free now: the same tests may run beside these, and others. */
const withFreePorts = (text: string): string =>
  text.replace(PORTS, (port) => {
    if (!portOf.has(port)) portOf.set(port, freePort());
    return String(portOf.get(port));
  });

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  listener.stop(true);
  return listener.port;
}

/** A server that an example starts in front is asked whether it is ready, and ended. */
const withEndingServers = (commands: string): string =>
  commands.replace(/^(article-extractor serve [^&#\n]*?)(?: +#.*)?$/gm, (_, command: string) => {
    const port = freePort();
    const own = command.replace(/ --(?:host|port) \S+/g, "");
    return `${own} --host 127.0.0.1 --port ${port} 2> served.log & served=$!
tries=0; until curl -s 127.0.0.1:${port}/ready > ready.json; do kill -0 $served; tries=$((tries+1)); [ $tries -lt 400 ]; sleep 0.1; done
kill $served; wait $served`;
  });

/** How long something took is another matter every time, and the proxy of the tests is nothing to show. */
const withoutTimes = (text: string): string =>
  text.replace(/\bin [\d.]+ m?s\b/g, "in … s").replace(/ through the proxy 127\.0\.0\.1:\d{4,5}/g, "");

const folder = forAllTests(temporaryDirectory()).path;

/** A page's directory, with what its examples find there. */
function directoryFor(page: string): string {
  const path = join(folder, page.replaceAll("/", "-"));
  mkdirSync(join(path, "home"), { recursive: true });
  symlinkSync(join(ROOT, "test"), join(path, "test"));
  writeFileSync(join(path, "inner-ca.pem"), cert);
  return path;
}

async function run(commands: string, path: string): Promise<{ output: string; exitCode: number }> {
  const script = withEndingServers(withFreePorts(withoutTls(commands)));
  const shell = Bun.spawn(["sh", "-c", `{ ${script}\n} 2>&1`], {
    cwd: path,
    env: {
      PATH: `${join(ROOT, "dist")}:${process.env.PATH}`,
      HOME: join(path, "home"),
      XDG_STATE_HOME: join(path, "state"),
      HTTP_PROXY: `http://127.0.0.1:${proxy.port}`,
      HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
      NO_PROXY: "127.0.0.1,localhost",
      // What the examples show does not depend on these, how long they take does.
      ARTICLE_EXTRACTOR_PREFER_BROWSER: "false",
      ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "0.01",
    },
    stdin: "ignore",
    stdout: "pipe",
  });
  return { output: await new Response(shell.stdout).text(), exitCode: await shell.exited };
}

/** The commands after `$ ` of an example, and the output that the page shows. */
function readConsole(text: string): { readonly commands: string; readonly output: string } {
  const lines = text.trimEnd().split("\n");
  const isCommand = (line: string): boolean => line.startsWith("$ ");
  return {
    commands: lines
      .filter(isCommand)
      .map((line) => line.slice(2))
      .join("\n"),
    output: lines.filter((line) => !isCommand(line)).join("\n"),
  };
}

const pages = await Promise.all(
  (await documentedPages()).map(async (page) => ({ page, blocks: await documentedBlocks(page) })),
);

test("nearly all commands of the documentation run, here or in the test that a page names", async () => {
  const commands = pages.flatMap(({ blocks }) =>
    blocks.filter(({ language }) => language === "sh" || language === "console"),
  );
  const reasons = commands.flatMap(({ whyNotRun }) => whyNotRun ?? []);
  const elsewhere = reasons.filter((why) => /^test\/|^make test/.test(why));
  const missing = elsewhere.filter((why) => {
    const path = /^test\/[\w./-]+/.exec(why)?.[0].replace(/\.$/, "");
    return path !== undefined && !existsSync(join(ROOT, path));
  });
  expect(missing).toEqual([]);
  expect(commands.length).toBeGreaterThan(70);
  expect((reasons.length - elsewhere.length) / commands.length).toBeLessThan(0.16);
});

/** The commands in the tables of a page, but for those in the first column, which names what somebody comes from. */
async function tabledCommands(page: string): Promise<readonly string[]> {
  const rows = (await Bun.file(join(ROOT, page)).text()).match(/^\|.*\|$/gm) ?? [];
  const commands = rows.flatMap((row) => {
    const others = row.replace(/^\|(?:\\\||[^|])*\|/, "");
    return others.match(/(?<=`)article-extractor [^`]*--[^`]*(?=`)/g) ?? [];
  });
  return [...new Set(commands)];
}

describe("the commands in the tables of docs/migration.md", async () => {
  const directory = directoryFor("tables");
  await Bun.write(join(directory, "page.html"), Bun.file(join(ROOT, "test/site/news/borrowed-tools.html")));
  writeFileSync(join(directory, "urls.txt"), "http://docs.example.org/en/\n");
  const commands = await tabledCommands("docs/migration.md");
  test("are there", () => expect(commands.length).toBeGreaterThan(20));
  test.each(commands)("%s succeeds", async (command) => {
    const { output, exitCode } = await run(command, directory);
    expect({ output, exitCode }).toEqual({ output, exitCode: 0 });
  });
});

// The blocks of a page run in their order and in one directory, as somebody reads them.
for (const { page, blocks } of pages) {
  describe(page, () => {
    const directory = directoryFor(page);
    for (const [at, { language, text, whyNotRun, given }] of blocks.entries()) {
      const name = `${at + 1}: ${text.trimEnd().split("\n").at(-1)?.slice(0, 80)}`;
      if (language === "sh")
        test.skipIf(whyNotRun !== null)(`${name} succeeds${whyNotRun ? ` (${whyNotRun})` : ""}`, async () => {
          const { output, exitCode } = await run(`set -e\n${given}\n${text}`, directory);
          expect({ output, exitCode }).toEqual({ output, exitCode: 0 });
        });
      if (language === "console")
        test.skipIf(whyNotRun !== null)(`${name} gives the output shown`, async () => {
          const { commands, output } = readConsole(text);
          if (given !== "") expect((await run(`set -e\n${given}`, directory)).exitCode).toBe(0);
          const ran = await run(commands, directory);
          expect(withoutTimes(ran.output).trimEnd()).toBe(
            withoutTimes(withFreePorts(withoutTls(output))).trimEnd(),
          );
        });
      if (language === "toml" || language === "yaml")
        test(`${name} can be read`, () => {
          const read = language === "toml" ? Bun.TOML : Bun.YAML;
          expect(Object.keys(Object(read.parse(text)))).not.toEqual([]);
        });
      if (language === "json")
        test(`${name} is JSON`, () => {
          const errors: ParseError[] = [];
          parseJson(text, errors, { allowTrailingComma: true });
          expect(errors).toEqual([]);
        });
      // A file whose name stands in its first line is there for the commands below it.
      const file = /^(?:#|\/\/) ([\w./-]+\.(?:json|txt|sh|yaml|yml|toml|py))\n/.exec(text)?.[1];
      if (file && language !== "console") writeFileSync(join(directory, file), text);
    }
  });
}
