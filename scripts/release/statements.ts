/** What a release says of its own files: their sums, where they come from, and who signs for that. */
import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** A file of the release with its SHA-256 sum in hexadecimal digits. */
export type Sum = { readonly name: string; readonly sha256: string };

/** Returns the sums of all files of a directory, in the order of their names. */
export async function sumsOf(directory: string): Promise<readonly Sum[]> {
  const names = (await readdir(directory)).sort();
  return await Promise.all(
    names.map(async (name) => {
      const hasher = new Bun.CryptoHasher("sha256");
      for await (const bytes of Bun.file(join(directory, name)).stream()) hasher.update(bytes);
      return { name, sha256: hasher.digest("hex") };
    }),
  );
}

/** Writes sums as `sha256sum --check` reads them. */
export const formatSums = (sums: readonly Sum[]): string =>
  sums.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join("");

export type Origin = {
  readonly version: string;
  readonly platforms: readonly string[];
  /** The commit that was built, and whether the tree held nothing else. */
  readonly commit: string;
  readonly isClean: boolean;
  /** The repository's address; null while it has none. */
  readonly repository: string | null;
  readonly lockSha256: string;
  /** The address of a service that built the release; null for somebody's own machine. */
  readonly builder: string | null;
};

/**
 * Returns the provenance of files as an in-toto statement with SLSA's predicate, version 1. There are no times in it, so
 * that equal sources give an equal statement. A statement that no service vouches for reaches SLSA's build level 1 at most,
 * and its builder's name says so.
 */
export const provenanceOf = (subjects: readonly Sum[], origin: Origin): object => ({
  _type: "https://in-toto.io/Statement/v1",
  subject: subjects.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
  predicateType: "https://slsa.dev/provenance/v1",
  predicate: {
    buildDefinition: {
      buildType: "urn:article-extractor:make-release:1",
      externalParameters: {
        version: origin.version,
        platforms: origin.platforms,
        isCleanTree: origin.isClean,
      },
      internalParameters: {},
      resolvedDependencies: [
        {
          uri: origin.repository === null ? "urn:article-extractor:repository" : `git+${origin.repository}`,
          digest: { gitCommit: origin.commit },
        },
        { name: "bun.lock", uri: "file:bun.lock", digest: { sha256: origin.lockSha256 } },
        { name: "bun", uri: `pkg:npm/bun@${Bun.version}` },
      ],
    },
    runDetails: {
      builder: { id: origin.builder ?? "urn:article-extractor:builder:unattested-machine" },
    },
  },
});

/**
 * Signs a file with minisign, into `FILE.minisig`.
 * @param key the file of the secret key
 * @param password of the key; null for a key without one
 * @param comment signed as well, and shown to whoever verifies
 * @throws Error when minisign is missing or refuses
 */
export async function sign(
  file: string,
  {
    key,
    password,
    comment,
  }: { readonly key: string; readonly password: string | null; readonly comment: string },
): Promise<void> {
  if (Bun.which("minisign") === null)
    throw new Error("minisign is missing: install it, on Debian with apt-get install minisign");
  const unfinished = `${file}.minisig.unfinished`;
  const child = Bun.spawn(
    ["minisign", "-S", "-m", file, "-s", key, "-x", unfinished, "-t", comment, "-c", comment],
    { stdin: new TextEncoder().encode(`${password ?? ""}\n`), stdout: "ignore", stderr: "pipe" },
  );
  const reason = (await new Response(child.stderr).text()).trim();
  if ((await child.exited) !== 0) {
    await rm(unfinished, { force: true });
    throw new Error(`minisign does not sign with ${key}: ${reason.split("\n").at(-1)}`);
  }
  await rename(unfinished, `${file}.minisig`);
}
