import { describe, expect, test } from "bun:test";
import { misspeltVariables, VARIABLES } from "../../../src/settings/index.ts";

const meantBy = (name: string): string | null => misspeltVariables({ [name]: "1" })[0]?.meant ?? null;

describe("a variable that nobody reads", () => {
  test.each([
    ["ARTICLE_EXTRACTOR_TIMOUT", "ARTICLE_EXTRACTOR_TIMEOUT"],
    ["ARTICLE_EXTRACTOR_USERAGENT", "ARTICLE_EXTRACTOR_USER_AGENT"],
    ["ARTICLE_EXTRACTOR_API_KEYS", "ARTICLE_EXTRACTOR_API_KEY"],
    ["DOCS_SEARCH_API_KEYS", "DOCS_SEARCH_API_KEY"],
    ["DOCS_SEARCH_API_KEYFILE", "DOCS_SEARCH_API_KEY_FILE"],
    ["ARTICLE_EXTRACTER_EGRESS", "ARTICLE_EXTRACTOR_EGRESS"],
    ["ARTICLE_EXTRACT_EGRESS", "ARTICLE_EXTRACTOR_EGRESS"],
    ["DOC_SEARCH_STATE_DIR", "DOCS_SEARCH_STATE_DIR"],
    ["article_extractor_retries", "ARTICLE_EXTRACTOR_RETRIES"],
    // These leave out a word, or have another prefix or none.
    ["ARTICLE_EXTRACTOR_MAX_PAGES", "ARTICLE_EXTRACTOR_CRAWLER_MAX_PAGES"],
    ["ARTICLE_EXTRACTOR_STORAGE_STATE", "ARTICLE_EXTRACTOR_STORAGE_STATE_FILE"],
    ["DOCS_SEARCH_EGRESS", "ARTICLE_EXTRACTOR_EGRESS"],
    ["ARTICLE_EXTRACTOR_GIT_PROTOCOLS", "DOCS_SEARCH_GIT_PROTOCOLS"],
    ["ARTICLE_EXTRACTOR_PORT", "PORT"],
  ])("%s: %s was meant", (name, meant) => {
    expect(meantBy(name)).toBe(meant);
  });

  test.each([
    "ARTICLE_EXTRACTOR_BANANA",
    "DOCS_SEARCH_GIT_TOKEN",
    "MY_ARTICLE_EXTRACTOR_TIMOUT",
    "PROT",
    "DOCS_SEARCH_",
  ])("%s is like none of ours", (name) => {
    expect(meantBy(name)).toBeNull();
  });

  test("is not a known setting, not empty, and not named in the deployment", () => {
    const known = Object.values(VARIABLES).map(({ variable }) => [variable, "1"]);
    expect(misspeltVariables(Object.fromEntries(known))).toEqual([]);
    expect(misspeltVariables({ ARTICLE_EXTRACTOR_TIMOUT: " ", ARTICLE_EXTRACTOR_RETRIS: undefined })).toEqual(
      [],
    );
    expect(misspeltVariables({ DOCS_SEARCH_API_KEY2: "x" }, new Set(["DOCS_SEARCH_API_KEY2"]))).toEqual([]);
  });

  // Each name has a letter less, more, changed or swapped; one that is another setting's name is skipped.
  test("is found with any one letter wrong", () => {
    for (const { variable } of Object.values(VARIABLES)) {
      if (!/^(?:ARTICLE|DOCS)_/.test(variable)) continue;
      const start = variable.indexOf("_", variable.indexOf("_") + 1) + 1;
      for (let at = start; at < variable.length; at++) {
        for (const put of ["", "Q", `${variable[at]}Q`]) {
          const typo = variable.slice(0, at) + put + variable.slice(at + 1);
          if (typo === variable) continue;
          expect([typo, meantBy(typo)]).toEqual([typo, variable]);
        }
      }
    }
  });
});
