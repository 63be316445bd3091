import { describe, expect, test } from "bun:test";
import { Analyser } from "../../../src/search/analysis/analyser.ts";
import { DocumentAnalyser } from "../../../src/search/document/analyse.ts";
import type { TextKind } from "../../../src/search/reading/kinds.ts";
import { readDocuments } from "../../../src/search/reading/read-document.ts";
import { docsUrl } from "../../../src/urls/index.ts";
import { cpuMs } from "../../support/cpu.ts";
import { HOSTILE_TEXTS } from "../../support/hostile-documents.ts";

const KINDS: readonly TextKind[] = ["markdown", "mdx", "plain", "rst", "asciidoc", "notebook", "api", "man"];

/** Reads, cleans and analyses a text; even a refused text costs time. */
function readAndAnalyse(text: string, kind: TextKind): void {
  const documents = new DocumentAnalyser(new Analyser("default"));
  const file = { url: docsUrl("t", "d"), path: "d", text, kind, mayNameItself: true };
  try {
    for (const source of readDocuments(file)) documents.analyse(source);
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^(?:too_large|unreadable_input)$/) });
  }
}

// This many characters take at most 70 ms of CPU; an expression that backtracks over the text takes seconds.
const LENGTH = 100_000;
const LIMIT_MS = 1300;

describe("a hostile document is read in time linear in its text", () => {
  for (const [name, make] of Object.entries(HOSTILE_TEXTS))
    test(name, () => {
      const text = make(LENGTH);
      for (const kind of KINDS) expect(cpuMs(() => readAndAnalyse(text, kind))).toBeLessThan(LIMIT_MS);
    });
});
