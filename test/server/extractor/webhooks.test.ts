import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { documentedBlocks } from "../../support/documented.ts";
import {
  codeOf,
  type ExtractorProcess,
  isOver,
  type JobJson,
  startExtractor,
  submitJob,
  untilJob,
} from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { freePort } from "../../support/local.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";
import { temporaryDirectory } from "../../support/temporary.ts";
import { untilTrue } from "../../support/until.ts";

const SECRET = "whsec-0123456789-abcdef";
const ENV = { ARTICLE_EXTRACTOR_LOG_LEVEL: "debug", ARTICLE_EXTRACTOR_TIMEOUT: "1" };
const server = forAllTests(await startExtractor({ env: ENV }));
const site = forAllTests(serveNumberedSite({ pages: 30 }));

type Delivery = {
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: {
    readonly event: string;
    readonly id: string;
    readonly job_id: string;
    readonly time: string;
    readonly page?: { readonly url: string; readonly status: string };
    readonly job?: { readonly status: string; readonly successful: number };
  };
};

type Answer = Response | Promise<Response>;

/** Receives deliveries on loopback. @param answer to each request, by how many came before */
function startReceiver(answer: (earlier: number) => Answer = () => new Response(), port = 0) {
  const got: Delivery[] = [];
  const http = Bun.serve({
    hostname: "127.0.0.1",
    port,
    fetch: async (request) => {
      const text = await request.text();
      got.push({ headers: Object.fromEntries(request.headers), text, body: JSON.parse(text) });
      return await answer(got.length - 1);
    },
  });
  return {
    url: `${http.url.origin}/hook?token=t0ken-0f-the-receiver`,
    got,
    events: () => got.map(({ body }) => body.event),
    [Symbol.asyncDispose]: () => http.stop(true),
  };
}

type Job = JobJson & {
  readonly webhook: {
    readonly delivered: number;
    readonly failed: number;
    readonly dropped: number;
    readonly is_over: boolean;
    readonly last_error: { readonly code: string; readonly message: string } | null;
  };
};

const untilTold = async (from: ExtractorProcess, id: string) =>
  (await untilJob(from, id, (job) => isOver(job) && (job as Job).webhook.is_over)) as Job;

const batchOf = async (to: ExtractorProcess, webhook: object, pages = [1]): Promise<string> => {
  const urls = pages.map((page) => `${site.origin}/p/${page}`);
  const response = await to.post("/batch", { urls, webhook });
  expect(response.status).toBe(202);
  return ((await response.json()) as JobJson).job_id;
};

