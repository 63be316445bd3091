import { resolve } from "node:path";
import { Failure } from "../../../base/failure.ts";
import { didYouMean } from "../../../base/nearest.ts";
import { addKey, readKeys, removeKey } from "../../../server/index.ts";
import { openDeployment } from "../../deployment.ts";
import { wrongUsage } from "../../io.ts";
import { optionValue } from "../../option-values.ts";
import { openProgram } from "../../program.ts";
import type { Run, Shell } from "../../shell.ts";

/** Runs `keys`; a running server takes a change over within two seconds. @throws Failure as `addKey`, `removeKey` */
export const keys: Run = async (shell) => {
  const [action = "", name, ...more] = shell.typed.positionals;
  const { actions = [] } = shell.typed.command;
  const isList = action === "list";
  if (!actions.includes(action) || more.length > 0 || isList !== (name === undefined))
    throw wrongUsage(`keys takes: add NAME, list, or revoke NAME${didYouMean(action, actions)}`);
  const given = optionValue.text(shell.typed, "tenants");
  if (given !== null && action !== "add") throw wrongUsage("--tenants goes with keys add");
  const service = optionValue.choice(shell.typed, "service", ["search", "extractor"]) ?? "search";
  if (service === "extractor" && given !== null)
    throw wrongUsage("--tenants goes with keys of serve search; serve extractor has no tenants");
  const { keysFile, known } = await (service === "search" ? fileOfSearch : fileOfExtractor)(shell);
  if (name === undefined) await list(keysFile, shell);
  else if (action !== "add") await revoke(keysFile, name, shell);
  else await add(keysFile, { name, tenants: given === null ? null : tenantsOf(given, known) }, shell);
  return 0;
};

/** The file of keys, and the tenants that a key may be limited to. */
type KeyPlace = { readonly keysFile: string; readonly known: readonly string[] };

async function fileOfSearch(shell: Shell): Promise<KeyPlace> {
  const { deployment } = await openDeployment(shell);
  const { keysFile } = deployment.infrastructure;
  const known = deployment.tenants.map(({ codename }) => codename);
  if (keysFile !== null) return { keysFile, known };
  throw new Failure(
    "invalid_settings",
    'infrastructure.keys_file of the deployment file must name the file of the keys, such as "keys.json"',
  );
}

async function fileOfExtractor(shell: Shell): Promise<KeyPlace> {
  const { settings } = await openProgram(shell);
  if (settings.keysFile !== null) return { keysFile: resolve(settings.keysFile), known: [] };
  throw new Failure("invalid_settings", "ARTICLE_EXTRACTOR_KEYS_FILE must name the file of the keys");
}

async function add(
  path: string,
  { name, tenants }: { readonly name: string; readonly tenants: readonly string[] | null },
  { typed, io, notices }: Shell,
): Promise<void> {
  const key = await addKey(path, { name, tenants, now: new Date() });
  notices.tell(`the key '${name}' is shown this once; ${path} has only its hash`);
  await io.stdout.write(typed.has("json") ? `${JSON.stringify({ name, tenants, key })}\n` : `${key}\n`);
}

async function revoke(path: string, name: string, { notices }: Shell): Promise<void> {
  await removeKey(path, name);
  notices.tell(`the key '${name}' is revoked`);
}

async function list(path: string, { typed, io }: Shell): Promise<void> {
  const stored = readKeys(path).map(({ name, tenants, createdAt }) => ({
    name,
    tenants,
    created_at: createdAt,
  }));
  const lines = stored.map(
    ({ name, tenants, created_at }) => `${name}\t${tenants?.join(",") ?? "all tenants"}\t${created_at}\n`,
  );
  await io.stdout.write(typed.has("json") ? `${JSON.stringify({ keys: stored })}\n` : lines.join(""));
}

/** @throws Failure `invalid_usage` for a tenant that the deployment does not have */
function tenantsOf(written: string, known: readonly string[]): readonly string[] {
  const codenames = [...new Set(written.split(",").map((part) => part.trim()))];
  for (const codename of codenames)
    if (!known.includes(codename))
      throw wrongUsage(
        `--tenants: there is no tenant '${codename.slice(0, 100)}'${didYouMean(codename, known)}`,
      );
  return codenames;
}
