import { describe, expect, test } from "bun:test";
import { cpuMsOf } from "../../support/cpu.ts";
import { OPTIONS, openWorker, PAGE_URL, pageUrl } from "../../support/extraction.ts";
import { forAllTests } from "../../support/for-all-tests.ts";

/** None of these needs 3 s of CPU; what is quadratic takes minutes. */
const MAX_CPU_MS = 12_000;
/** Only for what never ends: a machine under load gives a page a tenth of a core. */
const TIME_LIMIT_MS = 300_000;

const extractor = forAllTests(openWorker(TIME_LIMIT_MS));

const CONTENTS: Readonly<Record<string, () => string>> = {
  "5 000 rows of wide and tall cells": () =>
    `<table><tr><th>a<th>b</tr>${"<tr><td rowspan=100 colspan=100>x</td><td>y</td></tr>".repeat(5000)}</table>`,
  "a row of 50 000 cells over short rows": () =>
    `<table><tr>${"<td>x</td>".repeat(50_000)}</tr>${"<tr><td>y</td><td>z</td></tr>".repeat(5000)}</table>`,
  "a megabyte of marks": () => `<p>${"*_[`<&~$".repeat(130_000)}</p>`,
  "a million lines of code": () => `<pre>${"x\n".repeat(1e6)}</pre>`,
  "100 000 bold words": () => `<p>${"<b>a</b> ".repeat(100_000)}</p>`,
  "50 000 bold words that need tags": () => `<p>${"<b>「x」</b>y".repeat(50_000)}</p>`,
  "100 000 line breaks": () => `<p>${"a<br>".repeat(100_000)}</p>`,
  "1 100 lists in lists": () => "<ul><li>a".repeat(1100),
  "2 300 admonitions in admonitions": () => `<div class="admonition note">a `.repeat(2300),
  "1 100 tabs in tabs": () =>
    `<div class="tabs"><button role=tab>x</button><div role=tabpanel>a `.repeat(1100),
  "2 300 frames of code in each other": () => `${`<div class="highlight">a `.repeat(2300)}<pre>x</pre>`,
  "2 000 frames of code in each other around 50 000 lines": () =>
    `${`<div class="highlight">`.repeat(2000)}<pre>x</pre>${"<i>y</i><br>".repeat(50_000)}`,
  "2 300 gutters in each other around 50 000 lines": () =>
    `<div class="highlight"><pre>x</pre>${`<div class="gutter">`.repeat(2300)}${"<i>y</i><br>".repeat(50_000)}`,
  "2 300 disclosures in each other": () => "<details><summary>x</summary>a ".repeat(2300),
  "20 000 check boxes in an item": () => `<ul><li>${"<input type=checkbox>".repeat(20_000)}a</ul>`,
  "50 000 paragraphs with a hanging sign": () =>
    `<p style="margin-left:36pt;text-indent:-18pt">· a</p>`.repeat(50_000),
  "20 000 notes in the margin": () =>
    `a<label for=n class="margin-toggle">x</label><input type=checkbox id=n><span class=sidenote>b</span> `.repeat(
      20_000,
    ),
  "50 000 lines with a number each": () =>
    `<pre>${Array.from({ length: 50_000 }, (_, index) => `<span>${index + 1}</span> a\n`).join("")}</pre>`,
  "50 000 sentences between line breaks": () => `<table><tr><td>${"a.<br><br>".repeat(50_000)}</table>`,
  "20 000 pictures with a twin": () =>
    "<img src=/a.gif width=300 height=300><noscript><img src=/b.jpg></noscript>".repeat(20_000),
  "100 000 beginnings of a formula": () => `<p>${"\\(a $$b ".repeat(50_000)}</p>`,
};

describe("content made to cost much is rendered in time:", () => {
  for (const [what, inner] of Object.entries(CONTENTS)) {
    test(what, async () => {
      const body = `<html><head><script src="mathjax.js"></script></head><body><main><p>word</p>${inner()}</main></body></html>`;
      const options = { ...OPTIONS, select: "main" };
      const { result, ms } = await cpuMsOf(() =>
        extractor.extract({ kind: "html", body, url: pageUrl(PAGE_URL), options }),
      );
      expect(result.article?.markdown).toStartWith("word");
      expect(ms).toBeLessThan(MAX_CPU_MS);
    }, 360_000);
  }
});
