import { openDatabase } from "../../app/index.ts";
import { noMetrics } from "../../base/metrics.ts";
import { didYouMean } from "../../base/nearest.ts";
import { inspect, migrate, type Postgres, WANTED_VERSION } from "../../base/postgres/index.ts";
import { DATABASE_ACTIONS } from "../commands.ts";
import { wrongUsage } from "../io.ts";
import { openProgram } from "../program.ts";
import { partsOf, type Run, type Shell } from "../shell.ts";

/**
 * Runs `database`; returns the exit code: `status` returns 1 when the schema is of another version.
 * @throws Failure `invalid_usage`; `invalid_settings` when the database cannot be used
 */
export const database: Run = async (shell) => {
  const [action = "", ...more] = shell.typed.positionals;
  if (!DATABASE_ACTIONS.some((one) => one === action) || more.length > 0)
    throw wrongUsage(`database takes: migrate, or status${didYouMean(action, DATABASE_ACTIONS)}`);
  const program = await openProgram(partsOf(shell));
  const log = program.openLog("critical");
  await using opened = await openDatabase({ settings: program.settings, log, metrics: noMetrics });
  return await (action === "migrate" ? bringUpToDate : show)(opened, shell);
};

async function bringUpToDate(opened: Postgres, shell: Shell): Promise<number> {
  const { typed, io } = shell;
  const { schema, place } = opened;
  const before = await migrate(opened);
  const record = { database: place, schema, version_before: before, version: WANTED_VERSION };
  if (typed.has("json")) await io.stdout.write(`${JSON.stringify(record)}\n`);
  else
    partsOf(shell).notices.tell(
      before === WANTED_VERSION
        ? `the schema ${schema} of ${place} is up to date (version ${WANTED_VERSION})`
        : `the schema ${schema} of ${place} went from version ${before} to ${WANTED_VERSION}`,
    );
  return 0;
}

async function show(opened: Postgres, shell: Shell): Promise<number> {
  const { typed, io } = shell;
  const { schema, place } = opened;
  const { version, serverVersion } = await inspect(opened.patient({ waitMs: 0, isStart: true }));
  const isCurrent = version === WANTED_VERSION;
  const record = {
    database: place,
    server_version: serverVersion,
    schema,
    version,
    wanted_version: WANTED_VERSION,
    is_current: isCurrent,
  };
  await io.stdout.write(
    typed.has("json")
      ? `${JSON.stringify(record, null, 2)}\n`
      : `database  ${place}\nserver    PostgreSQL ${serverVersion}\nschema    ${schema}\nversion   ${version} of ${WANTED_VERSION}\n`,
  );
  if (!isCurrent)
    partsOf(shell).notices.tell(
      version > WANTED_VERSION
        ? "a newer program has set this schema up: use that one"
        : "run article-extractor database migrate",
    );
  return isCurrent ? 0 : 1;
}
