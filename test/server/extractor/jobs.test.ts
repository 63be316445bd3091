import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf, isOver, startExtractor, submitJob, untilJob } from "../../support/extractor-server.ts";
import { forAllTests } from "../../support/for-all-tests.ts";
import { serveNumberedSite } from "../../support/numbered-site.ts";

const server = forAllTests(await startExtractor());
const site = forAllTests(serveNumberedSite({ pages: 12, answers: { "/p/3": { status: 500, body: "no" } } }));
const slow = forAllTests(serveNumberedSite({ pages: 1000, answerMs: 300 }));

const canMount = Bun.spawnSync(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).exitCode === 0;

const endless = (name: string) => ({ output_dir: name, seeds: [`${slow.origin}/`], max_pages: 1000 });

describe("a crawl job", () => {
  test("takes seeds, sitemaps on the web and here, prefixes, limits and options", async () => {
    writeFileSync(
      join(server.directory, "list.txt"),
      `${site.origin}/p/1\n${site.origin}/p/2\n${site.origin}/p/4\n`,
    );
    const id = await submitJob(server, {
      output_dir: "options",
      sitemaps: ["list.txt"],
      allow_prefixes: [`${site.origin}/p/`],
      deny_prefixes: [`${site.origin}/p/4`],
      max_pages: 2,
      max_depth: 0,
      concurrency: 1,
      rate_limit_delay: 0,
      follow_links: false,
      prefer_browser: false,
      network: { user_agent: "crawler/1" },
      options: { min_word_count: 7 },
      ignore_robots: true,
    });
    expect(await untilJob(server, id, isOver)).toMatchObject({
      status: "completed",
      successful: 2,
      skipped: 1,
    });
    const { config } = JSON.parse(readFileSync(join(server.directory, "options/manifest.json"), "utf8"));
    expect(config).toMatchObject({
      max_pages: 2,
      max_depth: 0,
      concurrency: 1,
      follow_links: false,
      output_dir: "options",
      obey_robots: false,
      options: { min_word_count: 7 },
      network: { user_agent: "crawler/1" },
    });
    expect(site.visits.at(-1)?.headers["user-agent"]).toBe("crawler/1");
  });

  test.skipIf(!canMount)("on a small disk warns in its status, its manifest and the log alike", async () => {
    const mount = 'mkdir small && mount -t tmpfs -o size=50m tmpfs small && exec "$@"';
    await using small = await startExtractor({ within: ["unshare", "-rm", "sh", "-c", mount, "sh"] });
    const id = await submitJob(small, { output_dir: "small/out", seeds: [`${site.origin}/p/1`] });
    const warnings = ["Less than 100 MB are free in the output directory"];
    expect(await untilJob(small, id, isOver)).toMatchObject({ status: "completed", warnings });
    const manifest = await (await small.get(`/crawl/${id}/manifest`)).json();
    expect(manifest).toMatchObject({ warnings });
    expect(small.lines('"low disk"').map((line) => JSON.parse(line))).toMatchObject([
      { level: "warning", job_id: id },
    ]);
  });

  test("fails, with a manifest, where every seed is refused", async () => {
    const id = await submitJob(server, {
      output_dir: "refused",
      seeds: [`${site.origin}/`],
      deny_prefixes: [`${site.origin}/`],
    });
    const job = await untilJob(server, id, isOver);
    expect(job).toMatchObject({
      status: "failed",
      error: { code: expect.any(String), message: expect.any(String) },
    });
    expect(await codeOf(await server.get(`/crawl/${id}/manifest`))).toBe("job_not_completed");
    expect(existsSync(join(server.directory, "refused/manifest.json"))).toBe(true);
  });

  test("whose pages all fail is completed", async () => {
    const id = await submitJob(server, { output_dir: "failing", seeds: [`${site.origin}/p/3`] });
    expect(await untilJob(server, id, isOver)).toMatchObject({
      status: "completed",
      successful: 0,
      failed: 1,
    });
    const lineOfPage = () => server.lines('"page failed"').find((line) => line.includes(`"job_id":"${id}"`));
    while (lineOfPage() === undefined) await Bun.sleep(20);
    expect(lineOfPage()).toContain(`${site.origin}/p/3`);
  });

  test("repeats a finished crawl of the same directory; other limits go on, another scope fails, fresh forgets it", async () => {
    const body = { output_dir: "again", seeds: [`${site.origin}/p/1`], max_pages: 1 };
    const first = await submitJob(server, body);
    await untilJob(server, first, isOver);
    const second = await submitJob(server, body);
    expect(await untilJob(server, second, isOver)).toMatchObject({ status: "completed", successful: 1 });
    expect(await codeOf(await server.get(`/crawl/${first}/manifest`))).toBe("manifest_gone");
    const larger = await submitJob(server, { ...body, max_pages: 2 });
    expect(await untilJob(server, larger, isOver)).toMatchObject({ status: "completed", successful: 2 });
    const manifest = await (await server.get(`/crawl/${larger}/manifest`)).json();
    expect(manifest).toMatchObject({ job_id: larger, total_pages: 2, config: { max_pages: 2 } });
    const other = { ...body, deny_prefixes: [`${site.origin}/x`] };
    const third = await submitJob(server, other);
    expect((await untilJob(server, third, isOver)).error).toEqual({
      code: "crawl_conflict",
      message:
        'again holds a finished crawl with another plan (deny prefixes): choose another output directory, or begin anew with "fresh": true, which forgets that crawl',
    });
    const fourth = await submitJob(server, { ...other, fresh: true });
    expect((await untilJob(server, fourth, isOver)).status).toBe("completed");
  });
});

