/**
 * Builds the program and shows its main jobs on the small site in test/site, served on loopback. `make demo`
 * runs it; its results stay in build/demo.
 */
import { mkdir, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { serveSite } from "../test/support/site.ts";

const ROOT = join(import.meta.dir, "..");
const PROGRAM = join(ROOT, "dist/article-extractor");
const OUT = join(ROOT, "build/demo");

// The site has no scripts, and the demonstration is not about browsers.
process.env.ARTICLE_EXTRACTOR_PREFER_BROWSER ??= "false";

async function run(command: readonly string[]): Promise<string> {
  const child = Bun.spawn([...command], { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  const output = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed`);
  return output;
}

function show(title: string, words: readonly string[]): void {
  const typed = words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`));
  console.log(`\n${title}\n  $ article-extractor ${typed.join(" ")}\n`);
}

const indent = (text: string): string => text.replace(/^(?=.)/gm, "  ");

async function extractPage(origin: string): Promise<string> {
  const file = join(OUT, "borrowed-tools.md");
  const words = [`${origin}/news/borrowed-tools.html`, "--output", "markdown", "--frontmatter"];
  show("One page as Markdown:", words);
  await run([PROGRAM, ...words, "-o", file]);
  const markdown = await Bun.file(file).text();
  console.log(indent(`${markdown.split("\n").slice(0, 14).join("\n")}\n...`));
  return file;
}

async function extractList(origin: string): Promise<string> {
  const list = join(OUT, "urls.txt");
  const file = join(OUT, "pages.jsonl");
  const pages = [
    "/docs/configuration.html",
    "/forum/gate-opens-twice.html",
    "/ja/suisha.html",
    "/assets/logo.svg",
  ];
  await Bun.write(list, pages.map((page) => `${origin}${page}\n`).join(""));
  const words = ["--input-file", relative(ROOT, list), "-o", relative(ROOT, file)];
  show("Many pages, one JSON line each; a page that fails is a line too:", words);
  await Bun.spawn([PROGRAM, ...words], { cwd: ROOT, stdio: ["ignore", "inherit", "ignore"] }).exited;
  for (const line of (await Bun.file(file).text()).trim().split("\n")) {
    const { url, title, word_count, error } = JSON.parse(line);
    const path = new URL(url).pathname.padEnd(30);
    console.log(
      error ? `  ${path} ${error.code}: ${error.message}` : `  ${path} ${word_count} words  ${title}`,
    );
  }
  return file;
}

async function crawlSite(origin: string): Promise<string> {
  const directory = join(OUT, "site");
  const words = ["crawl", `${origin}/`, "--rate-limit", "0.05", "--output-dir", relative(ROOT, directory)];
  show("A whole site, one Markdown file a page; here at 20 pages a second instead of one:", words);
  const summary = Bun.spawn([PROGRAM, ...words], { cwd: ROOT, stdio: ["ignore", "inherit", "pipe"] });
  console.log(indent((await new Response(summary.stderr).text()).trimEnd()));
  const { results } = await Bun.file(join(directory, "manifest.json")).json();
  for (const { url, status, file_path, reason, error } of results)
    console.log(
      `  ${status.padEnd(7)}  ${file_path ?? `${new URL(url).pathname} (${reason ?? error.code})`}`,
    );
  return directory;
}

/** Indexes the crawled pages and searches them. */
async function searchPages(directory: string): Promise<string> {
  const folder = relative(ROOT, directory);
  const words = ["index", "--dir", folder];
  show("The pages of a folder, searched; first their index:", words);
  console.log(indent((await run([PROGRAM, ...words])).trimEnd()));
  const query = ["search", "--dir", folder, "--size", "2", "what happens to a broken tool?"];
  show("A question, answered by the section that fits best:", query);
  console.log(indent((await run([PROGRAM, ...query])).trimEnd()));
  return join(directory, ".article-extractor/search.index");
}

type Answers = {
  readonly tenants: readonly { readonly codename: string; readonly description: string }[];
  readonly results: readonly {
    readonly url: string;
    readonly anchor: string | null;
    readonly snippet: string;
  }[];
};

/** Serves the crawled pages as a tenant, and lets a client of the Model Context Protocol find and search it. */
async function searchOverMcp(directory: string): Promise<string> {
  const deployment = join(OUT, "deployment.json");
  const tenant = {
    source_type: "filesystem",
    codename: "weirside",
    docs_name: "Weirside",
    description: "A tool library and a tide mill, their news and manuals",
    docs_root_dir: directory,
  };
  await Bun.write(
    deployment,
    JSON.stringify(
      { infrastructure: { allow_index_builds: true, log_level: "warning" }, tenants: [tenant] },
      null,
      2,
    ),
  );
  const words = ["serve", "search", "--stdio", "--config", relative(ROOT, deployment)];
  show("The same pages for language models, over MCP:", words);
  const client = new Client({ name: "demo", version: "1" });
  const env = { ...process.env, DOCS_SEARCH_STATE_DIR: join(OUT, "state") };
  await client.connect(
    new StdioClientTransport({
      command: PROGRAM,
      args: words,
      cwd: ROOT,
      env: env as Record<string, string>,
    }) as never,
  );
  const call = async (name: string, args: Record<string, unknown>): Promise<Answers> => {
    const { structuredContent } = await client.callTool({ name, arguments: args });
    const answer = structuredContent as Answers & { readonly error: string | null };
    if (answer.error?.includes("is being built")) return await Bun.sleep(100).then(() => call(name, args));
    if (answer.error !== null) throw new Error(answer.error);
    console.log(`  client: ${name} ${JSON.stringify(args)}`);
    return answer;
  };
  const { tenants } = await call("find_tenant", { query: "tide mil" });
  for (const { codename, description } of tenants) console.log(`  server: ${codename}: ${description}`);
  const query = { tenant_codename: tenants[0]?.codename, query: "what happens to a broken tool?", size: 2 };
  const { results } = await call("root_search", query);
  for (const { url, anchor, snippet } of results)
    console.log(
      `  server: ${url}${anchor === null ? "" : `#${anchor}`}\n          ${snippet.replace(/\s+/g, " ").slice(0, 110)}`,
    );
  await client.close();
  return deployment;
}

await run([process.execPath, "scripts/build.ts"]);
await rm(OUT, { recursive: true, force: true });
await mkdir(OUT, { recursive: true });
await using site = await serveSite();
const crawled = await crawlSite(site.origin);
const made = [
  await extractPage(site.origin),
  await extractList(site.origin),
  crawled,
  await searchPages(crawled),
  await searchOverMcp(crawled),
];
console.log(
  `\nMade:\n  ${relative(ROOT, PROGRAM)}  the program (${(await run([PROGRAM, "--version"])).trim()})`,
);
for (const file of made) console.log(`  ${relative(ROOT, file)}`);
