import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { cleanEnvironment } from "../../support/binary.ts";
import { runCommand } from "../../support/command.ts";
import { type CrawlRoute, redirect, serveCrawlSite } from "../../support/crawl-site.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { outputOf } from "../../support/local.ts";
import { temporaryDirectory } from "../../support/temporary.ts";

const WORDS = "The wheel of the mill turns slowly and the water falls over the weir all day long. ".repeat(4);
const pageOf = (title: string, pictures: readonly string[], links: readonly string[] = []): string =>
  `<!doctype html><html><head><title>${title}</title></head><body><article><h1>${title}</h1><p>${WORDS}</p>
${pictures.map((src) => `<figure><img src="${src}" alt="Picture ${src}"></figure><p>${WORDS}</p>`).join("\n")}
<p>See ${links.map((link) => `<a href="${link}">${link}</a>`).join(", ")}.</p></article></body></html>`;

const PNG = "\x89PNG\r\n\x1a\n";
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
const picture =
  (text: string, type = "image/png", status = 200): CrawlRoute =>
  () =>
    new Response(Buffer.from(text, "latin1"), { status, headers: { "content-type": type } });

/** Larger than what stands in for a picture that is loaded later. */
const INLINE = `data:image/png;base64,${btoa(`${PNG}${"inline ".repeat(200)}`)}`;

const ALL = [
  ...["/mill.png", "/drawing.svg", "/page.png", "/large.png", "/missing.png", "/moved.png", "/copy.png"],
  "/private/kept.png",
];
const PICTURES: Readonly<Record<string, CrawlRoute>> = {
  "/mill.png": picture(`${PNG}mill`),
  "/copy.png": picture(`${PNG}mill`, "text/html"),
  "/drawing.svg": picture(SVG, "image/svg+xml"),
  "/page.png": picture("<!doctype html><p>No picture</p>"),
  "/large.png": picture(PNG + "x".repeat(30_000)),
  "/missing.png": picture(`${PNG}missing`, "image/png", 404),
  "/moved.png": () => redirect("/weir.png"),
  "/weir.png": picture(`${PNG}weir`),
  "/private/kept.png": picture(`${PNG}kept`),
  "/away.png": () => redirect("/private/kept.png"),
};

const site = forAllTests(
  serveCrawlSite({
    ...PICTURES,
    "/": pageOf("Mill", ALL, ["/second"]),
    "/second": pageOf("Second", ["/mill.png", "/away.png"]),
    "/inline": pageOf("Inline", [
      INLINE,
      "/mill.png",
      INLINE.replace("png", "gif"),
      INLINE.replace(/.{8}$/, ""),
    ]),
    "/notes.md": () =>
      new Response(`# Notes\n\n${WORDS}\n\n![A](data:image/png;base64,${btoa(`${PNG}inline`)})\n\n${WORDS}`, {
        headers: { "content-type": "text/markdown" },
      }),
    "/robots.txt": () => new Response("User-agent: *\nDisallow: /private/\n"),
  }),
);

/** The paths that the site was asked for in some work, without pages. */
async function asked(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = site.visits.length;
  await work();
  return site.visits.slice(before).flatMap(({ path }) => (path in PICTURES ? [path] : []));
}

const COMMON = ["--no-browser", "--retries", "0", "--max-bytes", "20k"];
const extract = (cwd: string, ...words: string[]) => runCommand(["extract", ...COMMON, ...words], { cwd });
const crawl = (cwd: string, ...words: string[]) =>
  runCommand(
    ["crawl", `${site.origin}/`, ...COMMON, "--rate-limit", "0", "-f", ...words].filter(
      (word) => word !== "-f",
    ),
    { cwd },
  );

const filesIn = (directory: string): readonly string[] =>
  readdirSync(directory)
    .filter((name) => name !== "index.jsonl")
    .sort();
