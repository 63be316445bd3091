import { describe, expect, test } from "bun:test";
import { folderOf, parseStoreUrl } from "../../../src/base/objects.ts";

const LONG = "b".repeat(63);

describe("the URL of a store", () => {
  test.each([
    ["s3://books", { kind: "s3", bucket: "books", prefix: "" }],
    ["s3://books/", { kind: "s3", bucket: "books", prefix: "" }],
    [" S3://my.books-1/a/b/ ", { kind: "s3", bucket: "my.books-1", prefix: "a/b" }],
    ["s3://books/a b/é漢🙂/50%2F?x#y", { kind: "s3", bucket: "books", prefix: "a b/é漢🙂/50%2F?x#y" }],
    [`s3://${LONG}/${LONG.repeat(7)}`, { kind: "s3", bucket: LONG, prefix: LONG.repeat(7) }],
    [`s3://books/${"p".repeat(500)}`, { kind: "s3", bucket: "books", prefix: "p".repeat(500) }],
    ["file:///", { kind: "directory", path: "/" }],
    ["file:///srv/pages/", { kind: "directory", path: "/srv/pages" }],
    ["file://localhost/a%20b/%C3%A9", { kind: "directory", path: "/a b/é" }],
  ])("%j is read", (text, location) => {
    expect(parseStoreUrl(text)).toEqual(location as ReturnType<typeof parseStoreUrl>);
  });

  test.each([
    ["", /not the URL of a store/],
    ["s3:", /not the URL of a store/],
    ["s3:/books", /not the URL of a store/],
    [
      "https://s3.example/books",
      /not the URL of a store: it must be s3:\/\/bucket\/prefix or file:\/\/\/path/,
    ],
    ["/srv/pages", /not the URL of a store/],
    ["s3://", /"" in "s3:\/\/" is not a bucket name/],
    ["s3:///prefix", /not a bucket name/],
    ["s3://ab", /not a bucket name/],
    ["s3://-books", /not a bucket name/],
    ["s3://büch", /not a bucket name/],
    ["s3://books:9000/a", /not a bucket name/],
    ["s3://books//a", /it begins with a slash/],
    ["s3://books/a//b", /it has an empty part/],
    ["s3://books/a/../b", /it has the part \.\./],
    ["s3://books/..", /it has the part \.\./],
    ["s3://books/./a", /it has the part \./],
    ["s3://books/a\nb", /no URL of a store|control character/],
    ["s3://books/a\\b", /control character or a backslash/],
    [`s3://books/${"é".repeat(251)}`, /more than 500 bytes/],
    ["file://", /names no absolute path/],
    ["file:relative", /not the URL of a store/],
    ["file://other-host/a", /names no absolute path/],
    ["file:///a%00b", /control character/],
    ["file:///a%ff", /not UTF-8/],
  ])("%j is refused in one line", (text, message) => {
    const failure = failureOf(() => parseStoreUrl(text));
    expect(failure.code).toBe("invalid_usage");
    expect(failure.message).toMatch(message);
    expect(failure.message).not.toContain("\n");
  });

  test("is refused with credentials, which are not repeated", () => {
    const failure = failureOf(() => parseStoreUrl("s3://AKIAKEY:verysecret@books/a"));
    expect(failure.message).toMatch(/takes no credentials/);
    expect(failure.message).not.toMatch(/AKIAKEY|verysecret/);
  });
});

test("a folder below a store takes no path that leads out", () => {
  const store = { url: "s3://books" } as Parameters<typeof folderOf>[0]; // nothing else is looked at
  expect(folderOf(store, "")).toBe(store);
  expect(folderOf(store, "jobs/a").url).toBe("s3://books/jobs/a");
  const upwards = ["..", "../x", "a/..", "a/../../x", "a\\..\\b"];
  for (const path of [...upwards, "/etc", "a//b", ".", "a/", "\0", "p".repeat(501)])
    expect(failureOf(() => folderOf(store, path)).code).toBe("invalid_usage");
});

function failureOf(run: () => unknown): { readonly code: string; readonly message: string } {
  try {
    run();
  } catch (error) {
    return error as { readonly code: string; readonly message: string };
  }
  throw new Error("nothing was refused");
}
