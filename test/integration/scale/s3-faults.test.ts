import { describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { Away } from "../../../src/base/failure.ts";
import { createLog, type Log } from "../../../src/base/log.ts";
import { createMetrics, type Measurement } from "../../../src/base/metrics.ts";
import { openObjectStore } from "../../../src/scale/objects/open.ts";
import type { S3Options } from "../../../src/scale/objects/s3.ts";
import { s3Failure } from "../../../src/scale/objects/s3-failure.ts";
import { makeBucket, optionsFor, TEST_CREDENTIALS } from "../../support/bucket.ts";
import { makeCertificate } from "../../support/certificates.ts";
import { startRawServer } from "../../support/raw-server.ts";

const LOCATION = { kind: "s3", bucket: "books", prefix: "a/b" } as const;
const SHORT = { patienceMs: 2_000, silenceMs: 400 } as const;

const answer = (status: string, body = "", headers = ""): string =>
  `HTTP/1.1 ${status}\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`;

/** An error as S3 words it; real ones repeat what was signed. */
const refusal = (status: string, code: string, more = ""): string =>
  answer(
    status,
    `<?xml version="1.0"?><Error><Code>${code}</Code><Message>for test-key: ${TEST_CREDENTIALS.secretAccessKey}</Message>${more}</Error>`,
    "content-type: application/xml\r\n",
  );

/** What reading and writing an object fail with when the server does this. */
async function failuresWith(
  act: (socket: Socket, requestNumber: number) => void,
  changes: Partial<S3Options> = {},
): Promise<{ readonly read: string; readonly write: string; readonly requests: number }> {
  let count = 0;
  await using server = await startRawServer({ answer: (_, socket) => act(socket, ++count) });
  const endpoint = `http://127.0.0.1:${server.port}`;
  await using store = await openObjectStore(LOCATION, optionsFor(endpoint, { ...SHORT, ...changes }));
  const read = await messageOf(store.read("page.md"));
  const write = await messageOf(store.put("page.md", "words"));
  return { read, write, requests: server.requests.length };
}

const messageOf = async (call: Promise<unknown>): Promise<string> =>
  await call.then(
    (value) => `done: ${value}`,
    (error) => `${error.code}: ${error.message}`,
  );

describe("a bucket that refuses", () => {
  test.each([
    ["403 Forbidden", "AccessDenied", /access is denied/],
    ["404 Not Found", "NoSuchBucket", /there is no such bucket/],
    ["403 Forbidden", "InvalidAccessKeyId", /does not know the access key/],
    ["403 Forbidden", "SignatureDoesNotMatch", /the secret key is wrong/],
    ["400 Bad Request", "ExpiredToken", /the session token has expired/],
    ["507 Insufficient Storage", "XMinioStorageFull", /the store is full/],
    ["400 Bad Request", "KMS.NotFoundException", /the key of ARTICLE_EXTRACTOR_S3_ENCRYPTION/],
    ["418 Teapot", "SomethingNew", /it answers with HTTP 418 SomethingNew$/],
  ])("is told with %s %s in one line, after one request", async (status, code, reason) => {
    const { read, write, requests } = await failuresWith((socket) => socket.end(refusal(status, code)));
    expect(read).toStartWith("unreadable_input: could not read s3://books/a/b/page.md: ");
    expect(write).toStartWith("unwritable_output: could not write s3://books/a/b/page.md: ");
    for (const message of [read, write]) {
      expect(message).toMatch(reason);
      expect(message).not.toContain(TEST_CREDENTIALS.secretAccessKey);
      expect(message).not.toContain("\n");
    }
    expect(requests).toBe(2);
  });

  test("is told with the region that it names", async () => {
    const { read } = await failuresWith((socket) =>
      socket.end(refusal("301 Moved Permanently", "PermanentRedirect", "<Region>eu-north-1</Region>")),
    );
    expect(read).toMatch(/the bucket is in another region \(eu-north-1\): set ARTICLE_EXTRACTOR_S3_REGION/);
  });

  test("is not followed to another host", async () => {
    await using other = await startRawServer({ answer: (_, socket) => void socket.end(answer("200 OK")) });
    const { read, write } = await failuresWith((socket) =>
      socket.end(answer("307 Temporary Redirect", "", `location: http://127.0.0.1:${other.port}/x\r\n`)),
    );
    expect(read).toMatch(/HTTP 307, and not as S3 does/);
    expect(write).toMatch(/HTTP 307, and not as S3 does/);
    expect(other.connections()).toBe(0);
  });
});

test("a clock that is wrong is set by the store's", async () => {
  const inTwoHours = new Date(Date.now() + 7_200_000);
  await using server = await startRawServer({
    answer: (request, socket) => {
      const date = `date: ${inTwoHours.toUTCString()}\r\n`;
      const isLate = Number(request.headers["x-amz-date"]?.slice(9, 11)) !== inTwoHours.getUTCHours();
      const text = isLate ? refusal("403 Forbidden", "RequestTimeTooSkewed") : answer("200 OK", "words");
      socket.end(text.replace("\r\n", `\r\n${date}`));
    },
  });
  await using store = await openObjectStore(LOCATION, optionsFor(`http://127.0.0.1:${server.port}`));
  expect(await messageOf(store.read("a"))).toBe(`done: ${[...Buffer.from("words")]}`);
  expect(server.requests.length).toBe(2);
});

describe("what is no bucket", () => {
  test.each([
    ["a page", answer("404 Not Found", "<html>nothing here", "content-type: text/html\r\n"), /HTTP 404/],
    ["another protocol", "SSH-2.0-server\r\n", /none of S3|broke off/],
  ])("is told as %s", async (_, text, reason) => {
    expect((await failuresWith((socket) => socket.end(text))).write).toMatch(reason);
  });

  test("is told by a listing that is a page", async () => {
    await using server = await startRawServer({
      answer: (_, socket) =>
        void socket.end(answer("200 OK", "<html><p>hello", "content-type: text/html\r\n")),
    });
    await using store = await openObjectStore(LOCATION, optionsFor(`http://127.0.0.1:${server.port}`, SHORT));
    const list = async () => {
      for await (const _ of store.list("")) break;
    };
    expect(await messageOf(list())).toMatch(
      /its answer is none of S3: is ARTICLE_EXTRACTOR_S3_ENDPOINT right/,
    );
  });

  test("is told by a certificate that nobody trusts", async () => {
    const tls = await makeCertificate("127.0.0.1");
    await using server = await startRawServer({
      answer: (_, socket) => void socket.end(answer("200 OK")),
      tls,
    });
    await using store = await openObjectStore(
      LOCATION,
      optionsFor(`https://127.0.0.1:${server.port}`, SHORT),
    );
    expect(await messageOf(store.read("a"))).toMatch(
      /^invalid_settings: .* its certificate is not trusted \(\w+\); NODE_EXTRA_CA_CERTS/,
    );
    expect(server.requests).toEqual([]);
  });
});

test("an endpoint of https that speaks plain HTTP is told in one line", async () => {
  using server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("words") });
  const endpoint = `https://127.0.0.1:${server.port}`;
  await using store = await openObjectStore(LOCATION, optionsFor(endpoint, SHORT));
  expect(await messageOf(store.read("a"))).toMatch(/^invalid_settings: .*: it does not speak TLS: /);
});

