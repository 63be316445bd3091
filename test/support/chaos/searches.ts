import { expect } from "bun:test";
import { proseOf } from "../docs-site.ts";
import type { TestRepository } from "../git-server.ts";
import { postMcp } from "../mcp.ts";
import type { ToolAnswer } from "../served.ts";
import { until } from "../until.ts";

const CLIENTS = 4;
const PUBLISH_EVERY_MS = 1500;

type Options = { readonly port: number; readonly repository: TestRepository; readonly pages: number };
type Answer = ToolAnswer & { readonly query: string };
type Reply = { readonly id: number; readonly result?: { readonly structuredContent: Answer } };

/**
 * Publishes one edition after another and asks for a sync of each, while clients search and fetch. Each answer that
 * comes belongs to its question, and holds all documents of one edition.
 */
export async function askSearches({ port, repository, pages }: Options) {
  const url = `http://127.0.0.1:${port}`;
  const paths = Array.from({ length: pages }, (_, index) => `docs/p${index}.md`);
  let edition = 0;
  let answers = 0;
  let ids = 0;
  let isOver = false;
  const seen = new Set<string>();
  /** Where it is refused, because one runs or nobody answers, a later one brings the edition. */
  const sync = async (): Promise<void> => {
    const asked = { method: "POST", headers: { connection: "close" } };
    await fetch(`${url}/handbook/sync/trigger`, asked).catch(() => null);
  };
  const publish = async (): Promise<void> => {
    edition++;
    const text = (index: number): string =>
      `# Leaflet ${index} edition${edition}\n\n${proseOf(String(index), 60)} printed as edition${edition}.`;
    await repository.commit(Object.fromEntries(paths.map((path, index) => [path, text(index)])));
    await sync();
  };
  /** Null where no answer comes, as it may not while a server is away, has no place or no disk. */
  const call = async (name: string, args: object): Promise<Answer | null> => {
    const id = ++ids;
    const params = { name, arguments: args };
    const response = await postMcp(url, { id, method: "tools/call", params }).catch(() => null);
    const reply = response?.ok ? ((await response.json().catch(() => null)) as Reply | null) : null;
    if (reply === null) return null;
    expect(reply.id).toBe(id);
    answers++;
    return reply.result?.structuredContent ?? null;
  };
  const ask = async (): Promise<string | null> => {
    const query = `leaflet printed q${ids}`;
    const found = await call("root_search", { tenant_codename: "handbook", query, size: 100 });
    if (found === null) return null;
    expect([found.query, found.error]).toEqual([query, null]);
    expect(found.results).toHaveLength(pages);
    const editions = new Set(
      found.results.flatMap(({ title, snippet }) => `${title} ${snippet}`.match(/edition\d+/g)),
    );
    expect([...editions]).toHaveLength(1);
    const { url: uri = "", title = "" } = found.results[ids % pages] ?? {};
    const page = await call("root_fetch", { tenant_codename: "handbook", uri });
    // Another edition of the same document may have come meanwhile.
    if (page) expect(page.content).toContain(`# ${title.replace(/edition\d+$/, "edition")}`);
    const one = String([...editions][0]);
    seen.add(one);
    return one;
  };
  await publish();
  const first = await until(
    () => call("root_search", { tenant_codename: "handbook", query: "leaflet", size: 100 }),
    (answer) => answer?.error === null && answer.results.length === pages,
  );
  expect(first).toMatchObject({ error: null });
  const asking = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) if ((await ask()) === null) await Bun.sleep(50);
  });
  const publishing = (async () => {
    for (; !isOver; await Bun.sleep(PUBLISH_EVERY_MS)) await publish();
  })();
  const work = Promise.all([...asking, publishing]);
  /** Settled with the first answer that is wrong; never before the end where there is none. */
  const failed = work.then(
    () => {},
    () => {},
  );
  return {
    failed,
    answers: () => answers,
    editions: () => seen.size,
    /** Waits for the last edition, now that all faults are over. @throws what was wrong with an answer */
    async end() {
      isOver = true;
      await work;
      const last = `edition${edition}`;
      const found = await until(
        () => sync().then(ask),
        (one) => one === last,
      );
      expect(found).toBe(last);
    },
    async [Symbol.asyncDispose]() {
      isOver = true;
      await failed;
    },
  };
}
