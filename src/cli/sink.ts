import { randomUUID } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { access, open, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { Failure } from "../base/failure.ts";
import { isMissing, systemReason } from "../base/system-error.ts";
import { type FileIdentity, type Io, untilAborted } from "./io.ts";
import { decodePath, directoryOf, pathBytes } from "./words.ts";

/** The destination of a command's results: stdout, or a file that appears complete at the end. */
export interface Sink extends AsyncDisposable {
  write(content: string | Uint8Array): Promise<void>;
  /** Makes the file appear; without this call nothing is left behind. */
  finish(): Promise<void>;
}

/** Opens the sink; throws `Failure` `unwritable_output` when the file cannot be made. */
export async function openSink(outputFile: string | null, io: Io): Promise<Sink> {
  const target = outputFile === null ? STDOUT : await attempt(outputFile, () => findTarget(outputFile, io));
  if (outputFile === null || target.kind === "stdout") {
    return {
      write: (content) => io.stdout.write(content),
      finish: async () => {},
      [Symbol.asyncDispose]: async () => {},
    };
  }
  const aside = target.kind === "file" ? asideOf(target.path) : null;
  const file = await attempt(outputFile, () =>
    aside === null
      ? untilAborted(open(pathBytes(target.path), "a"), io.signal) // a pipe opens when somebody reads it
      : open(pathBytes(aside), "wx", target.mode ?? undefined),
  );
  return {
    write: (content) => attempt(outputFile, () => file.writeFile(content)),
    finish: () =>
      attempt(outputFile, async () => {
        if (aside === null) return;
        if (target.mode !== null) await file.chmod(target.mode); // past the umask, which made it narrower
        await file.sync();
        await file.close();
        await rename(pathBytes(aside), pathBytes(target.path));
      }),
    [Symbol.asyncDispose]: async () => {
      await file.close().catch(() => {}); // closed already when finished
      if (aside !== null) await rm(pathBytes(aside), { force: true });
    },
  };
}

// The temporary file is in the same directory, because a rename cannot cross disks. Its name is random, and it is
// opened exclusively, so that in a shared directory nobody can have put a link there. The name is short, whatever the
// target's.
const asideOf = (path: string): string => `${directoryOf(path)}/.article-extractor-${randomUUID()}.tmp`;

type Target =
  | { readonly kind: "stdout" }
  /** It is written in place: a device, a pipe, or the file that stderr goes to. */
  | { readonly kind: "stream"; readonly path: string; readonly mode: null }
  /** It is replaced or created; `mode` is that of the replaced file. */
  | { readonly kind: "file"; readonly path: string; readonly mode: number | null };

const STDOUT: Target = { kind: "stdout" };

// Anything but a regular file must never be replaced by a rename: as root, `-o /dev/stdout` into a pipe would replace
// the machine's /dev/stdout. Only stat sees through the links in /proc to a pipe; realpath does not.
async function findTarget(path: string, io: Io): Promise<Target> {
  const stats = await statOrNull(path);
  if (stats === null) return { kind: "file", path: await followDangling(path), mode: null };
  if (stats.isDirectory()) throw new Failure("unwritable_output", `${path} is a directory, not a file`);
  if (isSameFile(stats, io.stdout.identity)) return STDOUT;
  if (!stats.isFile() || isSameFile(stats, io.stderr.identity)) return { kind: "stream", path, mode: null };
  await access(pathBytes(path), constants.W_OK); // renaming would get around a file's write protection
  return { kind: "file", path: await realPath(path), mode: stats.mode & 0o777 };
}

const isSameFile = (stats: Stats, other: FileIdentity | null): boolean =>
  other !== null && stats.dev === other.dev && stats.ino === other.ino;

async function statOrNull(path: string): Promise<Stats | null> {
  try {
    return await stat(pathBytes(path));
  } catch (cause) {
    if (isMissing(cause)) return null;
    throw cause;
  }
}

/** Keeps a link that points to nothing yet, and creates the file that it names. */
async function followDangling(path: string): Promise<string> {
  const link = await readlink(pathBytes(path), { encoding: "buffer" }).catch(() => null); // no link, or nothing there
  if (link === null) return path;
  const target = decodePath(link);
  return followDangling(isAbsolute(target) ? target : `${await realPath(directoryOf(path))}/${target}`);
}

const realPath = async (path: string): Promise<string> =>
  decodePath(await realpath(pathBytes(path), { encoding: "buffer" }));

/** Translates the system's errors about writing the file. */
export async function attempt<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    const reason = isMissing(cause) ? "there is no such directory" : systemReason(cause);
    throw new Failure("unwritable_output", `${path} cannot be written: ${reason}`, { cause });
  }
}