describe("the event stream", () => {
  test("tells pages and progress, ends with the job, and goes on behind the last event", async () => {
    const id = await submitJob(server, { output_dir: "events", seeds: [`${site.origin}/`] });
    const response = await server.get(`/crawl/${id}/events`);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const events = await readEvents(response);
    const pages = events.filter(({ event }) => event === "page");
    expect(pages).toHaveLength(12);
    expect(pages[0]?.data).toMatchObject({ url: `${site.origin}/`, status: "success", depth: 0 });
    expect(events.at(-1)).toMatchObject({ event: "end", data: { status: "completed", successful: 11 } });
    const ids = events.flatMap((event) => event.id ?? []);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));

    const from = pages[5]?.id ?? 0;
    const rest = await readEvents(
      await server.get(`/crawl/${id}/events`, { headers: { "last-event-id": String(from) } }),
    );
    expect(rest.filter(({ event }) => event === "page")).toEqual(pages.slice(6));
    const seen = await server.get(`/crawl/${id}/events`, {
      headers: { "last-event-id": String(ids.at(-1)) },
    });
    expect(seen.status).toBe(204);
  });

  test("says which events are kept no longer, to readers that begin and to those that come back", async () => {
    const id = await submitJob(server, { output_dir: "gap", seeds: [`${site.origin}/`] });
    await untilJob(server, id, isOver);
    for (const file of new Bun.Glob("**/jobs.sqlite").scanSync(server.directory)) {
      using jobs = new Database(join(server.directory, file));
      jobs.run("DELETE FROM event WHERE number <= 5 AND job = (SELECT number FROM job WHERE id = ?)", [id]);
    }
    const idsBehind = async (seen: number): Promise<unknown[]> => {
      const headers = { "last-event-id": String(seen) };
      const events = await readEvents(await server.get(`/crawl/${id}/events`, { headers }));
      return events.flatMap(({ event, id, data }) => (event === "gap" ? { id, ...data } : (id ?? [])));
    };
    const rest = await idsBehind(5);
    expect(rest.length).toBeGreaterThan(6);
    for (const seen of [0, 3])
      expect(await idsBehind(seen)).toEqual([{ id: 5, from: seen + 1, to: 5 }, ...rest]);
  });

  test("follows a running job live", async () => {
    const id = await submitJob(server, endless("live"));
    const response = await server.get(`/crawl/${id}/events`);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("event: page")) text += (await reader?.read())?.value ?? "";
    await server.get(`/crawl/${id}`, { method: "DELETE" });
    while (!text.includes("event: end")) text += (await reader?.read())?.value ?? "";
    expect(text).toContain('"code":"cancelled"');
  });
});

/** The events of a stream until it ends. */
async function readEvents(response: Response) {
  const text = await response.text();
  return text
    .split("\n\n")
    .map((block) =>
      Object.fromEntries(
        block.split("\n").map((line) => [line.split(": ")[0], line.slice(line.indexOf(": ") + 2)]),
      ),
    )
    .filter((fields): fields is { event: string; data: string; id?: string } => fields.event !== undefined)
    .map(({ event, data, id }) => ({
      event,
      data: JSON.parse(data),
      id: id === undefined ? null : Number(id),
    }));
}
