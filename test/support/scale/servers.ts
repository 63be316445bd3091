import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../local.ts";
import { untilTrue } from "../until.ts";

/** An S3 server that is not ours, with one empty bucket. */
export type BucketServer = AsyncDisposable & {
  readonly kind: "versitygw" | "moto";
  /** `s3://pages` */
  readonly url: string;
  /** The settings with which the program reaches it. */
  readonly env: Readonly<Record<string, string>>;
  readonly client: Bun.S3Client;
  /** The names of all objects below a prefix. */
  list(prefix: string): Promise<readonly string[]>;
  /** The process while it runs. */
  pid(): number;
  signal(name: NodeJS.Signals): void;
  /** Ends the server at once; what it holds stays. */
  kill(): Promise<void>;
  start(): Promise<void>;
};

const BUCKET = "pages";
const KEYS = { accessKeyId: "test", secretAccessKey: "testtest" } as const;
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "article-extractor-test");

/** Starts versitygw, or moto where Go was missing when `make test-scale` installed the servers. */
export async function startBucketServer(): Promise<BucketServer> {
  const directory = await mkdtemp(join(tmpdir(), "scale-bucket-"));
  await mkdir(join(directory, BUCKET));
  const port = freePort();
  const gateway = Bun.which("versitygw", {
    PATH: `${CACHE}:${join(homedir(), "go/bin")}:${process.env.PATH}`,
  });
  const moto = Bun.which("moto_server", { PATH: join(import.meta.dir, "../../../build/moto/bin") });
  if (gateway === null && moto === null)
    throw new Error("there is no S3 server: make test-scale installs one");
  const command = gateway
    ? // Without being told, it closes each connection after one answer, unlike any bucket of a cloud.
      [gateway, "--port", `127.0.0.1:${port}`, "--quiet", "--keep-alive", "posix", directory]
    : [moto ?? "", "-H", "127.0.0.1", "-p", `${port}`];
  const endpoint = `http://127.0.0.1:${port}`;
  const client = new Bun.S3Client({ endpoint, bucket: BUCKET, region: "us-east-1", ...KEYS });
  let child: Bun.Subprocess | null = null;
  const server: BucketServer = {
    kind: gateway ? "versitygw" : "moto",
    url: `s3://${BUCKET}`,
    env: {
      AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
      ARTICLE_EXTRACTOR_S3_ENDPOINT: endpoint,
      ARTICLE_EXTRACTOR_S3_REGION: "us-east-1",
      ARTICLE_EXTRACTOR_S3_ADDRESSING: "path",
    },
    client,
    async list(prefix) {
      const names: string[] = [];
      for (let startAfter = ""; ; ) {
        const page = await client.list({ prefix, ...(startAfter && { startAfter }) });
        names.push(...(page.contents ?? []).map(({ key }) => key));
        if (!page.isTruncated) return names;
        startAfter = names.at(-1) ?? "";
      }
    },
    pid: () => child?.pid ?? 0,
    signal: (name) => void child?.kill(name),
    async kill() {
      child?.kill("SIGKILL");
      await child?.exited;
    },
    async start() {
      const env = {
        PATH: process.env.PATH ?? "",
        HOME: directory,
        ROOT_ACCESS_KEY: KEYS.accessKeyId,
        ROOT_SECRET_KEY: KEYS.secretAccessKey,
      };
      child = Bun.spawn(command, { cwd: directory, env, stdio: ["ignore", "ignore", "ignore"] });
      await untilTrue(() =>
        fetch(endpoint).then(
          () => true,
          () => false,
        ),
      );
    },
    async [Symbol.asyncDispose]() {
      await server.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
  await server.start();
  if (!gateway) await fetch(`${endpoint}/${BUCKET}`, { method: "PUT" });
  return server;
}