/** What each picture of some Markdown leads to: the text of a file, or its address. */
async function seen(file: string): Promise<readonly string[]> {
  const markdown = await Bun.file(file).text();
  const targets = [...markdown.matchAll(/!\[[^\]]*\]\(([^)\s]+)\)/g)].map((match) => match[1]!);
  return await Promise.all(
    targets.map(async (target) => {
      if (/^https?:/.test(target)) return target.replace(site.origin, "");
      const bytes = await Bun.file(join(file, "..", decodeURIComponent(target))).bytes();
      return Buffer.from(bytes).toString("latin1").replace(PNG, "PNG ");
    }),
  );
}

test("extract saves the pictures of an article once, and leads its Markdown to them", async () => {
  using place = temporaryDirectory();
  let stderr = "";
  const paths = await asked(async () => {
    const run = await extract(place.path, `${site.origin}/`, "--save-images", "-o", "page.md");
    expect(run.exitCode).toBe(0);
    stderr = run.stderr;
  });
  expect([...paths].sort()).toEqual([...ALL, "/weir.png"].sort());
  expect(await seen(join(place.path, "page.md"))).toEqual([
    ...["PNG mill", SVG, "/page.png", "/large.png", "/missing.png", "PNG weir", "PNG mill", "PNG kept"],
  ]);
  expect(filesIn(join(place.path, "images")).map((name) => name.replace(/^[\da-f]{16}\./, ""))).toEqual(
    expect.arrayContaining(["png", "png", "png", "svg"]),
  );
  expect(stderr).toMatch(/^warning: images: 3 of 8 not saved: .*$/m);
  for (const reason of ["1 no picture", "1 too large", "1 HTTP 404"]) expect(stderr).toContain(reason);
});

test("extract leads from the folder of a list, also from one behind a link, and takes pictures out of addresses", async () => {
  using place = temporaryDirectory();
  await mkdir(join(place.path, "deep", "er"), { recursive: true });
  await symlink(join(place.path, "deep", "er"), join(place.path, "pages"));
  const urls = [`${site.origin}/second`, `${site.origin}/notes.md`];
  const paths = await asked(async () => {
    const run = await extract(place.path, ...urls, "--save-images", "--output-dir", "pages");
    expect(run.exitCode).toBe(0);
  });
  expect([...paths].sort()).toEqual(["/away.png", "/mill.png", "/private/kept.png"]);
  const pages = readdirSync(join(place.path, "deep", "er")).filter((name) => name.endsWith(".md"));
  const all = await Promise.all(pages.map((name) => seen(join(place.path, "deep", "er", name))));
  expect(all.flat().sort()).toEqual(["PNG inline", "PNG kept", "PNG mill"]);
});

test("extract saves pictures where a link leads to, and beside a file whose name is not UTF-8", async () => {
  using place = temporaryDirectory();
  await mkdir(join(place.path, "deep"));
  await Bun.write(join(place.path, "deep", "old.md"), "old");
  await symlink(join("deep", "old.md"), join(place.path, "page.md"));
  const url = `${site.origin}/second`;
  expect((await extract(place.path, url, "--save-images", "-o", "page.md")).exitCode).toBe(0);
  expect(await seen(join(place.path, "deep", "old.md"))).toEqual(["PNG mill", "PNG kept"]);
  expect((await extract(place.path, url, "--save-images", "-o", "b\udcff.md")).exitCode).toBe(0);
  expect(filesIn(join(place.path, "images")).length).toBe(2);
  expect((await extract(place.path, url, "--save-images", "--output-dir", "b\udcff")).stderr).toContain(
    "a directory whose name is UTF-8",
  );
});

