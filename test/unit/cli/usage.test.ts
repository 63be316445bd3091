import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { runCommand, wordsOf } from "../../support/command.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

// Nothing here is fetched: port 1 answers nobody.
const URL = "http://127.0.0.1:1/";

const WRONG: Readonly<Record<string, string>> = {
  "--ouput json URL": "unknown option --ouput; did you mean --output?",
  "--images URL": "unknown option --images; did you mean --no-images?",
  "--sel p URL": "unknown option --sel; did you mean --select?",
  "--banana URL": "unknown option --banana",
  "-Z URL": "unknown option -Z",
  "--wait-for 3000 URL": "--wait-for takes a CSS selector, not the time 3000",
  "foo URL": '"foo" is not an http or https URL, and no command; article-extractor --help lists the commands',
  "scrape URL": 'unknown command "scrape"; did you mean extract?',
  list: 'unknown command "list"; did you mean tenants?',
  "serve serach": "serve takes what to serve: extractor, search; did you mean search?",
  "serve mcp": "serve takes what to serve: extractor, search; did you mean search?",
  "keys create x": "keys takes: add NAME, list, or revoke NAME; did you mean add?",
  "mcp --print-config claude":
    '--print-config must be one of claude-code, claude-desktop, cursor, vscode, zed, codex, generic, not "claude"; did you mean claude-code or claude-desktop?',
  "mcp --print-config visual-studio-code":
    '--print-config must be one of claude-code, claude-desktop, cursor, vscode, zed, codex, generic, not "visual-studio-code"; did you mean vscode?',
  "--fields author URL": '--fields: unknown field "author"; did you mean byline?',
  "--quiet=1 URL": "--quiet takes no value",
  "URL --select": "--select needs a value: --select CSS",
  "--output jsn URL":
    '--output must be one of json, markdown, text, html, csv, chunks, md, txt, not "jsn"; did you mean json?',
  "--output= URL": "--output must be one of json, markdown, text, html, csv, chunks, md, txt",
  "--min-words -5 URL": '--min-words must be a whole number from 0 to 1000000000, not "-5"',
  "--min-words 1e3 URL": '--min-words must be a whole number from 0 to 1000000000, not "1e3"',
  "--timeout 0 URL": '--timeout must be a number from 0.001 to 3600, not "0"',
  "--retries 21 URL": '--retries must be a whole number from 0 to 20, not "21"',
  "--max-bytes 5Q URL": '--max-bytes must be a size such as 500k, 20M or 1G, not "5Q"',
  "--log-level warn URL":
    '--log-level must be one of debug, info, warning, error, critical, not "warn"; did you mean warning?',
  "--log-format xml URL": '--log-format must be one of json, text, not "xml"',
  "--select [[[ URL": '--select "[[[" is not a CSS selector',
  "--exclude a{ URL": '--exclude "a{" is not a CSS selector',
  "--select '' URL": "--select must not be empty",
  "--header 'no colon' URL": '--header must have the form "Name: value"',
  "--header 'Host: h' URL": "header host: it is set by the program itself",
  "--header 'Proxy-Authorization: x' URL": "header proxy-authorization: it is set by the program itself",
  "--user-agent '' URL": "--user-agent must be 1 to 1024 Latin characters without line breaks",
  "--egress a;b URL":
    '--egress: egress policy: "a;b" is neither a host, a .suffix, an address nor a CIDR network',
  "--proxy socks5://h:1 URL":
    "proxy: SOCKS5 proxies are not supported; HTTP and HTTPS proxies are taken (http://[user:password@]host[:port])",
  "--env-file missing URL": "--env-file missing cannot be read: there is no such file",
  "--frontmatter URL": "--frontmatter goes with --output markdown",
  "--file ''": "--file must not be empty",
  "--url URL URL": "--url gives one --file or standard input an address; it goes with nothing else",
  "--url ftp://h.example/": '--url must be an http or https URL, not "ftp://h.example/"',
  "example.org/post":
    '"example.org/post" is not an http or https URL; did you mean https://example.org/post ?',
  "page.html": '"page.html" is not an http or https URL; --file reads a local file',
  "example.org/page.html":
    '"example.org/page.html" is not an http or https URL; did you mean https://example.org/page.html ?',
  "./page": '"./page" is not an http or https URL; --file reads a local file',
  "file:///etc/hosts": '"file:///etc/hosts" is not an http or https URL; --file reads a local file',
  "javascript:alert(1)": '"javascript:alert(1)" is not an http or https URL',
  "https://": '"https://" is not an http or https URL',
  "''": '"" is not an http or https URL',
  "help crwal": 'unknown command "crwal"; did you mean crawl?',
  "help banana": 'unknown command "banana"',
  "help crawl serve": "help takes one command",
  "-h crwal": 'unknown command "crwal"; did you mean crawl?',
  "version help me": "version takes no arguments",
  "man crawl": "man takes no arguments",
  licences: 'unknown command "licences"; did you mean licenses?',
  "extrac URL": 'unknown command "extrac"; did you mean extract?',
  "crwal --seed URL": 'unknown command "crwal"; did you mean crawl?',
  "Crawl URL": 'unknown command "Crawl"; did you mean crawl?',
  "--seed URL": "unknown option --seed; it belongs to the command crawl",
  "crawl --output out URL": "unknown option --output; did you mean --output-dir DIR?",
  "crawl --output-file out URL": "unknown option --output-file; did you mean --output-dir DIR?",
  "crawl URL -o": "--output-dir needs a value: --output-dir DIR",
  "crawl --file a": "unknown option --file; it belongs to the command extract",
  "licenses x": "licenses takes no arguments",
  "licenses --select p": "unknown option --select; it belongs to the command extract",
};

