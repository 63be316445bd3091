import { describe, expect, test } from "bun:test";
import { folder, problemsOf, tenants, web } from "../../support/deployment.ts";

describe("a deployment file gets a message about", () => {
  test.each([
    ['{"tenants": [', 1, 14],
    ["", 1, 1],
    ['{\n  "tenants": [],,\n}', 2, 17],
    ['{\r\n  "tenants": [\r\n    ,\r\n  ]\r\n}', 3, 5],
    ['\ufeff{"tenants": [] / none\n}', 1, 16],
    ['{"tenants": []}}', 1, 16],
    ['{"täglich": "\ud83d\ude80" 1}', 1, 18],
    ["{'tenants': []}", 1, 2],
    ['{"tenants": [\n"a" "b"]}', 2, 5],
    ['{"tenants": "a\nb"}', 1, 13],
  ])("what is no JSON, with where it ends to be: %j", (text, line, column) => {
    expect(problemsOf(text)).toEqual([
      expect.stringMatching(new RegExp(`^line ${line}, column ${column}: not JSON: \\S`)),
    ]);
  });

  test("text that is no JSON and nested without end", () => {
    expect(problemsOf("[".repeat(200_000))).toEqual([expect.stringMatching(/not JSON: \S/)]);
  });

  test("every unknown field of every object, with what was meant", () => {
    const json = {
      infrastructur: 1,
      infrastructure: {
        mcp_prot: 1,
        mcp_hots: "h",
        article_extractor_fallback: { enable: true, endpont: "" },
      },
      tenants: [
        { ...web, docs_sitemap: "", searhc: {}, search: { rankng: {}, boosts: { titel: 1, boddy: 2 } } },
        { ...folder, codename: "bb", git_branch: "main", zzz: [{ mcp_prot: 1 }] },
      ],
      extra: {},
    };
    expect(problemsOf(json)).toEqual([
      "infrastructur: unknown field; did you mean infrastructure?",
      "infrastructure.mcp_prot: unknown field; did you mean mcp_port?",
      "infrastructure.mcp_hots: unknown field; did you mean mcp_host?",
      "infrastructure.article_extractor_fallback.enable: unknown field; did you mean enabled?",
      "infrastructure.article_extractor_fallback.endpont: unknown field; did you mean endpoint?",
      "tenants[0].docs_sitemap: unknown field; did you mean docs_sitemap_url?",
      "tenants[0].searhc: unknown field; did you mean search?",
      "tenants[0].search.rankng: unknown field; did you mean ranking?",
      "tenants[0].search.boosts.titel: unknown field; did you mean title?",
      "tenants[0].search.boosts.boddy: unknown field; did you mean body?",
      "tenants[1].git_branch: unknown field",
      "tenants[1].zzz: unknown field",
      "extra: unknown field",
    ]);
  });

  test("every unknown field of a tenant whose kind is wrong, too", () => {
    const json = tenants({ ...folder, source_type: "folder", docs_nmae: "x", codname: "y" });
    expect(problemsOf(json)).toEqual([
      "tenants[0].docs_nmae: unknown field; did you mean docs_name?",
      "tenants[0].codname: unknown field; did you mean codename?",
      expect.stringMatching(/^tenants\[0\]\.source_type: must be one of/),
    ]);
  });
});
