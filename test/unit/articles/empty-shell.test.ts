import { describe, expect, test } from "bun:test";
import { isEmptyShell } from "../../../src/articles/index.ts";

const SCRIPT = '<script src="/main.js"></script>';
const SHELLS = {
  React: `<div id="root"></div>${SCRIPT}`,
  "React with a plea": `<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>${SCRIPT}`,
  "Next.js": `<div id="__next"></div>${SCRIPT}`,
  Nuxt: `<div id="__nuxt"></div>${SCRIPT}`,
  Vue: `<div id=app></div>${SCRIPT}`,
  Angular: `<app-root>Loading...</app-root>${SCRIPT}`,
  "a mount point with attributes": `<div class="h-full" id="root" data-theme="dark"></div>${SCRIPT}`,
  "a plea alone": `<noscript><p>Please turn on JavaScript.</p></noscript>${SCRIPT}<span></span>`,
};
const OTHERS = {
  "a filled mount point": `<div id="root"><p>Words</p></div>${SCRIPT}`,
  "no script": `<div id="root"></div>`,
  "an empty page": `${SCRIPT}<p></p>`,
  "a script that speaks of noscript": `<script>if (x < 1) document.write("javascript")</script><p>Hi</p>`,
};

describe("isEmptyShell", () => {
  for (const [name, html] of Object.entries(SHELLS)) {
    test(`sees a shell in ${name}`, () => expect(isEmptyShell(html, 0)).toBe(true));
    test(`sees no shell in ${name} when the page has words`, () =>
      expect(isEmptyShell(html, 60)).toBe(false));
  }
  for (const [name, html] of Object.entries(OTHERS)) {
    test(`sees no shell in ${name}`, () => expect(isEmptyShell(html, 0)).toBe(false));
  }

  test("looks at the start of a page only, so that a hostile one costs little", () => {
    const far = `${" ".repeat(40_000)}<div id="root"></div>${SCRIPT}`;
    expect(isEmptyShell(far, 0)).toBe(false);
    expect(isEmptyShell(`${SCRIPT}${"<noscript>enable ".repeat(1_000_000)}`, 0)).toBe(false);
  });
});
