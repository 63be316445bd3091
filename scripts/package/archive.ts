import { buffer } from "node:stream/consumers";
import { packTar } from "modern-tar";
import yazl from "yazl";

/** A file inside a package. */
export type PackedFile = {
  /** Below the package's top, with `/` between its parts. */
  readonly path: string;
  readonly content: Uint8Array | string;
  readonly isExecutable?: boolean;
};

const EXECUTABLE = 0o755;
const PLAIN = 0o644;

/** The content as bytes; text is written in UTF-8. */
export const bytesOf = (content: Uint8Array | string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(typeof content === "string" ? new TextEncoder().encode(content) : content);

/**
 * Packs a gzipped tar, owned by root, in the order of the files; folders are written for the installers that make none by
 * themselves. Equal files and dates give equal bytes on every machine.
 * @param top what stands before every path
 */
export async function packTarGz(
  files: readonly PackedFile[],
  options: { readonly date: Date; readonly top?: string; readonly folders?: boolean },
): Promise<Uint8Array> {
  const { date: mtime, top = "", folders = false } = options;
  const common = { mtime, uid: 0, gid: 0, uname: "root", gname: "root" };
  const entries = [
    ...(folders ? foldersOf(files) : []).map((path) => ({
      header: { ...common, name: `${top}${path}/`, size: 0, type: "directory" as const, mode: EXECUTABLE },
    })),
    ...files.map(({ path, content, isExecutable }) => {
      const body = bytesOf(content);
      const mode = isExecutable ? EXECUTABLE : PLAIN;
      return { header: { ...common, name: `${top}${path}`, size: body.length, mode }, body };
    }),
  ];
  return Bun.gzipSync(await packTar(entries), { library: "libdeflate", level: 6 });
}

function foldersOf(files: readonly PackedFile[]): string[] {
  const parts = files.map(({ path }) => path.split("/"));
  const folders = parts.flatMap((names) => names.slice(1).map((_, n) => names.slice(0, n + 1).join("/")));
  return [...new Set(folders)].sort();
}

/** Packs a ZIP with the same guarantee as `packTarGz`. */
export async function packZip(files: readonly PackedFile[], date: Date): Promise<Uint8Array> {
  const zip = new yazl.ZipFile();
  // The format's own dates are of no time zone, and yazl writes the local one; these show the parts of UTC.
  const mtime = new Date(date.getTime() + date.getTimezoneOffset() * 60_000);
  for (const { path, content, isExecutable } of files) {
    const mode = 0o100000 | (isExecutable ? EXECUTABLE : PLAIN);
    zip.addBuffer(Buffer.from(bytesOf(content)), path, { mtime, mode, forceDosTimestamp: true });
  }
  zip.end();
  return await buffer(zip.outputStream);
}