test("pictures in the addresses of an HTML page are saved as others are, and go without the option", async () => {
  using place = temporaryDirectory();
  const url = `${site.origin}/inline`;
  const inline = `PNG ${"inline ".repeat(200)}`;
  expect((await extract(place.path, url, "-o", "page.md")).exitCode).toBe(0);
  expect(await seen(join(place.path, "page.md"))).toEqual(["/mill.png"]);
  expect((await extract(place.path, url, "--save-images", "-o", "page.md")).exitCode).toBe(0);
  const expected = [inline, "PNG mill", inline, inline.slice(0, -4)];
  expect(await seen(join(place.path, "page.md"))).toEqual(expected);
  expect(filesIn(join(place.path, "images")).length).toBe(3);
  const words = ["crawl", url, ...COMMON, "--rate-limit", "0", "--max-pages", "1", "--output-dir", "out"];
  expect((await runCommand([...words, "--save-images"], { cwd: place.path })).exitCode).toBe(0);
  const [page = ""] = readdirSync(join(place.path, "out")).filter((name) => name.endsWith(".md"));
  expect(await seen(join(place.path, "out", page))).toEqual(expected);
});

test("extract sends the headers of a page to its own origin only", async () => {
  await using other = serveCrawlSite(PICTURES);
  await using own = serveCrawlSite({
    "/": pageOf("Mill", ["/mill.png", `${other.origin}/weir.png`]),
    ...PICTURES,
  });
  using place = temporaryDirectory();
  const url = own.origin.replace("//", "//user:secret@");
  const words = ["--header", "X-Token: s3cret", "--save-images", "-o", "page.md"];
  expect((await extract(place.path, `${url}/`, ...words)).exitCode).toBe(0);
  const secrets = ({ visits }: typeof own) => visits.at(-1)?.headers;
  expect(secrets(own)).toMatchObject({ "x-token": "s3cret", authorization: `Basic ${btoa("user:secret")}` });
  expect(Object.keys(secrets(other) ?? {})).not.toContain("authorization");
  expect(Object.keys(secrets(other) ?? {})).not.toContain("x-token");
});

test("the egress policy holds for pictures", async () => {
  await using other = serveCrawlSite(PICTURES, "127.0.0.2");
  await using own = serveCrawlSite({ "/": pageOf("Mill", [`${other.origin}/mill.png`]) });
  using place = temporaryDirectory();
  const words = ["--egress", "127.0.0.1", "--save-images", "-o", "page.md"];
  const run = await extract(place.path, `${own.origin}/`, ...words);
  expect([run.exitCode, other.visits.length]).toEqual([0, 0]);
  expect(run.stderr).toContain("images: 1 of 1 not saved: 1 egress refused");
});

test("a crawl saves the pictures of its pages as robots.txt lets it, and asks for none again", async () => {
  using place = temporaryDirectory();
  const out = join(place.path, "out");
  const run = async (...words: string[]) =>
    await asked(async () =>
      expect((await crawl(place.path, "--output-dir", "out", ...words)).exitCode).toBe(0),
    );
  const known = ["/copy.png", "/drawing.svg", "/mill.png", "/moved.png", "/weir.png"];
  const failing = ["/away.png", "/large.png", "/missing.png", "/page.png"];
  expect(await run()).toEqual([]);
  // A crawl that is over takes up the option.
  expect([...(await run("--save-images"))].sort()).toEqual([...known, ...failing].sort());
  const pages = readdirSync(out).filter((name) => name.endsWith(".md"));
  const all = (await Promise.all(pages.map((name) => seen(join(out, name))))).flat().sort();
  const kept = ["/away.png", "/large.png", "/missing.png", "/page.png", "/private/kept.png"];
  expect(all).toEqual([...kept, SVG, "PNG mill", "PNG mill", "PNG mill", "PNG weir"].sort());
  const manifest = await Bun.file(join(out, "manifest.json")).json();
  const warnings = manifest.results.flatMap((entry: { warnings: string[] }) => entry.warnings ?? []);
  expect(warnings.join("\n")).toContain("1 kept back by robots.txt");
  expect([...(await run("--save-images"))].sort()).toEqual(failing);
  await rm(join(out, "images"), { recursive: true });
  expect([...(await run("--save-images"))].sort()).toEqual([...known, ...failing].sort());
});

