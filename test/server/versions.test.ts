import { describe, expect, test } from "bun:test";
import { forAllTests } from "../support/for-all-tests.ts";
import { callMcp } from "../support/mcp.ts";
import { folderTenant, openIndexed, openSearchServer } from "../support/search-server.ts";

const documentation = (codename: string, library: string | null, version: string | null) =>
  folderTenant(codename, { "a.md": `# Gates\n\nThe gate of ${codename} opens.\n` }, { library, version });
const TENANTS = [
  documentation("weir2", "weir", "2.1"),
  documentation("weir1", "weir", "1.4.0"),
  documentation("weir1-guides", "weir", "1.4.0"),
  documentation("lock", "lock", null),
  documentation("canal", null, null),
];

const registry = forAllTests(await openIndexed(...TENANTS));
const server = forAllTests(openSearchServer(registry));

const call = (name: string, args: object) => callMcp<Record<string, unknown>>(server.url, name, args);
const searchGate = (more: object) => call("root_search", { tenant_codename: "*", query: "gate", ...more });

const searched = ({ results }: Record<string, unknown>): readonly string[] =>
  (results as { tenant: string }[]).map(({ tenant }) => tenant).sort();

describe("root_search with a library", () => {
  test.each([
    ["2.1", ["weir2"], "weir 2.1"],
    ["2.5.3", ["weir2"], "weir 2.1, the nearest not above 2.5.3"],
    ["1", ["weir1", "weir1-guides"], "weir 1.4.0, the nearest not above 1"],
    ["1.3", ["weir1", "weir1-guides"], "weir 1.4.0, the lowest: all are above 1.3"],
    ["", ["weir2"], "weir 2.1, the newest"],
  ])("and version %p searches %j", async (version, codenames, resolved) => {
    const answer = await searchGate({ library: "Weir", version });
    expect(answer).toMatchObject({ resolved, error: null });
    expect(searched(answer)).toEqual(codenames);
  });

  test("without a version is told so", async () => {
    const answer = await searchGate({ library: "lock", version: "3" });
    expect(answer).toMatchObject({ resolved: "lock, of no version in particular", error: null });
    expect(searched(answer)).toEqual(["lock"]);
  });

  test("that nobody asks for searches all, and says nothing of versions", async () => {
    const answer = await searchGate({});
    expect(searched(answer)).toHaveLength(5);
    expect(answer).not.toHaveProperty("resolved");
  });

  test.each([
    [{ library: "wier" }, "No tenant has the library 'wier'; did you mean weir?"],
    [{ library: "weir", version: "main" }, "version must begin with a number, like 18.2.0, 18 or v2"],
    [{ version: "2" }, "version needs library"],
    [{ library: "weir", tenant_codename: "lock" }, "give tenant or library, not both"],
    [{ library: 3 }, "library must be a string"],
  ])("%j is refused in words", async (args, error) => {
    const answer = { results: [], error: expect.stringContaining(error) };
    expect(await searchGate(args)).toMatchObject(answer);
  });

  test("tells a caller for some tenants nothing of the others", () => {
    const some = registry.limitedTo(["weir1", "canal"]);
    expect(some.chooseVersion("weir", "2.1").resolved).toBe("weir 1.4.0, the nearest not above 2.1");
    expect(() => some.chooseVersion("lock", null)).toThrow("No tenant has the library 'lock'");
  });
});

describe("find_tenant", () => {
  test.each([
    ["weir 1.5", ["weir1", "weir1-guides"], "weir 1.4.0, the nearest not above 1.5"],
    ["weir@2.1", ["weir2"], "weir 2.1"],
  ])("with %p begins with %j", async (query, codenames, resolved) => {
    const answer = await call("find_tenant", { query });
    expect(answer).toMatchObject({ count: 3, resolved, error: null });
    const found = (answer.tenants as { codename: string }[]).map(({ codename }) => codename);
    expect(found.slice(0, codenames.length).sort()).toEqual(codenames);
    expect(found.toSorted()).toEqual(["weir1", "weir1-guides", "weir2"]);
  });

  test("without a version says nothing of versions", async () => {
    expect(await call("find_tenant", { query: "weir" })).not.toHaveProperty("resolved");
  });
});
