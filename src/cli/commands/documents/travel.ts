import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { DEFAULT_NETWORK } from "../../../app/index.ts";
import { Failure } from "../../../base/failure.ts";
import {
  type AboutDocuments,
  type DocumentsFile,
  type DocumentsSource,
  importDocuments,
  importedFrom,
  indexFileOf,
  leftOutText,
  listDocuments,
  type PathRules,
  packDocuments,
  readDocumentsFile,
  sizeOf,
  tooLarge,
} from "../../../search/index.ts";
import type { TenantSettings } from "../../../tenants/index.ts";
import { type PageUrl, splitCredentials } from "../../../urls/index.ts";
import { openDeployment } from "../../deployment.ts";
import { confirm, wrongUsage } from "../../io.ts";
import { optionValue } from "../../option-values.ts";
import { openCommandApp } from "../../program.ts";
import type { Shell } from "../../shell.ts";
import { openSink } from "../../sink.ts";
import { countedDocuments, printable } from "../../terminal/notices.ts";
import { runIndex } from "./folder.ts";

/** Runs `index export` and `index import`; returns the exit code. */
export async function runTravel(shell: Shell): Promise<number> {
  const [action, file, ...rest] = shell.typed.positionals;
  if (file === undefined) throw wrongUsage(`index ${action} takes a file`);
  return action === "export" ? await pack(file, rest, shell) : await unpack(file, rest, shell);
}

type Exported = Partial<AboutDocuments> & {
  readonly folder: string;
  readonly rules: PathRules | null;
};

const STDIO = "-";

async function pack(file: string, tenants: readonly string[], shell: Shell): Promise<number> {
  const { typed, io } = shell;
  if (file === STDIO && io.stdout.isTerminal)
    throw wrongUsage("index export - writes packed bytes, which are nothing for a terminal");
  const exported = await exportedOf(tenants, shell);
  const { folder, rules } = exported;
  const present = await Array.fromAsync(listDocuments(folder, { rules }));
  const paths = present.filter((path) => {
    const refusal = tooLarge(path, sizeOf(join(folder, path)));
    if (refusal !== null) shell.notices.warn(`${path} is left out: ${leftOutText(refusal)}`);
    return refusal === null;
  });
  if (paths.length === 0) throw wrongUsage(`${folder} holds no documents to export`);
  const about = await describe(paths.length, exported, shell);
  await using sink = await openSink(file === STDIO ? null : file, io);
  for await (const piece of packDocuments(folder, { paths, about }, io.signal)) await sink.write(piece);
  await sink.finish();
  if (file === STDIO) return 0;
  await io.stdout.write(
    typed.has("json")
      ? `${JSON.stringify({ file: resolve(file), ...about }, null, 2)}\n`
      : describeDocuments(file, about),
  );
  return 0;
}

/** What is typed, else what the deployment says, else what the file said that the documents came in, if they did. */
async function describe(documents: number, found: Exported, { typed }: Shell): Promise<AboutDocuments> {
  const earlier = await importedFrom(found.folder);
  const known = (
    field: "description" | "source" | "licence" | "version",
    option: string = field,
  ): string | null => optionValue.text(typed, option) ?? found[field] ?? earlier?.[field] ?? null;
  return {
    name: optionValue.text(typed, "name") ?? found.name ?? earlier?.name ?? basename(resolve(found.folder)),
    description: known("description"),
    source: known("source"),
    licence: known("licence"),
    version: known("version", "library-version"),
    date: new Date().toISOString(),
    documents,
  };
}

/** A folder that is named, or that of a tenant with what the deployment says of it. */
async function exportedOf([codename, ...more]: readonly string[], shell: Shell): Promise<Exported> {
  const dir = optionValue.path(shell.typed, "dir");
  if (more.length > 0 || (codename === undefined) === (dir === null))
    throw wrongUsage("index export takes a file, and one tenant or --dir DIR");
  if (dir !== null) return { folder: dir, rules: null };
  const { deployment } = await openDeployment(shell);
  const tenant = deployment.tenants.find((one) => one.codename === codename);
  if (!tenant) throw wrongUsage(`${deployment.path} has no tenant '${codename}'`);
  return {
    folder: tenant.rootDir,
    rules: "rules" in tenant ? tenant.rules : null,
    name: tenant.docsName,
    description: tenant.description,
    source: sourceOf(tenant),
    version: tenant.version,
  };
}

