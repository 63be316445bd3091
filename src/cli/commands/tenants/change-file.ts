import { readFile, readlink, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type Program, stateDirectoryOf } from "../../../app/index.ts";
import { pause } from "../../../base/abort.ts";
import { asideOf, replaceFile } from "../../../base/atomic-file.ts";
import { holdLease, openLeaseOwner, openLeases, openSharedState } from "../../../base/database/index.ts";
import { Failure } from "../../../base/failure.ts";
import type { Log } from "../../../base/log.ts";
import { isMissing, systemFailure, systemReason } from "../../../base/system-error.ts";
import { MAX_DEPLOYMENT_BYTES } from "../../../settings/index.ts";

/** The text of a deployment file with its byte order mark; null without a file. @throws Failure `unreadable_input` */
export async function readForChange(path: string): Promise<string | null> {
  let bytes: Uint8Array;
  try {
    const found = await stat(path);
    if (found.size > MAX_DEPLOYMENT_BYTES) throw new Failure("too_large", `${path} is larger than 32 MiB`);
    bytes = await readFile(path);
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    if (isMissing(cause)) return null;
    throw new Failure("unreadable_input", `${path} cannot be read: ${systemReason(cause)}`, { cause });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new Failure("unreadable_input", `${path} is not UTF-8, so it is left as it is`, { cause });
  }
}

type ChangeOptions = { readonly program: Program; readonly log: Log; readonly signal: AbortSignal };

/** Thrown while the file is written, when somebody else has written it meanwhile. */
class ChangedMeanwhile extends Error {
  override readonly name = "ChangedMeanwhile";
}

/** An editor that saves without end must not keep a command for ever. */
const MAX_TRIES = 20;

/**
 * Changes a deployment file, or makes it. It is written aside and renamed, so that nobody reads half of it; a link to
 * it stays a link. Commands change it one after the other, and what an editor has saved meanwhile is changed instead.
 * @param change gets the present text, null without a file; what it throws leaves the file as it was
 * @throws Failure `unreadable_input`, `unwritable_output`
 */
export async function changeDeployment(
  path: string,
  options: ChangeOptions,
  change: (text: string | null) => string,
): Promise<void> {
  const target = await behindLinks(path);
  await using _ = await takeTurn(target, options);
  for (let tries = 1; ; tries++) {
    const before = await readForChange(target);
    try {
      await replace(target, change(before), before);
      return;
    } catch (error) {
      if (error instanceof Failure) throw error;
      if (error instanceof ChangedMeanwhile) {
        if (tries < MAX_TRIES) continue;
        throw new Failure("unwritable_output", `${path} is saved by another program again and again`);
      }
      throw systemFailure(error, "unwritable_output", `${path} cannot be written`);
    }
  }
}

async function replace(target: string, text: string, before: string | null): Promise<void> {
  const old = before === null ? null : await stat(target);
  await replaceFile(
    target,
    async (file) => {
      await file.writeFile(text);
      if (old) {
        await file.chmod(old.mode & 0o7777);
        // Root keeps the file its owner's; others cannot give files away.
        await file.chown(old.uid, old.gid).catch(() => {});
      }
      await file.datasync();
      if ((await readForChange(target)) !== before) throw new ChangedMeanwhile();
    },
    { aside: asideOf(target, "deployment") },
  );
}

/** The file itself, also where the link leads to one that is not there yet. */
async function behindLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error)) return resolve(path);
  }
  const linked = await readlink(path).catch(() => null);
  return linked === null ? resolve(path) : resolve(dirname(path), linked);
}

const LEASE_MS = 15_000;
const LOOK_EVERY_MS = 20;

/** Waits until no other command changes the file. A command that was killed keeps nobody waiting. */
async function takeTurn(target: string, { program, log, signal }: ChangeOptions): Promise<AsyncDisposable> {
  const { database } = openSharedState(stateDirectoryOf(program, "search"), log);
  const owner = openLeaseOwner(database);
  const leases = openLeases(database, { hasDied: owner.hasDied });
  const wanted = { leases, name: `file:${target}`, owner: owner.name, ttlMs: LEASE_MS };
  const close = (): void => {
    owner[Symbol.dispose]();
    database.close();
  };
  while (!signal.aborted) {
    const held = await holdLease({ ...wanted, onLost: () => {}, onError: () => {} });
    if (held)
      return {
        [Symbol.asyncDispose]: async () => {
          await held[Symbol.asyncDispose]();
          close();
        },
      };
    await pause(LOOK_EVERY_MS, signal);
  }
  close();
  throw new Failure("cancelled", "interrupted");
}