describe("a bucket that is away", () => {
  test.each<[string, (socket: Socket) => void, RegExp]>([
    ["never answers", () => {}, /it does not answer|no answer in time/],
    ["breaks off", (socket) => socket.destroy(), /the connection broke off/],
    ["is overloaded", (socket) => socket.end(refusal("503 Slow", "SlowDown")), /HTTP 503 SlowDown/],
    ["fails", (socket) => socket.end(answer("500 Internal Server Error")), /HTTP 500/],
  ])("is asked again when it %s, and given up after a while", async (_, act, reason) => {
    const { read, write, requests } = await failuresWith(act);
    for (const message of [read, write]) {
      expect(message).toStartWith("store_unavailable: ");
      expect(message).toMatch(reason);
    }
    expect(requests).toBeGreaterThan(2);
  });

  test("is told when nothing listens", async () => {
    const server = await startRawServer({ answer: () => {} });
    const endpoint = `http://127.0.0.1:${server.port}`;
    await server[Symbol.asyncDispose]();
    await using store = await openObjectStore(LOCATION, optionsFor(endpoint, SHORT));
    expect(await messageOf(store.head("a"))).toMatch(/^store_unavailable: .*nothing listens there/);
  });

  test("is served when it comes back within the patience", async () => {
    const { read, write } = await failuresWith(
      (socket, number) =>
        socket.end(number <= 4 ? answer("503 Slow") : answer("200 OK", "words", 'etag: "1"\r\n')),
      { patienceMs: 60_000 },
    );
    expect(read).toStartWith("done:");
    expect(write).toStartWith('done: "1"');
  });

  test("is asked again for a body that broke off", async () => {
    const { read } = await failuresWith(
      (socket, number) =>
        socket.end(
          number === 1 ? "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwo" : answer("200 OK", "words"),
        ),
      { patienceMs: 60_000 },
    );
    expect(read).toBe(`done: ${[...Buffer.from("words")]}`);
  });

  test("is told by a stream that stands still", async () => {
    await using server = await startRawServer({
      answer: (_, socket) => void socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nwords"),
    });
    await using store = await openObjectStore(LOCATION, optionsFor(`http://127.0.0.1:${server.port}`, SHORT));
    const readAll = async () => {
      for await (const _ of (await store.stream("a")) ?? []);
    };
    expect(await messageOf(readAll())).toStartWith("store_unavailable: could not read s3://books/a/b/a");
  });

  test("is left at once by whoever calls off", async () => {
    const controller = new AbortController();
    await using server = await startRawServer({ answer: () => controller.abort() });
    const options = optionsFor(`http://127.0.0.1:${server.port}`);
    await using store = await openObjectStore(LOCATION, options);
    expect(await messageOf(store.put("a", "1", controller))).toMatch(/^cancelled: .*it was cancelled/);
  });
});