function sourceOf(tenant: TenantSettings): string | null {
  if (tenant.source === "git") return tenant.repositoryUrl;
  return tenant.source === "online" ? (tenant.entryUrls[0] ?? tenant.sitemapUrls[0] ?? null) : null;
}

async function unpack(file: string, rest: readonly string[], shell: Shell): Promise<number> {
  const { typed } = shell;
  const folder = optionValue.path(typed, "dir");
  if (rest.length > 0 || folder === null) throw wrongUsage("index import takes a file and --dir DIR");
  if ((await unpackDocuments(file, folder, shell)) === null) return 0;
  const profile =
    optionValue.choice(typed, "profile", ["default", "aggressive-stem", "code-friendly"]) ?? "default";
  const indexFile = optionValue.path(typed, "index-file") ?? indexFileOf(folder);
  return await runIndex({ kind: "folder", folder, indexFile, profile }, shell);
}

/**
 * Unpacks a file of documents into a folder, when whoever sees what it holds agrees.
 * @param written its path or its address on the web; `-` for the input
 * @returns what it says; null when it was not unpacked
 * @throws Failure of `importDocuments`, of fetching; `invalid_usage` where nobody can be asked
 */
export async function unpackDocuments(
  written: string,
  folder: string,
  shell: Shell,
): Promise<AboutDocuments | null> {
  const { typed, io } = shell;
  const isSure = typed.has("yes");
  if (!isSure && !typed.has("dry-run") && (written === STDIO || !io.stdin.isTerminal))
    throw wrongUsage("there is no terminal to ask on: --yes unpacks the documents");
  return await withSource(written, shell, async (source) => {
    const show = ({ about, paths }: DocumentsFile): void =>
      io.stderr.write(describeDocuments(source.name, about, paths));
    if (typed.has("dry-run")) {
      show(await readDocumentsFile(source));
      return null;
    }
    const agrees = async (found: DocumentsFile): Promise<boolean> => {
      show(found);
      return isSure || (await confirm(`unpack them into ${folder}? [Y/n] `, io));
    };
    return await importDocuments(source, { folder, agrees }, io.signal);
  });
}

/** Calls with where the bytes of a file of documents come from. */
async function withSource<T>(
  written: string,
  { typed, io, notices }: Shell,
  use: (source: DocumentsSource) => Promise<T>,
): Promise<T> {
  if (written === STDIO) return await use({ name: "the input", stream: io.stdin.stream });
  const address = /^https?:/i.test(written) ? splitCredentials(written) : null;
  if (address === null) {
    if (!existsSync(written)) throw wrongUsage(`there is no file ${printable(written)}`);
    return await use({ name: written, stream: () => Bun.file(written).stream() });
  }
  const { app } = await openCommandApp({ typed, io, notices });
  await using _ = app;
  await using session = app.openSession(DEFAULT_NETWORK);
  const { authorization } = address;
  const url = address.url as PageUrl; // as `splitCredentials` gives them
  const options = { purpose: "documents", signal: io.signal, authorization } as const;
  const { status, body } = await session.http.fetchStream(url, options);
  if (status === 200) return await use({ name: url, stream: () => body });
  await body.cancel();
  throw new Failure("http_status", `GET ${url} was answered with ${status}`, { targetStatus: status });
}

const SHOWN = 5;

/** What a file holds, in lines for people. */
function describeDocuments(file: string, about: AboutDocuments, paths: readonly string[] = []): string {
  const { name, documents, ...facts } = about;
  const lines = [
    `${file}: ${printable(name)}, ${countedDocuments(documents)}`,
    ...Object.entries(facts).map(
      ([field, value]) => `  ${field}: ${value === null ? "not stated" : printable(value)}`,
    ),
    ...paths.slice(0, SHOWN).map((path) => `    ${printable(path)}`),
    ...(paths.length > SHOWN ? ["    …"] : []),
  ];
  return `${lines.join("\n")}\n`;
}
