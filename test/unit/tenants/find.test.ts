import { describe, expect, test } from "bun:test";
import { describeTenant } from "../../../src/tenants/describe.ts";
import { createTenantFinder } from "../../../src/tenants/find.ts";
import type { TenantDetail } from "../../../src/tenants/index.ts";
import { folder, readJson, repository, tenants, web } from "../../support/deployment.ts";

const detail = (codename: string, displayName: string, description: string, host = ""): TenantDetail => ({
  codename,
  displayName,
  library: null,
  version: null,
  group: null,
  description,
  source: "online",
  testQueries: [],
  urlPrefixes: host === "" ? [] : [`https://${host}/`],
});

const LIBRARIES = [
  detail("react", "React", "The library for web and native user interfaces", "react.dev"),
  detail("react-router", "React Router", "Routing for React applications", "reactrouter.com"),
  detail("typescript", "TypeScript", "JavaScript with syntax for types", "www.typescriptlang.org"),
  detail(
    "kubernetes",
    "Kubernetes",
    "Automates deployment, scaling and management of containers",
    "kubernetes.io",
  ),
  detail("postgresql", "PostgreSQL", "The world's most advanced open source relational database"),
  detail("cpp", "C++ reference", "The C++ language and its standard library", "en.cppreference.com"),
  detail("zurich", "Zürich transport", "Timetables of trams"),
];

const found = (query: string, among: readonly TenantDetail[] = LIBRARIES): string[] =>
  createTenantFinder(among)(query).map(({ codename }) => codename);

describe("finding tenants", () => {
  test.each([
    ["react", "react"],
    ["React hooks", "react"],
    ["how do I use react router?", "react-router"],
    ["reactrouter", "react-router"],
    ["type script", "typescript"],
    ["kube", "kubernetes"],
    ["relational database", "postgresql"],
    ["containers", "kubernetes"],
    ["C++", "cpp"],
    ["zürich", "zurich"],
    ["ZURICH", "zurich"],
  ])("%p finds %p first", (query, codename) => {
    expect(found(query)[0]).toBe(codename);
  });

  test.each([
    ["raect", "react"],
    ["reat", "react"],
    ["typescipt", "typescript"],
    ["kubernets", "kubernetes"],
    ["kuberntse", "kubernetes"],
    ["postgersql", "postgresql"],
    ["databse", "postgresql"],
  ])("%p, mistyped, finds %p", (query, codename) => {
    expect(found(query)[0]).toBe(codename);
  });

  test.each([
    "",
    "   ",
    "?!",
    "the docs of this",
    "how do I",
    "xq",
    "rxxct",
    "quantum chromodynamics",
    "🙂",
    "\0",
  ])("%p finds nothing", (query) => {
    expect(found(query)).toEqual([]);
  });

  test("only tenants that match are found", () => {
    expect(found("trams")).toEqual(["zurich"]);
  });

  test.each([1, 2])("works with %p tenants", (count) => {
    const few = LIBRARIES.slice(0, count);
    expect(found("react", few)[0]).toBe("react");
    expect(found("raect", few)[0]).toBe("react");
    expect(found("database", few)).toEqual([]);
  });

  test("works with none", () => {
    expect(found("react", [])).toEqual([]);
  });

  test("finds the right one of 500, and at most 10", () => {
    const many = Array.from({ length: 500 }, (_, index) =>
      detail(
        `service-${index}`,
        `Service ${index}`,
        `The interface of service number ${index}`,
        `s${index}.example`,
      ),
    );
    expect(found("service-317", many)[0]).toBe("service-317");
    expect(found("interface", many)).toHaveLength(10);
    expect(found("kubernets", [...many, ...LIBRARIES])).toEqual(["kubernetes"]);
  });

  test("a query without end is answered", () => {
    expect(found(`${"x".repeat(1_000_000)} react`)).toEqual([]);
    expect(found(`react ${"word ".repeat(100_000)}`)[0]).toBe("react");
  });
});

describe("a tenant is described", () => {
  const described = (tenant: object): TenantDetail => {
    const [only] = readJson(tenants(tenant)).tenants;
    if (!only) throw new Error("no tenant");
    return describeTenant(only);
  };

  test("in the operator's words where there are some", () => {
    expect(described({ ...web, description: "  All about\n webs. " }).description).toBe("All about webs.");
  });

  test("by its name and source where there are none", () => {
    expect(described(web).description).toBe("Web, documentation of docs.example.org");
    expect(described(repository).description).toBe("Repo, documentation from a/b");
    const local = { ...repository, git_repo_url: "file:///srv/checkouts/repo" };
    expect(described(local).description).toBe("Repo, documentation from a git repository");
    expect(described(folder).description).toBe("Docs, documentation from a folder");
  });

  test("with its queries in one list", () => {
    const test_queries = { natural: ["how?"], words: ["w"], phrases: ["a b"] };
    expect(described({ ...folder, test_queries }).testQueries).toEqual(["how?", "a b", "w"]);
  });

  test.each([
    [{ ...web, url_whitelist_prefixes: "https://a.example/x" }, ["https://a.example/x"]],
    [
      { ...web, docs_sitemap_url: "https://b.example/s.xml" },
      ["https://docs.example.org/", "https://b.example/"],
    ],
    [folder, ["docs://docs/"]],
    [repository, ["docs://repo/"]],
    [{ ...repository, git_repo_url: "https://github.com/a/b.git" }, ["https://github.com/a/b/blob/main/"]],
    [
      { ...repository, git_repo_url: "https://gitlab.example.org/a/b", git_branch: "v1/x#" },
      ["https://gitlab.example.org/a/b/-/blob/v1/x%23/"],
    ],
    [{ ...repository, git_repo_url: "git@github.com:a/b.git" }, ["docs://repo/"]],
  ])("%o has its URL prefixes", (tenant, prefixes) => {
    expect(described(tenant).urlPrefixes).toEqual(prefixes);
  });

  test("briefly and in one line, whatever was written", () => {
    const { description } = described({ ...folder, description: `a\u202E\u200B${"😀".repeat(1000)}` });
    expect(description.length).toBeLessThan(850);
    expect(description).not.toMatch(/[\u202E\u200B]|\uD83D$/);
  });
});
