import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { outputOf, serveLocal } from "./local.ts";

/** A file of a commit as a test writes it. */
export type CommittedFile =
  | string
  | { readonly mode: "100644" | "100755" | "120000" | "160000"; readonly content: string | Uint8Array };

/** A bare repository on the disk. */
export class TestRepository {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Makes an empty one, from which parts can be fetched. */
  static async create(path: string): Promise<TestRepository> {
    for (const folder of ["objects", "refs/heads"]) await mkdir(join(path, folder), { recursive: true });
    await Bun.write(join(path, "HEAD"), "ref: refs/heads/main\n");
    await Bun.write(
      join(path, "config"),
      "[core]\n\trepositoryformatversion = 0\n\tbare = true\n[uploadpack]\n\tallowFilter = true\n",
    );
    return new TestRepository(path);
  }

  /** Commits exactly these files, by path, on a branch; its history goes on unless it is to begin anew. */
  async commit(
    files: Readonly<Record<string, CommittedFile>>,
    options: { readonly branch?: string; readonly isForced?: boolean } = {},
  ): Promise<string> {
    const head = join(this.path, "refs/heads", options.branch ?? "main");
    const parent = options.isForced ? null : await readFile(head, "utf8").catch(() => null);
    const tree = await this.#writeFolder(await this.#foldersOf(files));
    const person = `${AUTHOR.GIT_AUTHOR_NAME} <${AUTHOR.GIT_AUTHOR_EMAIL}> ${Math.floor(Date.now() / 1000)} +0000`;
    const lines = [
      `tree ${tree}`,
      ...(parent === null ? [] : [`parent ${parent.trim()}`]),
      `author ${person}`,
      `committer ${person}`,
      "",
      "change",
      "",
    ];
    const commit = await this.#writeObject("commit", Buffer.from(lines.join("\n")));
    await Bun.write(head, `${commit}\n`);
    return commit;
  }

  async git(words: readonly string[], input: string | Uint8Array = ""): Promise<string> {
    const child = Bun.spawn(["git", ...words], {
      cwd: this.path,
      env: { ...AUTHOR, PATH: process.env.PATH, GIT_DIR: this.path },
      stdin: typeof input === "string" ? new TextEncoder().encode(input) : input,
      stdout: "pipe",
      stderr: "pipe",
    });
    const { stdout: out, stderr: errors, exitCode: code } = await outputOf(child);
    if (code !== 0) throw new Error(`git ${words.join(" ")}: ${errors}`);
    return out;
  }

  async #foldersOf(files: Readonly<Record<string, CommittedFile>>): Promise<Folder> {
    const root: Folder = new Map();
    for (const [path, file] of Object.entries(files)) {
      const names = path.split("/");
      let folder = root;
      for (const name of names.slice(0, -1)) {
        const found = folder.get(name);
        const next: Folder = found instanceof Map ? found : new Map();
        folder.set(name, next);
        folder = next;
      }
      const { mode, content } = typeof file === "string" ? { mode: "100644", content: file } : file;
      const oid = mode === "160000" ? `${content}` : await this.#writeObject("blob", Buffer.from(content));
      folder.set(names.at(-1) ?? "", { mode, oid });
    }
    return root;
  }

  async #writeFolder(folder: Folder): Promise<string> {
    const entries: { sortKey: string; bytes: Buffer }[] = [];
    for (const [name, entry] of folder) {
      const isFolder = entry instanceof Map;
      const oid = isFolder ? await this.#writeFolder(entry) : entry.oid;
      const mode = isFolder ? "40000" : entry.mode;
      const bytes = Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, "hex")]);
      entries.push({ sortKey: isFolder ? `${name}/` : name, bytes });
    }
    entries.sort((a, b) => Buffer.compare(Buffer.from(a.sortKey), Buffer.from(b.sortKey)));
    return await this.#writeObject("tree", Buffer.concat(entries.map(({ bytes }) => bytes)));
  }

  /**
   * Writes a loose object as git stores it, without git: a process for each would take most of a test's time, and no
   * tool of git takes names such as `.git` into a tree.
   */
  async #writeObject(type: "blob" | "tree" | "commit", content: Buffer): Promise<string> {
    const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
    const oid = new Bun.CryptoHasher("sha1").update(bytes).digest("hex");
    await Bun.write(join(this.path, "objects", oid.slice(0, 2), oid.slice(2)), deflateSync(bytes));
    return oid;
  }
}

type Folder = Map<string, Folder | { readonly mode: string; readonly oid: string }>;

const AUTHOR = {
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.org",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.org",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
};

export type GitServer = Awaited<ReturnType<typeof serveGit>>;

/** Serves repositories with git's own `http-backend` on loopback. */
export async function serveGit() {
  const root = await mkdtemp(join(tmpdir(), "git-server-"));
  const backend = join((await Bun.$`git --exec-path`.text()).trim(), "git-http-backend");
  const requests: string[] = [];
  let credentials: string | null = null;
  let sent = 0;
  let intercept: ((request: Request) => Response | null) | null = null;
  const server = serveLocal(async (request) => {
    const url = new URL(request.url);
    requests.push(`${request.method} ${url.pathname}${url.search}`);
    const other = intercept?.(request);
    if (other) return other;
    if (credentials !== null && request.headers.get("authorization") !== `Basic ${btoa(credentials)}`)
      return new Response("no", { status: 401, headers: { "www-authenticate": 'Basic realm="git"' } });
    const answer = await runBackend(backend, root, request);
    sent += answer.body.length;
    return new Response(answer.body, answer);
  });
  return {
    origin: server.url.origin,
    /** Method, path and query of each request so far. */
    requests,
    /** Bytes that were sent as bodies so far. */
    sentBytes: () => sent,
    /** A repository at `${origin}/${name}.git`. */
    create: (name: string) => TestRepository.create(join(root, `${name}.git`)),
    /** Asks for these credentials from now on (`user:password`); null for none. */
    protect: (wanted: string | null) => {
      credentials = wanted;
    },
    /** Answers instead of git, until null is given. */
    intercept: (answer: typeof intercept) => {
      intercept = answer;
    },
    [Symbol.asyncDispose]: async () => {
      await server.stop(true);
      await rm(root, { recursive: true, force: true });
    },
  };
}

type CgiAnswer = {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array<ArrayBuffer>;
};

/** RFC 3875, as far as git needs it. */
async function runBackend(backend: string, root: string, request: Request): Promise<CgiAnswer> {
  const url = new URL(request.url);
  const child = Bun.spawn([backend], {
    env: {
      ...AUTHOR,
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers.get("content-type") ?? "",
      HTTP_CONTENT_ENCODING: request.headers.get("content-encoding") ?? "",
      GIT_PROTOCOL: request.headers.get("git-protocol") ?? "",
      REMOTE_ADDR: "127.0.0.1",
    },
    stdin: new Uint8Array(await request.arrayBuffer()),
    stdout: "pipe",
    stderr: "ignore",
  });
  const output = Buffer.from(await new Response(child.stdout).arrayBuffer());
  const end = output.indexOf("\r\n\r\n");
  const headers: Record<string, string> = {};
  for (const line of output.subarray(0, end).toString("latin1").split("\r\n")) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const status = Number.parseInt(headers.status ?? "200", 10);
  delete headers.status;
  return { status, headers, body: new Uint8Array(output.subarray(end + 4)) };
}
