import { describe, expect, test } from "bun:test";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "../../support/binary.ts";
import { environmentFor, makeBucket } from "../../support/bucket.ts";
import { runCommand } from "../../support/command.ts";
import { startRawServer } from "../../support/raw-server.ts";

type Check = { readonly name: string; readonly status: string; readonly detail: string };

/** What doctor says of the store, and its exit code; null when it says nothing of one. */
async function look(
  env: Readonly<Record<string, string>>,
): Promise<(Check & { exitCode: number | null }) | null> {
  await using home = await temporaryDirectory();
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
    await using directory = await temporaryDirectory();
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
      /^could not write s3:\/\/books\/\.article-extractor\/probe-[\w-]+: access is denied: the credentials may not do that$/,
    );
  });
});

describe("settings of a store", () => {
  test.each([
    ["ARTICLE_EXTRACTOR_STORE_URL", "https://s3.example/books", /is no URL of a store: it must be s3:/],
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
