import {
  checkSessions,
  inspectDatabase,
  migrateDatabase,
  openDatabase,
  type Postgres,
} from "../../app/index.ts";
import { noMetrics } from "../../base/metrics.ts";
import { didYouMean } from "../../base/nearest.ts";
import { wrongUsage } from "../io.ts";
import { openProgram } from "../program.ts";
import type { Run, Shell } from "../shell.ts";

/**
 * Runs `database`; returns the exit code: `status` returns 1 when the schema is of another version.
 * @throws Failure `invalid_usage`; `invalid_settings` when the database cannot be used
 */
export const database: Run = async (shell) => {
  const [action = "", ...more] = shell.typed.positionals;
  const { actions = [] } = shell.typed.command;
  if (!actions.includes(action) || more.length > 0)
    throw wrongUsage(`database takes: migrate, or status${didYouMean(action, actions)}`);
  const program = await openProgram(shell);
  const log = program.openLog("critical");
  await using opened = await openDatabase({ settings: program.settings, log, metrics: noMetrics });
  await checkSessions(opened.patient(AT_ONCE));
  return await (action === "migrate" ? bringUpToDate : show)(opened, shell);
};

const AT_ONCE = { waitMs: 0, isStart: true };

async function bringUpToDate(opened: Postgres, shell: Shell): Promise<number> {
  const { typed, io } = shell;
  const { schema, place } = opened;
  const { before, version } = await migrateDatabase(opened);
  const record = { database: place, schema, version_before: before, version };
  if (typed.has("json")) await io.stdout.write(`${JSON.stringify(record)}\n`);
  else
    shell.notices.tell(
      before === version
        ? `the schema ${schema} of ${place} is up to date (version ${version})`
        : `the schema ${schema} of ${place} went from version ${before} to ${version}`,
    );
  return 0;
}

async function show(opened: Postgres, shell: Shell): Promise<number> {
  const { typed, io } = shell;
  const { schema, place } = opened;
  const found = await inspectDatabase(opened.patient(AT_ONCE));
  const { version, serverVersion, wantedVersion, missing, remedy } = found;
  const isWhole = missing.length === 0;
  const isCurrent = version === wantedVersion && isWhole;
  const record = {
    database: place,
    server_version: serverVersion,
    schema,
    version,
    wanted_version: wantedVersion,
    is_current: isCurrent,
    ...(!isWhole && { missing }),
  };
  await io.stdout.write(
    typed.has("json")
      ? `${JSON.stringify(record, null, 2)}\n`
      : `database  ${place}\nserver    PostgreSQL ${serverVersion}\nschema    ${schema}\nversion   ${version} of ${wantedVersion}\n${missing.map((thing) => `missing   ${thing}\n`).join("")}`,
  );
  if (!isCurrent)
    shell.notices.tell(
      version > wantedVersion ? "a newer program has set this schema up: use that one" : remedy,
    );
  return isCurrent ? 0 : 1;
}