describe("settings that do not suffice", () => {
  test("are told without a region", async () => {
    await using store = await openObjectStore(LOCATION, {
      ...optionsFor(""),
      endpoint: null,
      region: null,
      profile: "none-of-this-name",
    });
    expect(await messageOf(store.read("a"))).toMatch(
      /^invalid_settings: .*(no region is set|no credentials)/,
    );
  });

  test("are told without credentials", async () => {
    await using store = await openObjectStore(
      LOCATION,
      optionsFor("http://127.0.0.1:9", { credentials: null, profile: "none-of-this-name" }),
    );
    expect(await messageOf(store.read("a"))).toMatch(/^invalid_settings: .*no credentials were found/);
  });

  test("name a bucket that is not there", async () => {
    const { options } = await makeBucket();
    await using store = await openObjectStore({ ...LOCATION, bucket: "nobody-made-this" }, options);
    expect(await messageOf(store.read("a"))).toMatch(/there is no such bucket/);
    expect(await messageOf(store.put("a", "1"))).toMatch(/there is no such bucket/);
  });
});

describe("a large object whose last answer is lost", () => {
  const PIECE = 5 * 1024 * 1024;
  const XML = "content-type: application/xml\r\n";
  /** Writes two pieces to a server that completes the upload, says so to nobody, and then holds an object of this size. */
  const writeTo = async (storedBytes: number) => {
    let completions = 0;
    await using server = await startRawServer({
      answer({ method, target }, socket) {
        const head = `HTTP/1.1 200 OK\r\netag: v7\r\ncontent-length: ${storedBytes}\r\nconnection: close\r\n\r\n`;
        if (method === "HEAD") socket.end(head);
        else if (method === "PUT") socket.end(answer("200 OK", "", "etag: part\r\n"));
        else if (method === "DELETE") socket.end(answer("204 No Content"));
        else if (target.includes("?uploads"))
          socket.end(answer("200 OK", "<R><UploadId>u1</UploadId></R>", XML));
        else if (completions++ === 0) socket.destroy();
        else socket.end(refusal("404 Not Found", "NoSuchUpload"));
      },
    });
    await using store = await openObjectStore(LOCATION, optionsFor(`http://127.0.0.1:${server.port}`));
    async function* pieces() {
      yield new Uint8Array(PIECE);
      yield new Uint8Array(PIECE);
    }
    const message = await messageOf(store.putStream("manifest.json", pieces()));
    return { message, calls: server.requests.map(({ method }) => method) };
  };

  test("is written, since it is there", async () => {
    const { message, calls } = await writeTo(2 * PIECE);
    expect(message).toBe("done: v7");
    expect(calls).not.toContain("DELETE");
  });

  test("is not written when another is there", async () => {
    expect((await writeTo(PIECE)).message).toMatch(/^unwritable_output: could not write .*NoSuchUpload/);
  });
});