describe("wrong usage exits with 2 and one line:", () => {
  test.each(Object.entries(WRONG))("%s", async (line, message) => {
    const words = wordsOf(line).map((word) => (word === "URL" ? URL : word));
    expect(await runCommand(words)).toEqual({ exitCode: 2, stdout: "", stderr: `error: ${message}\n` });
  });
});

test.each(["page", "notes.txt", "example.org", "example.org/page.html"])(
  "a file that is there is meant rather than an address: %s",
  async (name) => {
    using place = temporaryDirectory();
    await Bun.write(join(place.path, name), "<p>word</p>");
    const { stderr } = await runCommand([name], { cwd: place.path });
    expect(stderr).toBe(`error: "${name}" is not an http or https URL; --file reads a local file\n`);
  },
);

test("a local file is no start of a crawl", async () => {
  using place = temporaryDirectory();
  await Bun.write(join(place.path, "urls.txt"), URL);
  for (const name of ["urls.txt", "./missing"])
    expect((await runCommand(["crawl", name], { cwd: place.path })).stderr).toBe(
      `error: "${name}" is not an http or https URL; --sitemap reads a local list of URLs\n`,
    );
});

test("a message keeps to its line, whatever was typed", async () => {
  const run = await runCommand(["a\nb\u001b[31m\u009bc"]);
  expect(run.exitCode).toBe(2);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
  expect(run.stderr).toMatch(/^error: [^\u0000-\u001f\u007f-\u009f]*\n$/);
});

test("without arguments, and with nothing on stdin, says that nothing came", async () => {
  expect(await runCommand([])).toEqual({
    exitCode: 1,
    stdout: "",
    stderr: "error: standard input is empty\n",
  });
  expect((await runCommand(["--url", URL])).stderr).toBe(
    "error: standard input is empty; --url only says where it is from: leave --url out to fetch it\n",
  );
});

test.each([
  ["help", "--help"],
  ["-h", "--help"],
  ["help crawl", "crawl --help"],
  ["crawl help", "crawl --help"],
  ["-h crawl", "crawl --help"],
  ["--help crawl", "crawl --help"],
  ["serve help", "serve --help"],
  ["index help", "index --help"],
  ["extract help", "help extract"],
  ["help help", "help --help"],
  ["help version", "version -h"],
  ["version", "--version"],
  ["version", "-V crawl"],
])("%s is %s", async (line, other) => {
  const run = await runCommand(wordsOf(line));
  expect([run.exitCode, run.stderr]).toEqual([0, ""]);
  expect(run.stdout).toMatch(/^(?:Usage: )?article-extractor|^Usage: /);
  expect(run).toEqual(await runCommand(wordsOf(other)));
});

test.each([
  [["index", "--", "help"], /deployment\.json/],
  [["index", "--config", "none.json", "help"], /none\.json/],
  [["search", "--dir", "docs", "help"], /docs/],
])("%j takes help for an argument", async (args, message) => {
  const run = await runCommand(args);
  expect([run.exitCode === 0, run.stdout]).toEqual([false, ""]);
  expect(run.stderr).toMatch(message);
});
