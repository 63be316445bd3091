import { basename, dirname, join, resolve } from "node:path";
import { didYouMean } from "../../../base/nearest.ts";
import { withFields, withoutTenant, withTenant } from "../../../settings/index.ts";
import type { TenantSettings, TenantStatus } from "../../../tenants/index.ts";
import { DEFAULT_CONFIG, openDeployment } from "../../deployment.ts";
import { confirm, wrongUsage } from "../../io.ts";
import { optionValue } from "../../option-values.ts";
import { openProgram } from "../../program.ts";
import type { Run, Shell } from "../../shell.ts";
import { openCommandTenants } from "../../tenants.ts";
import { countedDocuments } from "../../terminal/notices.ts";
import { changeDeployment, readForChange } from "./change-file.ts";
import { FIELD_OPTIONS, typedFields } from "./fields.ts";
import { type FoundTenant, lookAt, readSource } from "./source.ts";

/** Runs `tenants`; returns the exit code. A running server applies changes of its file by itself. */
export const tenants: Run = async (shell) => {
  const { typed } = shell;
  const [action = "", ...rest] = typed.positionals;
  const { actions = [] } = typed.command;
  const { takes = -1, run = null } = ACTIONS.get(action) ?? {};
  if (!run || rest.length < takes || (rest.length > takes && action !== "why"))
    throw wrongUsage(
      `tenants takes: add URL|REPOSITORY|FOLDER, list, why URL, set CODENAME, rename CODENAME NEW, or remove CODENAME${didYouMean(action, actions)}`,
    );
  for (const name of ["codename", "dry-run", "yes", ...FIELD_OPTIONS]) {
    const goesWith = ["add", ...(FIELD_OPTIONS.includes(name) ? ["set"] : [])];
    if (typed.has(name) && !goesWith.includes(action) && !(name === "yes" && action === "remove"))
      throw wrongUsage(`--${name} goes with tenants ${goesWith.join(" and ")}`);
  }
  return await run(shell, ...rest);
};

type Action = { readonly takes: number; readonly run: (shell: Shell, ...words: string[]) => Promise<number> };

/** The actions on tenants, with the number of words that each takes. */
const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ["add", { takes: 1, run: (shell, source = "") => add(source, shell) }],
  ["list", { takes: 0, run: (shell) => list(shell) }],
  ["why", { takes: 1, run: (shell, url = "", ...words) => why(url, words.join(" "), shell) }],
  ["set", { takes: 1, run: (shell, codename = "") => set(codename, shell) }],
  ["rename", { takes: 2, run: (shell, codename = "", next = "") => rename(codename, next, shell) }],
  ["remove", { takes: 1, run: (shell, codename = "") => remove(codename, shell) }],
]);

/** The file of a deployment that is made anew: for this machine alone, and its server builds the indexes. */
const NEW_FILE = `{
  "infrastructure": {
    "mcp_host": "127.0.0.1",
    "allow_index_builds": true
  },
  "tenants": []
}
`;

async function add(written: string, shell: Shell): Promise<number> {
  if (isDocumentsFile(written)) return await addUnpacked(written, shell);
  const { typed, io } = shell;
  const source = readSource(written);
  if (!typed.has("dry-run") && !typed.has("yes") && !io.stdin.isTerminal)
    throw wrongUsage("there is no terminal to ask on: --yes adds the tenant, --dry-run only shows it");
  const codename = optionValue.text(typed, "codename");
  return await addFound(source, shell, { codename, fields: {}, isSure: typed.has("yes") });
}

/** How a tenant is added: its codename if that is known, what overrides what is found, and whether nobody is asked. */
type Addition = {
  readonly codename: string | null;
  readonly fields: Readonly<Record<string, string>>;
  readonly isSure: boolean;
};

async function addFound(
  source: ReturnType<typeof readSource>,
  shell: Shell,
  { codename, fields: known, isSure }: Addition,
): Promise<number> {
  const { typed, io } = shell;
  const program = await openProgram(shell);
  const log = program.openLog("critical");
  const path = optionValue.text(typed, "config") ?? program.settings.deploymentConfig ?? DEFAULT_CONFIG;
  const text = (await readForChange(path)) ?? NEW_FILE;
  const looked = await lookAt(source, { program, log, signal: io.signal, path, text, codename, typed });
  const found = { ...looked, fields: { ...looked.fields, ...known } };
  const { fields } = found;
  const isJson = typed.has("json");
  if (!isJson) await io.stdout.write(show(found));
  for (const warning of found.warnings) shell.notices.warn(warning);
  const isWanted =
    !typed.has("dry-run") && (isSure || (await confirm(`add '${fields.codename}' to ${path}? [Y/n] `, io)));
  const options = { name: path, directory: dirname(resolve(path)) };
  if (isWanted)
    await changeDeployment(path, { program, log, signal: io.signal }, (present) =>
      withTenant(present ?? NEW_FILE, fields, options),
    );
  if (isJson)
    await io.stdout.write(`${JSON.stringify(toJson(found, { path, isAdded: isWanted }), null, 2)}\n`);
  else if (isWanted)
    shell.notices.tell(
      `added '${fields.codename}' to ${path}; a running server picks it up; without one: article-extractor sync ${fields.codename}`,
    );
  return 0;
}