test.each<[string, unknown]>([
  [
    "a code that nobody has listed",
    Object.assign(new Error("closed early"), { code: "ERR_STREAM_PREMATURE_CLOSE" }),
  ],
  ["no code", new TypeError("undefined is not an object")],
  ["no error", "closed"],
])("what the package throws with %s is the store's absence", (_, thrown) => {
  const failure = s3Failure(thrown, { bucket: "books", request: { verb: "read", key: "a" } });
  expect(failure).toBeInstanceOf(Away);
  expect(failure.message).toStartWith("could not read s3://books/a: the connection broke off");
});

test("a store that is away is told once, and once that it is back", async () => {
  const lines: string[] = [];
  const log: Log = createLog({ level: "info", format: "text", write: (line) => lines.push(line) });
  const { read } = await failuresWith(
    (socket, number) => socket.end(number <= 6 ? answer("503 Slow") : answer("200 OK", "words")),
    { patienceMs: 60_000, log },
  );
  expect(read).toStartWith("done:");
  expect(lines.map((line) => /store \w+/.exec(line)?.[0])).toEqual(["store away", "store back"]);
  expect(lines[0]).toContain("HTTP 503");
});

test("requests, bytes, repeats and errors are counted", async () => {
  const seen: Measurement[] = [];
  const metrics = createMetrics([(measurement) => seen.push(measurement)]);
  const sumOf = (name: string, verb?: string): number =>
    seen
      .filter((one) => one.name === name && (!verb || one.labels.verb === verb))
      .reduce((sum, { value }) => sum + value, 0);
  const { name: bucket, options } = await makeBucket();
  await using store = await openObjectStore({ kind: "s3", bucket, prefix: "" }, { ...options, metrics });
  await store.put("a", "four");
  await store.read("a");
  for await (const _ of (await store.stream("a")) ?? []);
  await store.delete("a");
  expect([sumOf("store_requests", "write"), sumOf("store_requests", "read")]).toEqual([1, 2]);
  expect([sumOf("store_sent_bytes"), sumOf("store_received_bytes")]).toEqual([4, 8]);
  expect([sumOf("store_retries"), sumOf("store_errors")]).toEqual([0, 0]);
  expect(sumOf("store_requests", "delete")).toBe(1);
  await failuresWith((socket) => socket.end(answer("503 Slow")), { metrics });
  expect(sumOf("store_retries")).toBeGreaterThan(2);
  expect(sumOf("store_errors")).toBeGreaterThan(1);
});
