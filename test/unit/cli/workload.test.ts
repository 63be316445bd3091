import { expect, test } from "bun:test";
import { workloadOf } from "../../../src/cli/workload.ts";

const of = (line: string) => workloadOf(line.split(" ").filter(Boolean));

test("one page is a page, however it is named", () => {
  for (const line of ["", "-", "http://a/", "extract http://a/", "--file a.html", "-q --output text -"])
    expect([line, of(line)]).toEqual([line, "page"]);
});

test("several pages, crawls, syncs, indexes and servers are long", () => {
  const lines = [
    "http://a/ http://b/",
    "http://a/ --file b.html",
    "--input-file list",
    "crawl http://a/ --output-dir out",
    "-q crawl http://a/",
    "sync --all",
    "index --dir docs",
    "serve extractor",
    "mcp",
  ];
  for (const line of lines) expect([line, of(line)]).toEqual([line, "long"]);
});

test("what is answered at once, or refused, is short", () => {
  const lines = [
    "--help",
    "crawl --help",
    "crawl help",
    "serve extractor --version",
    "crawl http://a/ --dry-run",
    "mcp --print-config zed",
    "search --dir docs gate",
    "doctor",
    "crawl --no-such-option",
  ];
  for (const line of lines) expect([line, of(line)]).toEqual([line, "short"]);
});