/** Whether a file of documents is meant, here or on the web. */
const isDocumentsFile = (written: string): boolean =>
  /\.jsonl?\.gz$/i.test(URL.parse(written)?.pathname ?? written);

const MAX_NAME = 100;

/** Unpacks a file of documents beside the deployment file, and adds their folder. */
async function addUnpacked(file: string, shell: Shell): Promise<number> {
  const { unpackDocuments } = await import("../documents/travel.ts");
  const { settings } = await openProgram(shell);
  const config = optionValue.text(shell.typed, "config") ?? settings.deploymentConfig ?? DEFAULT_CONFIG;
  const stem = basename(URL.parse(file)?.pathname ?? file).replace(/\.jsonl?\.gz$/i, "");
  const name = optionValue.text(shell.typed, "codename") ?? stem.toLowerCase().replace(/[^a-z0-9_]+/g, "-");
  const folder = join(dirname(resolve(config)), "data", name);
  const about = await unpackDocuments(file, folder, shell);
  if (about === null) return 0;
  const { name: docsName, description } = about;
  const fields = {
    ...(!shell.typed.has("name") && { docs_name: printable(docsName).slice(0, MAX_NAME) }),
    ...(description !== null && { description: printable(description) }),
  };
  return await addFound(readSource(folder), shell, { codename: name, fields, isSure: true });
}

/** Number of documents to show; enough to see whether the right documents were found. */
const SHOWN = 10;

const KINDS = { online: "website", git: "repository", filesystem: "folder" } as const;

function show({ fields, documents, undecided, findings }: FoundTenant): string {
  const { source_type: kind, codename, docs_name: _, ...rest } = fields;
  const count = countedDocuments(documents.length);
  const files = `${undecided} ${undecided === 1 ? "file" : "files"}`;
  const lines = [
    `${codename}: ${KINDS[kind as keyof typeof KINDS]}`,
    ...Object.entries(rest).map(
      ([name, value]) => `  ${name}: ${printable(Array.isArray(value) ? value.join(", ") : String(value))}`,
    ),
    ...Object.entries(findings).map(([name, has]) => `  ${FINDINGS[name] ?? name}: ${has ? "yes" : "no"}`),
    `  ${rest.enable_crawler === true ? `${count} to begin with, and those that they link to` : count}`,
    ...documents.slice(0, SHOWN).map((document) => `    ${printable(document)}`),
    ...(documents.length > SHOWN ? ["    …"] : []),
    ...(undecided > 0 ? [`  and ${files} whose text decides (JSON, YAML, man pages)`] : []),
  ];
  return `${lines.join("\n")}\n`;
}

const FINDINGS: Readonly<Record<string, string>> = {
  hasLlmsTxt: "llms.txt",
  hasMarkdown: "pages as Markdown",
};

// Names of files and addresses are foreign text.
const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, "\ufffd").slice(0, 300);

const toJson = (
  { fields, documents, undecided, findings, warnings }: FoundTenant,
  { path, isAdded }: { readonly path: string; readonly isAdded: boolean },
) => ({
  added: isAdded,
  file: resolve(path),
  tenant: fields,
  documents: { count: documents.length, first: documents.slice(0, SHOWN) },
  ...(undecided > 0 && { undecided }),
  ...(warnings.length > 0 && { warnings }),
  ...("hasLlmsTxt" in findings && { llms_txt: findings.hasLlmsTxt, markdown: findings.hasMarkdown }),
});

const remove = (codename: string, shell: Shell): Promise<number> =>
  change(shell, ({ deployment, place }) => ({
    edit: (text) => withoutTenant(text, codename, place),
    record: { removed: codename },
    told: `removed '${codename}' from ${place.name}; its index stays, and its documents in ${deployment.tenants.find((one) => one.codename === codename)?.rootDir ?? "their folder"}`,
  }));

const set = (codename: string, shell: Shell): Promise<number> =>
  change(shell, ({ deployment, place }) => {
    if (!FIELD_OPTIONS.some((name) => shell.typed.has(name)))
      throw wrongUsage(`tenants set takes what to set: --${FIELD_OPTIONS.join(", --")}`);
    const tenant = deployment.tenants.find((one) => one.codename === codename);
    const entry = tenant?.source === "online" ? sourceOf(tenant) : null;
    const fields = tenant ? typedFields(shell.typed, { source: tenant.source, entry }) : {};
    const names = Object.keys(fields).join(", ");
    return {
      edit: (text) => withFields(text, codename, fields, place),
      record: { changed: codename, fields: Object.keys(fields) },
      told: `set ${names} of '${codename}' in ${place.name}; a running server picks it up`,
    };
  });

