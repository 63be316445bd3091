import { statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type PlacedDeployment, sourceProblems } from "../../../app/index.ts";
import { Failure } from "../../../base/failure.ts";
import type { Log } from "../../../base/log.ts";
import type { DeploymentState } from "../../../server/index.ts";
import type { TenantRegistry } from "../../../tenants/index.ts";
import { type DeployedProgram, placeDeployment, readDeploymentText } from "../../deployment.ts";
import type { Io } from "../../io.ts";

type WatchOptions = DeployedProgram & {
  readonly io: Io;
  readonly log: Log;
  readonly registry: TenantRegistry;
  /** Whether tenants that cannot be synced are accepted. */
  readonly isLenient: boolean;
};

/**
 * How often to look at the file, in ms. A look asks for its size and times, and reads it once two looks have found the
 * same, because programs write in pieces and rename.
 */
const LOOK_EVERY_MS = 400;

/**
 * Applies a running server's deployment file to its tenants whenever the file changes. A broken file changes
 * nothing: it is named in the log and in the state, and the server keeps its tenants. Dispose of it to stop looking.
 */
export function watchDeployment(options: WatchOptions) {
  const { log, io, deployment } = options;
  const { path } = deployment;
  let state: DeploymentState = { takenAt: new Date(), error: null, needRestart: [] };
  let taken = deployment;
  /** The text that was last read; null when the file could not be read. */
  let known: string | null = taken.text;
  let isEnded = false;

  const noteUnchanged = (isAsked: boolean): void => {
    if (state.error !== null) log.info("deployment file is the one in force again", { path });
    else if (isAsked) log.info("deployment file has not changed", { path });
    state = { ...state, error: null };
  };
  const read = async (isAsked: boolean): Promise<void> => {
    let found: string | null = null;
    try {
      found = await readDeploymentText(path, io);
      if (isEnded || (found === known && !isAsked)) return;
      if (found === taken.text) noteUnchanged(isAsked);
      else {
        const next = placeDeployment(path, found);
        state = takeOver(next, { ...options, taken });
        taken = next;
      }
    } catch (error) {
      if (isEnded || io.signal.aborted || (found === known && !isAsked)) return;
      const failure = error instanceof Failure ? error : new Failure("internal", String(error));
      // Anybody may ask an open server for its health, so the answer shows no path.
      const message = shortened(failure.message.replaceAll(path, basename(path)));
      log.error("deployment file not applied; the previous one stays in force", { path, error: message });
      state = { ...state, error: new Failure(failure.code, message).toRecord() };
    }
    known = found;
  };
  let turn = Promise.resolve();
  const readInTurn = (isAsked: boolean): Promise<void> => {
    turn = turn.then(() => read(isAsked));
    return turn;
  };
  const looking = isFile(path) ? lookAt(path, () => readInTurn(false)) : null;
  return {
    state: (): DeploymentState => state,
    /** Reads the file now, whether or not it seems to have changed. */
    readAgain: (): void => {
      if (looking) void readInTurn(true);
      else log.warning("deployment file cannot be read again", { path });
    },
    [Symbol.dispose](): void {
      isEnded = true;
      looking?.[Symbol.dispose]();
    },
  };
}

/** @throws Failure `invalid_settings` when a server would not start with it */
function takeOver(
  next: PlacedDeployment,
  {
    program,
    deployment,
    taken,
    registry,
    isLenient,
    log,
  }: WatchOptions & { readonly taken: PlacedDeployment },
): DeploymentState {
  const { path, tenants } = next;
  const { refused, unset } = sourceProblems(next, program);
  const problems = [...refused, ...unset];
  if (problems.length > 0 && !isLenient) throw new Failure("invalid_settings", problems.join("\n"));
  const { added, changed, removed } = registry.replace(tenants);
  for (const warning of [...next.warnings, ...problems]) log.warning("deployment file", { warning });
  const lists = { added: added.join(" "), changed: changed.join(" "), removed: removed.join(" ") };
  log.info("deployment file applied", { path, tenants: tenants.length, ...lists });
  for (const { codename, rootDir: directory } of taken.tenants)
    if (removed.includes(codename))
      log.info("tenant removed; its documents, index and state stay", { tenant: codename, directory });
  const needRestart = changedFields(deployment, next);
  if (needRestart.length > 0)
    log.warning("infrastructure changes need a restart", { fields: needRestart.join(" ") });
  return { takenAt: new Date(), error: null, needRestart };
}

/** Lists the changed fields that only take effect at the next start; rights of tenants are part of the tenants' settings. */
const changedFields = (
  { name, infrastructureFields: started }: PlacedDeployment,
  { name: nextName, infrastructureFields: present }: PlacedDeployment,
): readonly string[] => [
  ...(name === nextName ? [] : ["name"]),
  ...Object.entries(present).flatMap(([field, value]) =>
    field === "allow_index_builds" || isDeepStrictEqual(value, started[field as keyof typeof started])
      ? []
      : [field],
  ),
];

/** The most problems of a file that the log and `/health` name. */
const MAX_PROBLEMS = 20;

/** The problems in one line. */
function shortened(message: string): string {
  const lines = message.split("\n");
  const rest = lines.length - MAX_PROBLEMS;
  return [...lines.slice(0, MAX_PROBLEMS), ...(rest > 0 ? [`and ${rest} more`] : [])].join("; ");
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Calls `onChange` once the file differs from the last call, and no longer changes. */
function lookAt(path: string, onChange: () => Promise<void>): Disposable {
  let before: string | null = null;
  let reported: string | null = null;
  let isLooking = false;
  const look = async (): Promise<void> => {
    const found = await signatureOf(path);
    const isSettled = found === before;
    before = found;
    if (!isSettled || found === reported) return;
    reported = found;
    await onChange();
  };
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void look().finally(() => {
      isLooking = false;
    });
  }, LOOK_EVERY_MS);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Identifies a file and its state; an absent one has a signature too. */
async function signatureOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path);
    return `${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}`;
  } catch {
    return "absent";
  }
}
