import { describe, expect, test } from "bun:test";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { environmentFor, makeBucket } from "../../support/bucket.ts";
import { runCommand } from "../../support/command.ts";
import { startRawServer } from "../../support/raw-server.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

type Check = { readonly name: string; readonly status: string; readonly detail: string };

/** What doctor says of the store, and its exit code; null when it says nothing of one. */
async function look(
  env: Readonly<Record<string, string>>,
): Promise<(Check & { exitCode: number | null }) | null> {
  using home = temporaryDirectory();
  const { exitCode, stdout } = await runCommand(["doctor", "--json"], {
    env: {
      HOME: home.path,
      ARTICLE_EXTRACTOR_STATE_DIR: join(home.path, "state"),
      DOCS_SEARCH_STATE_DIR: join(home.path, "state"),
      ARTICLE_EXTRACTOR_BROWSER_PATH: "none",
      ...env,
    },
  });
  const checks: readonly Check[] = JSON.parse(stdout).checks;
  const found = checks.find(({ name }) => name === "store");
  return found ? { ...found, exitCode } : null;
}

describe("doctor", () => {
  test("says nothing of a store that is not set", async () => {
    expect(await look({})).toBeNull();
  });

  test("tries a bucket and leaves nothing there", async () => {
    const { name, options } = await makeBucket();
    const url = `s3://${name}/some pages`;
    const found = await look({ ...environmentFor(options), ARTICLE_EXTRACTOR_STORE_URL: url });
    expect(found).toMatchObject({ status: "ok", detail: `${url}, lists, writes, reads and deletes objects` });
    const listed = await fetch(`${options.endpoint}/${name}`);
    expect(await listed.text()).not.toContain("<Key>");
  });

  test("tries a directory that several machines share", async () => {
    using directory = temporaryDirectory();
    await mkdir(join(directory.path, "a b"));
    const found = await look({ ARTICLE_EXTRACTOR_STORE_URL: `file://${directory.path}/a%20b` });
    expect(found).toMatchObject({ status: "ok", detail: expect.stringContaining("/a%20b, lists") });
    expect(await readdir(join(directory.path, "a b", ".article-extractor"))).toEqual([]);
  });

  test("names what a bucket refuses", async () => {
    const { options } = await makeBucket();
    const env = { ...environmentFor(options), ARTICLE_EXTRACTOR_STORE_URL: "s3://nobody-made-this/a" };
    expect(await look(env)).toMatchObject({
      exitCode: 1,
      status: "problem",
      detail: "could not list s3://nobody-made-this/a/: there is no such bucket",
    });
  });

  test("names that a bucket is only for reading", async () => {
    const list = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
    await using server = await startRawServer({
      answer({ method }, socket) {
        const [status, body] = method === "GET" ? ["200 OK", list] : ["403 Forbidden", ""];
        socket.end(
          `HTTP/1.1 ${status}\r\ncontent-length: ${body?.length}\r\nconnection: close\r\n\r\n${body}`,
        );
      },
    });
    const found = await look({
      ARTICLE_EXTRACTOR_STORE_URL: "s3://books",
      ARTICLE_EXTRACTOR_S3_ENDPOINT: `http://127.0.0.1:${server.port}`,
      AWS_ACCESS_KEY_ID: "key",
      AWS_SECRET_ACCESS_KEY: "verysecret",
    });
    expect(found?.exitCode).toBe(1);
    expect(found?.detail).toMatch(
      /^could not write s3:\/\/books\/\.article-extractor\/probe-[\w-]+: access is denied: the credentials need s3:PutObject$/,
    );
  });
});

describe("settings of a store", () => {
  test.each([
    ["ARTICLE_EXTRACTOR_STORE_URL", "https://s3.example/books", /is not the URL of a store: it must be s3:/],
    ["ARTICLE_EXTRACTOR_STORE_URL", "s3://key:verysecret@books", /takes no credentials/],
    ["ARTICLE_EXTRACTOR_S3_ENDPOINT", "minio:9000", /must be an http or https URL/],
    ["ARTICLE_EXTRACTOR_S3_ENDPOINT", "https://key:verysecret@minio:9000", /without credentials/],
    ["ARTICLE_EXTRACTOR_S3_ADDRESSING", "host", /must be one of path, virtual/],
    ["ARTICLE_EXTRACTOR_S3_ENCRYPTION", "aes", /must be AES256, aws:kms or aws:kms:KEY/],
    ["ARTICLE_EXTRACTOR_S3_ENCRYPTION", "aws:kms:", /must be AES256, aws:kms or aws:kms:KEY/],
  ])("are refused: %s=%s", async (name, value, message) => {
    const { exitCode, stderr } = await runCommand(["doctor"], { env: { [name]: value } });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(new RegExp(`^error: ${name}`));
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain("verysecret");
    expect(stderr.trim().split("\n").length).toBe(1);
  });
});