describe("a webhook", () => {
  test("is told of the job's events in their order, each with an id, a time and a signature", async () => {
    await using receiver = startReceiver();
    const seeds = [`${site.origin}/p/1`, `${site.origin}/p/2`];
    const id = await submitJob(server, {
      seeds,
      max_depth: 0,
      webhook: { url: receiver.url, secret: SECRET },
    });
    const { webhook } = await untilTold(server, id);
    expect(webhook).toEqual({ delivered: 4, failed: 0, dropped: 0, is_over: true, last_error: null });
    expect(receiver.events()).toEqual(["started", "page", "page", "completed"]);
    expect(receiver.got.flatMap(({ body }) => body.page?.url ?? []).sort()).toEqual(seeds);
    const numbers = receiver.got.map(({ body }) => Number(body.id.slice(id.length + 1)));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(receiver.got.at(-1)?.body.job).toMatchObject({ status: "completed", successful: 2 });
    expect(new Set(receiver.got.map(({ headers }) => headers["x-webhook-id"])).size).toBe(4);
    for (const { headers, text, body } of receiver.got) {
      expect(body.job_id).toBe(id);
      expect(headers["x-webhook-id"]).toBe(body.id);
      expect(headers["content-type"]).toBe("application/json");
      expect(headers["user-agent"]).toStartWith("article-extractor/");
      expect(Math.abs(Date.parse(body.time) - Date.now())).toBeLessThan(60_000);
      const [, time = "", given = ""] =
        /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers["x-webhook-signature"] ?? "") ?? [];
      expect(await hmac(SECRET, `${time}.${text}`)).toBe(given);
      expect(await hmac("whsec-of-somebody-else", `${time}.${text}`)).not.toBe(given);
    }
  });

  test("is verified by the examples of the documentation, in Python and JavaScript", async () => {
    await using receiver = startReceiver();
    using directory = temporaryDirectory();
    const id = await batchOf(server, { url: receiver.url, secret: SECRET, events: ["completed"] });
    await untilTold(server, id);
    const { text, headers } = receiver.got[0] as Delivery;
    const signature = headers["x-webhook-signature"] ?? "";
    const blocks = await documentedBlocks("docs/how-to/webhooks.md");
    const script = (name: string) =>
      blocks.find(({ text }) => text.split("\n", 1)[0]?.endsWith(` ${name}`))?.text ?? "";
    const path = join(directory.path, "verify.mjs");
    await Bun.write(path, script("verify.mjs"));
    const { isGenuine } = await import(path);
    const python = `${script("verify.py")}\nimport sys\nprint(is_genuine(sys.argv[1].encode(), sys.argv[2], sys.argv[3]))`;
    const inPython = (...words: string[]) =>
      Bun.spawnSync(["python3", "-c", python, ...words])
        .stdout.toString()
        .trim() === "True";
    for (const isRight of [(...words: string[]) => isGenuine(...words), inPython]) {
      expect(isRight(text, signature, SECRET)).toBe(true);
      expect(isRight(`${text} `, signature, SECRET)).toBe(false);
      expect(isRight(text, signature, `${SECRET}x`)).toBe(false);
      expect(isRight(text, signature.replace("t=1", "t=0"), SECRET)).toBe(false);
    }
  });

  test("is told only the events that it wants, unsigned without a secret", async () => {
    await using receiver = startReceiver();
    const id = await batchOf(server, { url: receiver.url, events: ["completed", "failed"] }, [1, 2]);
    await untilTold(server, id);
    expect(receiver.events()).toEqual(["completed"]);
    expect(receiver.got[0]?.headers).not.toHaveProperty("x-webhook-signature");
  });

  test("is told that a job was cancelled, while it waits too", async () => {
    await using receiver = startReceiver();
    await using slow = serveNumberedSite({ pages: 30, until: () => new Promise(() => {}) });
    const body = {
      seeds: [`${slow.origin}/`],
      webhook: { url: receiver.url, events: ["cancelled", "failed"] },
    };
    const ids = await Promise.all([0, 1, 2].map(() => submitJob(server, body)));
    for (const id of ids) await server.get(`/crawl/${id}`, { method: "DELETE" });
    for (const id of ids) await untilTold(server, id);
    expect(receiver.events()).toEqual(["cancelled", "cancelled", "cancelled"]);
  });

  test("that answers 500, 429 and 408 is asked again, with the same id and body, and holds no job up", async () => {
    const answers = [
      new Response("no", { status: 500 }),
      new Response("", { status: 429, headers: { "retry-after": "2" } }),
      new Response("", { status: 408 }),
    ];
    const times: number[] = [];
    await using receiver = startReceiver((earlier) => {
      times.push(performance.now());
      return answers[earlier] ?? new Response();
    });
    const id = await batchOf(server, { url: receiver.url, events: ["page"] });
    await untilJob(server, id, isOver);
    const { webhook } = await untilTold(server, id);
    expect(webhook).toMatchObject({ delivered: 1, failed: 0, last_error: { code: "http_status" } });
    expect(new Set(receiver.got.map(({ text }) => text)).size).toBe(1);
    expect(new Set(receiver.got.map(({ headers }) => headers["x-webhook-id"])).size).toBe(1);
    expect(times).toHaveLength(4);
    expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThan(1900);
  });

  test("that answers 400 or redirects is not asked again, nor is the redirect followed", async () => {
    await using elsewhere = startReceiver();
    await using receiver = startReceiver((earlier) =>
      earlier === 0
        ? new Response("", { status: 400 })
        : new Response("", { status: 307, headers: { location: elsewhere.url } }),
    );
    const id = await batchOf(server, { url: receiver.url, events: ["started", "page"] });
    expect((await untilTold(server, id)).webhook).toMatchObject({
      delivered: 0,
      failed: 2,
      last_error: { code: "http_status", message: "the receiver answered HTTP 307" },
    });
    expect(receiver.events()).toEqual(["started", "page"]);
    expect(elsewhere.got).toEqual([]);
  });

  test("that hangs is given a limited time, and then asked again", async () => {
    await using receiver = startReceiver((earlier) =>
      earlier === 0 ? new Promise(() => {}) : new Response(),
    );
    const id = await batchOf(server, { url: receiver.url, events: ["completed"] });
    expect((await untilTold(server, id)).webhook).toMatchObject({
      delivered: 1,
      last_error: { code: "timeout" },
    });
    expect(receiver.events()).toEqual(["completed", "completed"]);
  });

  test("that may not be reached by the caller is refused", async () => {
    const webhook = { url: "http://127.0.0.1:9/hook", secret: SECRET };
    const body = { urls: ["https://example.org/"], webhook };
    const response = await server.post("/batch", body, { "x-forwarded-for": "203.0.113.7" });
    expect(response.status).toBe(403);
    expect(await codeOf(response)).toBe("egress_refused");
  });

  test("that is away is told after the server was killed and started again", async () => {
    using directory = temporaryDirectory();
    const port = freePort();
    const options = { directory: directory.path, env: ENV };
    const url = `http://127.0.0.1:${port}/hook`;
    let id: string;
    {
      await using first = await startExtractor(options);
      id = await batchOf(first, { url, secret: SECRET }, [1, 2, 3]);
      await untilJob(first, id, (job) => isOver(job) && (job as Job).webhook.last_error?.code === "network");
      first.signal("SIGKILL");
      await first.exited;
    }
    await using receiver = startReceiver(undefined, port);
    await using second = await startExtractor(options);
    expect((await untilTold(second, id)).webhook).toMatchObject({ delivered: 5, failed: 0 });
    expect(receiver.events()).toEqual(["started", "page", "page", "page", "completed"]);
  });
});

