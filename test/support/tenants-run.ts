import { expect } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runBinary } from "./binary.ts";
import { DocsSite } from "./docs-site.ts";

// The built program's `tenants`, in a directory of its own for each test between `setUp` and `tearDown`.

export type Fields = Readonly<Record<string, unknown>>;
export type Found = {
  readonly added: boolean;
  readonly tenant: Fields;
  readonly documents: { readonly count: number; readonly first: readonly string[] };
  readonly llms_txt?: boolean;
  readonly markdown?: boolean;
};

/** The directory that commands run in, new for each test. */
export let root: string;
/** Where the program keeps temporary files, of which none may stay. */
export let temporary: string;
/** A website, new for each test. */
export let site: DocsSite;

export function setUp(): void {
  root = mkdtempSync(join(tmpdir(), "tenants-"));
  temporary = mkdtempSync(join(tmpdir(), "temporary-"));
  for (const path of [root, temporary]) chmodSync(path, 0o777);
  site = new DocsSite();
}

export async function tearDown(): Promise<void> {
  await site[Symbol.asyncDispose]();
  for (const path of [root, temporary]) rmSync(path, { recursive: true, force: true });
}

export const environment = () => ({
  DOCS_SEARCH_STATE_DIR: join(root, "state"),
  DOCS_SEARCH_GIT_PROTOCOLS: "https,http",
  ARTICLE_EXTRACTOR_RETRIES: "0",
  ARTICLE_EXTRACTOR_BROWSER_PATH: "none",
  TMPDIR: temporary,
  ARTICLE_EXTRACTOR_CRAWLER_RATE_LIMIT: "0",
});
export const run = (...words: string[]) =>
  runBinary(["tenants", ...words], { cwd: root, env: environment() });
export const file = (): string => join(root, "deployment.json");
export const read = (): string => readFileSync(file(), "utf8");
export const tenantsOf = (text = read()) => (JSON.parse(text) as { tenants: Fields[] }).tenants;
export const makeFolder = (name: string, ...pages: string[]): void => {
  mkdirSync(join(root, name), { recursive: true });
  for (const page of pages) writeFileSync(join(root, name, page), `# ${page}\n\nBarges.\n`);
};

/** Adds a source and gives what it says; nothing may go wrong. */
export async function add(...words: string[]): Promise<Found> {
  const { exitCode, stdout, stderr } = await run("add", ...words, "--yes", "--json");
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return JSON.parse(stdout) as Found;
}

/** Syncs all tenants and gives the numbers of their documents. */
export async function syncAll(): Promise<Record<string, number>> {
  const { exitCode, stderr } = await runBinary(["sync", "--all"], { cwd: root, env: environment() });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const { tenants } = JSON.parse((await run("list", "--json")).stdout) as {
    tenants: { tenant: string; doc_count: number }[];
  };
  return Object.fromEntries(tenants.map(({ tenant, doc_count }) => [tenant, doc_count]));
}