test("a crawl puts pictures into a store beside its pages, and asks for none again, on another machine too", async () => {
  using place = temporaryDirectory();
  const store = join(place.path, "store");
  const pagesOf = () => readdirSync(store).filter((name) => name.endsWith(".md"));
  const run = async (machine: string, ...words: string[]) =>
    await asked(async () => {
      await mkdir(join(place.path, machine), { recursive: true });
      const all = ["crawl", `${site.origin}/`, ...COMMON, "--rate-limit", "0", "--save-images", ...words];
      const env = { ARTICLE_EXTRACTOR_STATE_DIR: join(place.path, machine) };
      const options = { cwd: join(place.path, machine), env };
      const { exitCode, stderr } = await runCommand([...all, "--output-dir", `file://${store}`], options);
      expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
    });
  const known = ["/copy.png", "/drawing.svg", "/mill.png", "/moved.png", "/weir.png"];
  const failing = ["/away.png", "/large.png", "/missing.png", "/page.png"];
  expect([...(await run("a"))].sort()).toEqual([...known, ...failing].sort());
  const all = (await Promise.all(pagesOf().map((name) => seen(join(store, name))))).flat().sort();
  const kept = ["/away.png", "/large.png", "/missing.png", "/page.png", "/private/kept.png"];
  expect(all).toEqual([...kept, SVG, "PNG mill", "PNG mill", "PNG mill", "PNG weir"].sort());
  expect(filesIn(join(store, "images")).length).toBe(3);
  expect([...(await run("a"))].sort()).toEqual(failing);
  expect([...(await run("b"))].sort()).toEqual(failing);
  // What was written in the place of a name leads nowhere.
  const addresses = join(store, ".article-extractor", "pictures");
  for (const name of readdirSync(addresses)) await Bun.write(join(addresses, name), "../../etc/passwd");
  expect([...(await run("b"))].sort()).toEqual([...known, ...failing].sort());
  await rm(join(store, "images"), { recursive: true });
  // The copy's file is there again with the original.
  expect([...(await run("b"))].sort()).toEqual([...known.slice(1), ...failing].sort());
  expect([...(await run("b", "--fresh"))].sort()).toEqual([...known, ...failing].sort());
});

test("a crawl asks for pictures in the turns of their host", async () => {
  using place = temporaryDirectory();
  const before = site.visits.length;
  const words = ["--rate-limit", "0.05", "--max-pages", "1", "--save-images", "--output-dir", "out"];
  expect((await crawl(place.path, ...words)).exitCode).toBe(0);
  const times = site.visits.slice(before).map(({ at }) => at);
  const pauses = times.slice(1).map((at, index) => at - times[index]!);
  expect(pauses.length).toBeGreaterThan(7);
  // A timer may be early by a millisecond.
  expect(Math.min(...pauses)).toBeGreaterThan(45);
});

test("a crawl leaves a host alone that refuses a picture, and then asks again", async () => {
  using place = temporaryDirectory();
  const refused = () => new Response("later", { status: 429, headers: { "retry-after": "1" } });
  await using busy = serveCrawlSite({
    "/": pageOf("Mill", ["/mill.png"]),
    "/mill.png": (_, times) => (times === 1 ? refused() : new Response(Buffer.from(`${PNG}mill`, "latin1"))),
  });
  const words = ["--rate-limit", "0", "--no-browser", "--save-images", "--output-dir", "out"];
  expect((await runCommand(["crawl", `${busy.origin}/`, ...words], { cwd: place.path })).exitCode).toBe(0);
  const [first = 0, second = 0] = busy.visits.filter(({ path }) => path === "/mill.png").map(({ at }) => at);
  expect(second - first).toBeGreaterThan(990);
  expect(readdirSync(join(place.path, "out", "images")).some((name) => name.endsWith(".png"))).toBe(true);
});