test("the secret and the address of a webhook stand in no answer, event, manifest or line of the log", async () => {
  using directory = temporaryDirectory();
  await using receiver = startReceiver((earlier) => new Response("", { status: earlier < 2 ? 503 : 403 }));
  await using own = await startExtractor({ directory: directory.path, env: ENV });
  const url = receiver.url.replace("//", "//user:passw0rd-of-it@");
  const id = await batchOf(own, { url, secret: SECRET });
  await untilTold(own, id);
  expect(atob((receiver.got[0]?.headers.authorization ?? "").replace("Basic ", ""))).toBe(
    "user:passw0rd-of-it",
  );
  const answers: string[] = [];
  for (const path of ["", "/events", "/manifest", "/pages", "/outcomes", "/download?format=jsonl"])
    answers.push(await (await own.get(`/crawl/${id}${path}`)).text());
  answers.push(await (await own.get("/crawl")).text(), await (await own.get("/metrics")).text());
  for (const event of receiver.got) answers.push(event.text);
  const wrong = await own.post("/batch", {
    urls: ["http://a.example/"],
    webhook: { url: `x${url}`, secret: SECRET },
  });
  answers.push(await wrong.text());
  await untilTrue(() => own.lines('"webhook not delivered"').length > 0);
  for (const secret of [SECRET, "t0ken-0f-the-receiver", "passw0rd-of-it"]) {
    expect(own.lines(secret)).toEqual([]);
    for (const answer of answers) expect(answer).not.toContain(secret);
    // After the last event nothing of it is left in the state either.
    const state = join(directory.path, "state");
    await untilTrue(() => filesBelow(state).every((path) => !readFileSync(path).includes(secret)));
  }
});

test.each<[name: string, webhook: object, path: string]>([
  ["a URL that is none", { url: "hook" }, "webhook.url"],
  ["a URL of another scheme", { url: "ftp://a.example/" }, "webhook.url"],
  ["a URL that is too long", { url: `http://a.example/${"x".repeat(8192)}` }, "webhook.url"],
  ["a short secret", { url: "http://a.example/", secret: "x".repeat(15) }, "webhook.secret"],
  ["a long secret", { url: "http://a.example/", secret: "x".repeat(257) }, "webhook.secret"],
  ["no events", { url: "http://a.example/", events: [] }, "webhook.events"],
  ["an unknown event", { url: "http://a.example/", events: ["done"] }, "webhook.events.0"],
  ["no URL", { secret: SECRET }, "webhook.url"],
])("a webhook with %s is refused", async (_, webhook, path) => {
  for (const [route, body] of [
    ["/batch", { urls: [site.origin] }],
    ["/crawl", { seeds: [site.origin] }],
  ] as const) {
    const response = await server.post(route, { ...body, webhook });
    expect(response.status).toBe(422);
    const { errors } = (await response.json()) as { errors: { path: string }[] };
    expect(errors[0]?.path).toBe(path);
  }
});

async function hmac(secret: string, text: string): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text))).toHex();
}

const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
