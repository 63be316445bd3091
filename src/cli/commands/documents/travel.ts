import { existsSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import {
  type AboutDocuments,
  exportDocuments,
  importDocuments,
  indexFileOf,
  leftOutText,
  listDocuments,
  type PathRules,
  readDocumentsFile,
  sizeOf,
  tooLarge,
} from "../../../search/index.ts";
import type { TenantSettings } from "../../../tenants/index.ts";
import { openDeployment } from "../../deployment.ts";
import { wrongUsage } from "../../io.ts";
import { optionValue } from "../../option-values.ts";
import type { Shell } from "../../shell.ts";
import { countedDocuments, printable } from "../../terminal/notices.ts";
import { runIndex } from "./folder.ts";

/** Runs `index export` and `index import`; returns the exit code. */
export async function runTravel(shell: Shell): Promise<number> {
  const [action, file, ...rest] = shell.typed.positionals;
  if (file === undefined) throw wrongUsage(`index ${action} takes a file`);
  return action === "export" ? await pack(file, rest, shell) : await unpack(file, rest, shell);
}

type Exported = Pick<AboutDocuments, "name" | "description" | "source" | "version"> & {
  readonly folder: string;
  readonly rules: PathRules | null;
};

async function pack(file: string, tenants: readonly string[], shell: Shell): Promise<number> {
  const { typed, io } = shell;
  const given = (name: string): string | null => optionValue.text(typed, name);
  if (existsSync(file) && !statSync(file).isFile()) throw wrongUsage(`${file} is there, and is no file`);
  const { folder, rules, ...found } = await exportedOf(tenants, shell);
  const present = await Array.fromAsync(listDocuments(folder, { rules }));
  const paths = present.filter((path) => {
    const refusal = tooLarge(path, sizeOf(join(folder, path)));
    if (refusal !== null) shell.notices.warn(`${path} is left out: ${leftOutText(refusal)}`);
    return refusal === null;
  });
  if (paths.length === 0) throw wrongUsage(`${folder} holds no documents to export`);
  const about: AboutDocuments = {
    name: given("name") ?? found.name,
    description: found.description,
    source: given("source") ?? found.source,
    licence: given("licence"),
    version: given("library-version") ?? found.version,
    date: new Date().toISOString(),
    documents: paths.length,
  };
  await exportDocuments({ folder, paths, about }, file, io.signal);
  await io.stdout.write(
    typed.has("json")
      ? `${JSON.stringify({ file: resolve(file), ...about }, null, 2)}\n`
      : `${describeDocuments(file, about)}`,
  );
  return 0;
}

/** A folder that is named, or that of a tenant with what the deployment says of it. */
async function exportedOf([codename, ...more]: readonly string[], shell: Shell): Promise<Exported> {
  const dir = optionValue.path(shell.typed, "dir");
  if (more.length > 0 || (codename === undefined) === (dir === null))
    throw wrongUsage("index export takes a file, and one tenant or --dir DIR");
  if (dir !== null)
    return {
      folder: dir,
      rules: null,
      name: basename(resolve(dir)),
      description: null,
      source: null,
      version: null,
    };
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
  if (!(await agrees(file, folder, shell))) return 0;
  await importDocuments(file, folder);
  const profile =
    optionValue.choice(typed, "profile", ["default", "aggressive-stem", "code-friendly"]) ?? "default";
  const indexFile = optionValue.path(typed, "index-file") ?? indexFileOf(folder);
  return await runIndex({ kind: "folder", folder, indexFile, profile }, shell);
}

export { importDocuments as unpackDocuments };

/** Shows what a file holds, all of which is checked, and asks whether to unpack it. @throws Failure `invalid_usage` */
export async function agrees(file: string, folder: string, { typed, io }: Shell): Promise<boolean> {
  if (!existsSync(file)) throw wrongUsage(`there is no file ${file}`);
  const isSure = typed.has("yes");
  if (!isSure && !typed.has("dry-run") && !io.stdin.isTerminal)
    throw wrongUsage("there is no terminal to ask on: --yes unpacks the documents");
  const { about, paths } = await readDocumentsFile(file);
  io.stderr.write(describeDocuments(file, about, paths));
  if (typed.has("dry-run")) return false;
  if (isSure) return true;
  io.stderr.write(`unpack them into ${folder}? [Y/n] `);
  return /^(?:y|yes|)$/i.test((await io.stdin.readLine())?.trim() ?? "no");
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