describe("crawl --output-dir with a URL", () => {
  const crawl = (url: string, env: Readonly<Record<string, string>> = {}, ...words: readonly string[]) =>
    runCommand(["crawl", "http://127.0.0.1:1/", "--output-dir", url, ...words], {
      env: { AWS_EC2_METADATA_DISABLED: "true", ...env },
    });

  test.each([
    [
      "s3://",
      /^error: "" in "s3:\/\/" is not a bucket name: it must be s3:\/\/bucket\/prefix or file:\/\/\/path$/,
    ],
    ["s3:bucket/a", /^error: "s3:bucket\/a" is not the URL of a store/],
    ["s3://key:verysecret@books/a", /^error: the URL of a store takes no credentials/],
    [
      "s3://books/a/../b",
      /^error: the prefix in "s3:\/\/books\/a\/\.\.\/b" cannot be used: it has the part \.\.$/,
    ],
    ["s3://books//a", /it begins with a slash$/],
    ["gs://books/a", /^error: "gs:\/\/books\/a" is not the URL of a store/],
    ["https://s3.example/books", /is not the URL of a store/],
    ["file://elsewhere/a", /names no absolute path/],
    ["s3://books/.article-extractor/x", /^error: s3:.* is where state is kept/],
  ])("%s is refused with exit code 2 and one line", async (url, message) => {
    const env = {
      ARTICLE_EXTRACTOR_S3_ENDPOINT: "http://127.0.0.1:1",
      AWS_ACCESS_KEY_ID: "a",
      AWS_SECRET_ACCESS_KEY: "b",
    };
    const { exitCode, stderr } = await crawl(url, env);
    expect([exitCode, stderr.trim()]).toEqual([2, expect.stringMatching(message)]);
    expect(stderr).not.toContain("verysecret");
    expect(stderr.trim().split("\n").length).toBe(1);
  });

  test("is told without the slash that it ends with", async () => {
    using directory = temporaryDirectory();
    const env = { XDG_STATE_HOME: join(directory.path, "state") };
    const { stderr } = await crawl(`file://${directory.path}/pages/`, env, "--retries", "0");
    expect(stderr).toContain(`file://${directory.path}/pages/manifest.json\n`);
  });

  test("does not go with --jsonl", async () => {
    const { exitCode, stderr } = await crawl("s3://books/a", {}, "--jsonl");
    expect([exitCode, stderr]).toEqual([
      2,
      "error: --jsonl goes with a directory as --output-dir, not with a bucket\n",
    ]);
  });

  test("says what credentials and what region are missing", async () => {
    const none = await crawl("s3://books/a", {
      ARTICLE_EXTRACTOR_S3_ENDPOINT: "http://127.0.0.1:1",
      AWS_PROFILE: "none",
    });
    expect(none.exitCode).toBe(2);
    expect(none.stderr).toMatch(
      /^error: could not read s3:\/\/books\/a\/.*: no credentials were found.*AWS_ACCESS_KEY_ID/,
    );
    const keys = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "verysecret" };
    const nowhere = await crawl("s3://books/a", keys);
    expect(nowhere.exitCode).toBe(2);
    expect(nowhere.stderr).toMatch(/no region is set: set ARTICLE_EXTRACTOR_S3_REGION or AWS_REGION$/m);
    const odd = await crawl("s3://books/a", { ...keys, ARTICLE_EXTRACTOR_S3_REGION: "us east" });
    expect(odd.exitCode).toBe(2);
    expect(odd.stderr).toMatch(/^error: could not read s3:.*: no region has such a name: /);
  });

  test("says that there is no such bucket", async () => {
    const { options } = await makeBucket();
    const { exitCode, stderr } = await crawl("s3://nobody-made-this/a", environmentFor(options));
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: .*there is no such bucket$/m);
  });

  test("says that nothing listens at the endpoint", async () => {
    const { exitCode, stderr } = await crawl("s3://books/a", {
      ARTICLE_EXTRACTOR_S3_ENDPOINT: "http://127.0.0.1:1",
      AWS_ACCESS_KEY_ID: "a",
      AWS_SECRET_ACCESS_KEY: "b",
    });
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/^error: could not read s3:.*: nothing listens there\n$/),
    ]);
  });
});
