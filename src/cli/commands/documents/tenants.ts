import type { OpenTenants } from "../../../app/index.ts";
import { Failure } from "../../../base/failure.ts";
import { LOOSE_NOTE, rangeOfFragment, type StoredDocument } from "../../../search/index.ts";
import type { TenantStatus } from "../../../tenants/index.ts";
import type { Io } from "../../io.ts";
import type { CommandParts } from "../../program.ts";
import type { Shell } from "../../shell.ts";
import { describeLeftOut, openCommandTenants } from "../../tenants.ts";
import { countedDocuments } from "../../terminal/notices.ts";
import {
  countsToJson,
  formatCounts,
  formatHit,
  hitToJson,
  MAX_WIDTH,
  nothingFound,
  TIME_LIMIT_MS,
} from "./folder.ts";
import { readLockFile } from "./lock-file.ts";
import type { FetchCommand, TenantChoice, TenantIndex, TenantSearch } from "./options.ts";

/**
 * Runs `search TENANT`, `search --all` and the search of libraries; returns the exit code: 0 with and without hits, 1 when a tenant
 * could not be searched. Hits of several tenants are in the order of their scores.
 * @throws Failure of the deployment file; `unknown_tenant` naming the nearest; of the only tenant's search
 */
export async function runTenantSearch(command: TenantSearch, shell: Shell): Promise<number> {
  const { io, notices, paint } = shell;
  // On a terminal the words are coloured that HTML would mark.
  const isMarked = io.stdout.isTerminal && !command.isJson;
  await using tenants = await openCommandTenants(shell);
  const { codenames, resolved } = await chosenTenants(command, tenants.registry, io);
  if (!command.isJson) for (const choice of resolved) notices.tell(`searching ${choice}`);
  const started = performance.now();
  const options = {
    size: command.size,
    offset: command.offset,
    filter: command.filter,
    isCounted: command.isCounted,
    wordMatch: command.isWordMatch,
    explain: command.isExplained,
    timeoutMs: TIME_LIMIT_MS,
    snippetStyle: isMarked ? ("html" as const) : ("plain" as const),
  };
  const answer = await tenants.registry.searchTogether(codenames, command.query, options);
  const { hits, counts, documentCount, failures } = answer;
  for (const { failure } of failures) notices.warn(failure.message);
  if (hits[0]?.isLoose) notices.tell(LOOSE_NOTE);
  if (command.isJson) {
    const results = hits.map((hit) => ({ tenant: hit.tenant, ...hitToJson(hit, command.isExplained) }));
    const stats = { total_docs: documentCount, query_time_ms: Math.round(performance.now() - started) };
    const errors = failures.map(({ failure }) => failure.toRecord());
    await writeJson(io, {
      query: command.query,
      ...(resolved.length > 0 && { resolved }),
      results,
      ...(counts && countsToJson(counts)),
      stats,
      errors,
    });
  } else if (hits.length === 0) io.stderr.write(nothingFound(command, documentCount));
  else {
    const format = { width: Math.min(MAX_WIDTH, io.stdout.columns), paint: paint(), isMarked };
    const place = (codename: string) => (codenames.length > 1 ? { place: codename } : {});
    const shown = hits.map((hit, index) =>
      formatHit(hit, command.offset + index + 1, { ...format, ...place(hit.tenant) }),
    );
    await io.stdout.write(shown.join("\n"));
  }
  if (counts && !command.isJson) await io.stdout.write(formatCounts(counts));
  return failures.length === 0 ? 0 : 1;
}

/** `resolved`: which versions were chosen, and why. @throws Failure `unknown_tenant`; as `readLockFile` */
async function chosenTenants(command: TenantSearch, registry: OpenTenants["registry"], io: Io) {
  const { library, lockFile } = command;
  if (lockFile === null && library === null)
    return { codenames: codenamesOf(command, registry), resolved: [] };
  if (lockFile === null) {
    const { codenames, resolved } = registry.chooseVersion(library!.name, library!.version);
    return { codenames, resolved: [resolved] };
  }
  const name = library?.name ?? null;
  const choices = registry.chooseLocked(await readLockFile(lockFile, io), name);
  if (choices.length === 0)
    throw new Failure(
      "unknown_tenant",
      `${lockFile} has no version of ${name ?? "a library that a tenant documents"}`,
    );
  return {
    codenames: choices.flatMap(({ codenames }) => codenames),
    resolved: choices.map(({ resolved }) => resolved),
  };
}

