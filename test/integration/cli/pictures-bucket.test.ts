import { expect, test } from "bun:test";
import { openObjectStore } from "../../../src/scale/objects/open.ts";
import { environmentFor, makeBucket } from "../../support/bucket.ts";
import { runCommand } from "../../support/command.ts";
import { serveCrawlSite } from "../../support/crawl-site.ts";

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
const PNG = Buffer.from("\x89PNG\r\n\x1a\nmill", "latin1");

test("a crawl puts pictures into a bucket, from where no browser runs their scripts", async () => {
  const { name: bucket, options } = await makeBucket();
  const words = "The wheel of the mill turns slowly and the water falls over the weir all day long. ".repeat(
    8,
  );
  await using site = serveCrawlSite({
    "/": `<!doctype html><title>Mill</title><article><h1>Mill</h1><p>${words}</p>
<img src="/mill.png" alt="Mill"><p>${words}</p><img src="/drawing.svg" alt="Drawing"></article>`,
    "/mill.png": () => new Response(PNG, { headers: { "content-type": "text/html" } }),
    "/drawing.svg": () => new Response(SVG, { headers: { "content-type": "text/plain" } }),
  });
  const run = ["crawl", `${site.origin}/`, "--no-browser", "--rate-limit", "0", "--save-images"];
  const env = environmentFor(options);
  for (const _ of ["first", "again"]) {
    const { exitCode, stderr } = await runCommand([...run, "--output-dir", `s3://${bucket}/a`], { env });
    expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
  }
  for (const path of ["/mill.png", "/drawing.svg"])
    expect(site.visits.filter((visit) => visit.path === path).length).toBe(1);
  await using store = await openObjectStore({ kind: "s3", bucket, prefix: "a" }, options);
  const keys: string[] = [];
  for await (const { key } of store.list("images/")) keys.push(key);
  expect(keys.length).toBe(2);
  const headers = await Promise.all(
    keys.map(async (key) => {
      const signed = { authorization: AUTHORIZATION };
      const answer = await fetch(`${options.endpoint}/${bucket}/a/${key}`, { headers: signed });
      return `${answer.headers.get("content-type")} ${answer.headers.get("content-disposition")} ${await answer.text()}`;
    }),
  );
  expect(headers.sort()).toEqual([
    `image/png null ${PNG.toString("utf8")}`,
    `image/svg+xml attachment ${SVG}`,
  ]);
});

const AUTHORIZATION =
  "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