test("a crawl asks again for a picture whose answer breaks off", async () => {
  using place = temporaryDirectory();
  await using breaking = serveCrawlSite({
    "/": pageOf("Mill", ["/mill.png"]),
    "/mill.png": (_, times) => {
      if (times === 1)
        return new Response(new ReadableStream({ pull: (stream) => stream.error(new Error("gone")) }));
      return new Response(Buffer.from(`${PNG}mill`, "latin1"));
    },
  });
  const words = ["--rate-limit", "0", "--no-browser", "--save-images", "--output-dir", "out"];
  expect((await runCommand(["crawl", `${breaking.origin}/`, ...words], { cwd: place.path })).exitCode).toBe(
    0,
  );
  expect(breaking.visits.filter(({ path }) => path === "/mill.png").length).toBe(2);
  expect(readdirSync(join(place.path, "out", "images")).some((name) => name.endsWith(".png"))).toBe(true);
});

test("a crawl that was killed does not ask again for the pictures that it has", async () => {
  using place = temporaryDirectory();
  const entered = Promise.withResolvers<void>();
  let holds = true;
  await using slow = serveCrawlSite({
    "/": pageOf("Mill", ["/mill.png", "/weir.png"]),
    "/mill.png": PICTURES["/mill.png"]!,
    "/weir.png": async (visit, times) => {
      entered.resolve();
      if (holds) await new Promise(() => {});
      const route = PICTURES["/weir.png"] as Exclude<CrawlRoute, string>;
      return route(visit, times);
    },
  });
  const program = [process.execPath, join(import.meta.dir, "../../../bin/article-extractor.ts")];
  const start = () =>
    Bun.spawn(
      [
        ...program,
        "crawl",
        `${slow.origin}/`,
        "--no-browser",
        "--rate-limit",
        "0",
        "--save-images",
        "--output-dir",
        "out",
      ],
      {
        cwd: place.path,
        env: cleanEnvironment({}),
        stdout: "pipe",
        stderr: "pipe",
      },
    );
  const first = start();
  await entered.promise;
  first.kill("SIGKILL");
  await first.exited;
  holds = false;
  expect((await outputOf(start())).exitCode).toBe(0);
  const count = (path: string) => slow.visits.filter((visit) => visit.path === path).length;
  expect([count("/mill.png"), count("/weir.png")]).toEqual([1, 2]);
  const out = join(place.path, "out");
  const [page = ""] = readdirSync(out).filter((name) => name.endsWith(".md"));
  expect(await seen(join(out, page))).toEqual(["PNG mill", "PNG weir"]);
  expect(filesIn(join(out, "images")).every((name) => /^[\da-f]{16}\.png$/.test(name))).toBe(true);
});

test("pictures are refused where there is no Markdown beside which they are", async () => {
  using place = temporaryDirectory();
  const said = async (run: Promise<{ exitCode: number | null; stderr: string }>) => {
    const { exitCode, stderr } = await run;
    return `${exitCode} ${stderr.split("\n")[0]}`;
  };
  const url = `${site.origin}/`;
  expect(await said(extract(place.path, url, "--save-images", "-o", "a.json"))).toStartWith(
    "2 error: --save-images goes with --output markdown",
  );
  for (const words of [[], ["--output", "markdown"], ["-o", "-", "--output", "md"]])
    expect(await said(extract(place.path, url, "--save-images", ...words))).toStartWith(
      "2 error: --save-images puts images/ beside the Markdown: add -o FILE.md or --output-dir DIR",
    );
  const toDevice = extract(place.path, url, "--save-images", "--output", "md", "-o", "/dev/null");
  expect(await said(toDevice)).toStartWith(
    "2 error: --save-images puts images/ beside the Markdown, and /dev/null",
  );
  expect(readdirSync(place.path)).toEqual([]);
  expect(await said(crawl(place.path, "--save-images", "--jsonl"))).toContain("leave out --jsonl");
});