/** Runs `fetch`. @throws Failure `unknown_tenant`, `unknown_document`, `search_disabled`, `index_missing`, … */
export async function runTenantFetch(command: FetchCommand, parts: CommandParts): Promise<number> {
  const { codename, uri, isJson } = command;
  await using tenants = await openCommandTenants(parts);
  const document = await tenants.registry.fetch(codename, uri);
  const content = contentOf(document, uri);
  if (isJson) {
    const { url, title, markdown } = document;
    await writeJson(parts.io, { url, title, content, total_chars: markdown.length });
  } else await parts.io.stdout.write(content.endsWith("\n") ? content : `${content}\n`);
  return 0;
}

/** Returns the document, or the section that the address names with everything below it. */
function contentOf(document: StoredDocument, uri: string): string {
  const { markdown, sections } = document;
  const anchor = uri.split("#")[1] ?? "";
  if (anchor === "") return markdown;
  const range = rangeOfFragment(document, anchor);
  if (!range) {
    const known = sections.flatMap((one) => (one.anchor === "" ? [] : [`#${one.anchor}`]));
    const names = known.length === 0 ? "it has none" : `there are ${known.slice(0, 20).join(" ")}`;
    throw new Failure("unknown_document", `the document has no section #${anchor}; ${names}`);
  }
  return markdown.slice(range.start, range.end);
}

/**
 * Runs `index TENANT…`; returns the exit code: 1 when a tenant could not be indexed, or files were left out.
 * A server that may not build by itself picks the new indexes up.
 * @throws Failure of the deployment file, `unknown_tenant`
 */
export async function runTenantIndex(command: TenantIndex, parts: CommandParts): Promise<number> {
  const { io, notices } = parts;
  await using tenants = await openCommandTenants(parts);
  const built: TenantStatus[] = [];
  for (const codename of codenamesOf(command, tenants.registry)) {
    try {
      const status = await tenants.registry.build(codename);
      built.push(status);
      if (!command.isJson) await io.stdout.write(`${describe(status)}\n`);
    } catch (error) {
      if (!(error instanceof Failure) || error.code === "cancelled") throw error;
      built.push(await tenants.registry.status(codename));
      notices.error(named(codename, error.message));
    }
    for (const { query } of built.at(-1)?.testQueries.filter(({ hits }) => hits === 0) ?? [])
      notices.warn(`Tenant '${codename}': the test query ${JSON.stringify(query)} finds nothing`);
  }
  if (command.isJson) await writeJson(io, { tenants: built.map(toJson) });
  return built.every(({ lastError, skippedFiles }) => lastError === null && skippedFiles === 0) ? 0 : 1;
}

/** Many messages already name their tenant. */
const named = (codename: string, message: string): string =>
  message.includes(`Tenant '${codename}'`) ? message : `Tenant '${codename}': ${message}`;

function describe({ codename, documentCount, leftOut }: TenantStatus): string {
  const rest = describeLeftOut(leftOut, ` (sync ${codename} --verbose lists them)`);
  return `indexed ${countedDocuments(documentCount ?? 0)} of ${codename}${rest}`;
}

const toJson = ({
  codename,
  documentCount,
  builtAt,
  skippedFiles,
  leftOut,
  testQueries,
  lastError,
}: TenantStatus) => ({
  tenant: codename,
  doc_count: documentCount,
  built_at: builtAt,
  skipped: skippedFiles,
  left_out: leftOut,
  test_queries: testQueries,
  error: lastError,
});

const writeJson = (io: Io, value: object): Promise<void> =>
  io.stdout.write(`${JSON.stringify(value, null, 2)}\n`);

/** @throws Failure `unknown_tenant` before anything is done */
function codenamesOf({ codenames }: TenantChoice, registry: OpenTenants["registry"]): readonly string[] {
  if (codenames === "all") return registry.list().map(({ codename }) => codename);
  return codenames.map((codename) => registry.describe(codename).codename);
}