async function rename(codename: string, next: string, shell: Shell): Promise<number> {
  const { typed, io, notices } = shell;
  if (next === codename) throw wrongUsage(`'${codename}' has this codename already`);
  const { program, deployment } = await openDeployment(shell);
  const { path } = deployment;
  const options = { program, log: program.openLog("critical"), signal: io.signal };
  const place = { name: path, directory: dirname(path) };
  const change = () =>
    changeDeployment(path, options, (text) => withFields(text ?? "", codename, { codename: next }, place));
  await using open = await openCommandTenants(shell);
  const why = await open.registry.rename(codename, next, change);
  const index = why === null ? "its index came along" : `the next sync builds its index (${why})`;
  if (typed.has("json"))
    await io.stdout.write(`${JSON.stringify({ renamed: codename, codename: next, file: path })}\n`);
  else
    notices.tell(
      `renamed '${codename}' to '${next}' in ${path}; ${index}, and keys that are limited to '${codename}' have to be made anew`,
    );
  return 0;
}

type Change = {
  readonly edit: (text: string) => string;
  readonly record: object;
  readonly told: string;
};

/** Changes the deployment file, and reports the change. */
async function change(
  shell: Shell,
  plan: (place: {
    readonly deployment: Awaited<ReturnType<typeof openDeployment>>["deployment"];
    readonly place: { readonly name: string; readonly directory: string };
  }) => Change,
): Promise<number> {
  const { typed, io } = shell;
  const { program, deployment } = await openDeployment(shell);
  const { path } = deployment;
  const { edit, record, told } = plan({ deployment, place: { name: path, directory: dirname(path) } });
  await changeDeployment(path, { program, log: program.openLog("critical"), signal: io.signal }, (text) =>
    edit(text ?? ""),
  );
  if (typed.has("json")) await io.stdout.write(`${JSON.stringify({ ...record, file: path })}\n`);
  else shell.notices.tell(told);
  return 0;
}

async function list(shell: Shell): Promise<number> {
  const { typed, io } = shell;
  const { deployment } = await openDeployment(shell);
  await using open = await openCommandTenants(shell);
  const statuses = await open.registry.statuses();
  const rows = deployment.tenants.map((tenant, place) => ({ tenant, status: statuses[place]! })); // one for each
  if (typed.has("json")) {
    await io.stdout.write(`${JSON.stringify({ tenants: rows.map(toRecord) }, null, 2)}\n`);
    return 0;
  }
  if (rows.length === 0)
    shell.notices.tell(`${deployment.path} has no tenants; tenants add URL|REPOSITORY|FOLDER adds one`);
  const cells = rows.map(({ tenant, status }) => [
    tenant.codename,
    KINDS[tenant.source],
    sourceOf(tenant),
    String(status.documentCount ?? "-"),
    stateOf(status),
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(0, ...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  await io.stdout.write(lines.map((line) => `${line.trimEnd()}\n`).join(""));
  return 0;
}

/** Exit code 0 when some tenant has the page. */
async function why(url: string, query: string, shell: Shell): Promise<number> {
  const { typed, io } = shell;
  await using open = await openCommandTenants(shell);
  const answers = await open.registry.why(url, query === "" ? null : query);
  const lines = answers.map(({ tenant, sentence }) => `${tenant}: ${printable(sentence)}\n`);
  if (typed.has("json")) await io.stdout.write(`${JSON.stringify({ url, answers }, null, 2)}\n`);
  else if (lines.length > 0) await io.stdout.write(lines.join(""));
  else
    shell.notices.tell(`no tenant documents ${printable(url)}; tenants add URL|REPOSITORY|FOLDER adds one`);
  return answers.some(({ state }) => state === "indexed") ? 0 : 1;
}

const sourceOf = (tenant: TenantSettings): string => {
  if (tenant.source === "filesystem") return tenant.rootDir;
  if (tenant.source === "git") return tenant.repositoryUrl;
  return tenant.entryUrls[0] ?? tenant.sitemapUrls[0] ?? "";
};

/** Describes the work under way, or otherwise the problem. */
const stateOf = ({ state, problem }: TenantStatus): string =>
  state === "idle" && problem !== null ? problem.code : state;

type Row = { readonly tenant: TenantSettings; readonly status: TenantStatus };

const toRecord = ({ tenant, status }: Row) => ({
  tenant: tenant.codename,
  source_type: tenant.source,
  source: sourceOf(tenant),
  doc_count: status.documentCount,
  state: status.state,
  error: status.problem,
});
