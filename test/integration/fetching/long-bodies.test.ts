import { describe, expect, test } from "bun:test";
import { serveLocal } from "../../support/local.ts";
import { failureOf, pageUrl, testFetcher } from "../../support/test-fetcher.ts";

describe("a long body of a type that says nothing", () => {
  const LIMIT = 5_000_000;
  const fetching = async (byte: number, headers: Readonly<Record<string, string>> = {}) => {
    let sent = 0;
    await using server = serveLocal(
      () =>
        new Response(
          new ReadableStream<Uint8Array>({
            pull(controller) {
              if (sent >= 200_000_000) return controller.close();
              controller.enqueue(new Uint8Array(50_000).fill(byte));
              sent += 50_000;
            },
          }),
          { headers: { "content-type": "application/octet-stream", ...headers } },
        ),
    );
    const fetcher = testFetcher({ limits: { pageBytes: LIMIT } });
    const failure = await failureOf(fetcher.fetch(pageUrl(`http://127.0.0.1:${server.port}/`)));
    return { failure, sent: () => sent };
  };

  test("is refused when its beginning is no text", async () => {
    const { failure, sent } = await fetching(0);
    expect(failure?.code).toBe("unsupported_content");
    expect(sent()).toBeLessThan(200_000_000);
  });

  test("is read up to the limit when it begins as text", async () => {
    expect((await fetching(97)).failure?.code).toBe("too_large");
  });

  test("is not checked before it is decompressed", async () => {
    const { failure } = await fetching(0, { "content-encoding": "gzip" });
    expect(failure?.code).not.toBe("unsupported_content");
  });
});
