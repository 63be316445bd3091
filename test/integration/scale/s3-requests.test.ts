import { describe, expect, test } from "bun:test";
import type { ObjectStore } from "../../../src/base/objects.ts";
import { openObjectStore } from "../../../src/scale/objects/open.ts";
import type { S3Options } from "../../../src/scale/objects/s3.ts";
import { optionsFor } from "../../support/bucket.ts";
import { type RawRequest, startRawServer } from "../../support/raw-server.ts";

const UPLOAD = "<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>";
const COMPLETE = "<CompleteMultipartUploadResult><ETag>e</ETag></CompleteMultipartUploadResult>";

/** What a bucket's server receives when a store is used like this. */
async function requestsOf(
  changes: Partial<S3Options>,
  use: (store: ObjectStore) => Promise<unknown>,
): Promise<readonly RawRequest[]> {
  await using server = await startRawServer({
    answer({ method, target }, socket) {
      const body = method !== "POST" ? "" : target.includes("?uploads") ? UPLOAD : COMPLETE;
      const type = "content-type: application/xml\r\netag: e\r\n";
      socket.write(`HTTP/1.1 200 OK\r\n${type}content-length: ${body.length}\r\n\r\n${body}`);
    },
  });
  const options = optionsFor(`http://localhost:${server.port}`, changes);
  await using store = await openObjectStore({ kind: "s3", bucket: "books", prefix: "a b" }, options);
  await use(store);
  return [...server.requests];
}

const put = (changes: Partial<S3Options>): Promise<readonly RawRequest[]> =>
  requestsOf(changes, (store) => store.put("é.md", "words", { contentType: "text/markdown" }));

const bytes = (length: number): Uint8Array => new Uint8Array(length);

describe("a bucket's server receives", () => {
  test("the object with a checksum, its type and a signature", async () => {
    const [request, ...others] = await put({});
    expect(others).toEqual([]);
    expect(request?.method).toBe("PUT");
    expect(request?.body).toBe("words");
    expect(request?.headers["content-type"]).toBe("text/markdown");
    expect(request?.headers["x-amz-checksum-crc32"]).toBe(
      Buffer.from(Bun.hash.crc32("words").toString(16).padStart(8, "0"), "hex").toString("base64"),
    );
    const digest = new Bun.CryptoHasher("sha256").update("words").digest("hex");
    expect(request?.headers["x-amz-content-sha256"]).toBe(digest);
    expect(request?.headers["x-amz-server-side-encryption"]).toBeUndefined();
    expect(request?.headers["x-amz-security-token"]).toBeUndefined();
  });

  test("the bucket in the path, where an endpoint is named and nothing else is asked for", async () => {
    for (const addressing of [null, "path"] as const) {
      const [request] = await put({ addressing });
      expect(request?.target).toStartWith("/books/a%20b/%C3%A9.md");
      expect(request?.headers.host).toStartWith("localhost:");
    }
  });

  test("the bucket in the host's name", async () => {
    // Not every machine finds the names below localhost; where they are not found, the failure names the host.
    const asked = await put({ addressing: "virtual", patienceMs: 500 }).then(
      ([request]) => `${request?.headers.host?.replace(/:.*/, "")} ${request?.target.replace(/\?.*/, "")}`,
      (error) => error.message,
    );
    expect([
      "books.localhost /a%20b/%C3%A9.md",
      "could not write s3://books/a b/é.md: its host has no address (books.localhost)",
    ]).toContain(asked);
  });

  test("the region and the session's token, signed", async () => {
    const credentials = { accessKeyId: "AK", secretAccessKey: "SK", sessionToken: "TOKEN" };
    const [request] = await put({ region: "eu-north-1", credentials });
    expect(request?.headers["x-amz-security-token"]).toBe("TOKEN");
    expect(request?.headers.authorization).toMatch(/Credential=AK\/\d{8}\/eu-north-1\/s3\/aws4_request/);
    expect(request?.headers.authorization).toMatch(/SignedHeaders=[^,]*x-amz-security-token/);
  });

  test.each([
    [{ kind: "AES256" }, "AES256", undefined],
    [{ kind: "aws:kms", key: null }, "aws:kms", undefined],
    [{ kind: "aws:kms", key: "arn:aws:kms:x:1:key/2" }, "aws:kms", "arn:aws:kms:x:1:key/2"],
  ] as const)("the encryption %j with small and with large objects", async (encryption, kind, key) => {
    const [small, begin, ...parts] = await requestsOf({ encryption }, async (store) => {
      await store.put("small", "1");
      await store.putStream(
        "large",
        (async function* () {
          yield bytes(9_000_000);
        })(),
      );
    });
    for (const request of [small, begin]) {
      expect(request?.headers["x-amz-server-side-encryption"]).toBe(kind);
      expect(request?.headers["x-amz-server-side-encryption-aws-kms-key-id"]).toBe(key as string);
    }
    expect(begin?.target).toContain("?uploads");
    expect(parts.map(({ method, body }) => `${method} ${body.length > 1000 ? body.length : ""}`)).toEqual([
      "PUT 8388608",
      "PUT 611392",
      "POST ",
    ]);
    for (const { headers } of parts.slice(0, 2)) expect(headers["x-amz-checksum-crc32"]).toBeString();
  });

  test("the end of an upload that failed", async () => {
    const requests = await requestsOf({}, async (store) => {
      async function* failing() {
        yield bytes(9_000_000);
        throw new RangeError("the source failed");
      }
      await store.putStream("large", failing()).catch(() => {});
    });
    const last = requests.at(-1);
    expect(`${last?.method} ${last?.target}`).toMatch(/^DELETE .*uploadId=u1/);
  });

  test("nothing through the proxies of the environment", async () => {
    await using proxy = await startRawServer({ answer: (_, socket) => void socket.destroy() });
    const before = process.env.HTTP_PROXY;
    process.env.HTTP_PROXY = `http://127.0.0.1:${proxy.port}`;
    try {
      expect((await put({})).length).toBe(1);
      expect(proxy.connections()).toBe(0);
    } finally {
      if (before === undefined) delete process.env.HTTP_PROXY;
      else process.env.HTTP_PROXY = before;
    }
  });
});
