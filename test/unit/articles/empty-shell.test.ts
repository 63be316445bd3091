import { describe, expect, test } from "bun:test";
import { emptyShell } from "../../../src/articles/shell.ts";

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

describe("emptyShell", () => {
  for (const [name, html] of Object.entries(SHELLS)) {
    test(`sees a shell in ${name}`, () => expect(emptyShell(html, 0)).toBe("application"));
    test(`sees no shell in ${name} when the page has words`, () => expect(emptyShell(html, 60)).toBeNull());
  }
  for (const [name, html] of Object.entries(OTHERS)) {
    test(`sees no shell in ${name}`, () => expect(emptyShell(html, 0)).toBeNull());
  }

  test("looks only at the start of a page, so that a hostile one costs little", () => {
    const far = `${" ".repeat(40_000)}<div id="root"></div>${SCRIPT}`;
    expect(emptyShell(far, 0)).toBeNull();
    expect(emptyShell(`${SCRIPT}${"<noscript>enable ".repeat(1_000_000)}`, 0)).toBeNull();
  });
});

const REDIRECTS = {
  "an assignment": `<script>location.href = "/next"</script>`,
  "an assignment to location": `<p>Please wait.</p><script type="text/javascript">\nwindow.location='/next';\n</script>`,
  "a call": `<script>var to = "/next"; window.location.replace(to)</script>`,
  "a handler of load": `<script>window.onload = function () { location.assign("/next"); }</script>`,
  "a listener": `<script>addEventListener("DOMContentLoaded", () => { document.location = "/next" })</script>`,
  "a timer": `<script>setTimeout(function () { top.location.href = "/next" }, 3000)</script>`,
  "a function called at once": `<script>(function () { try { location.href = "/next" } catch (e) {} })()</script>`,
  "the body's handler": `<body onload="window.location.href='/next'"><p>Moved.</p>`,
};
const STAYING = {
  "a function that may never be called": `<script>function go() { location.href = "/next"; }</script>`,
  "a handler of a click": `<script>b.onclick = () => { location.href = "/next"; }</script>`,
  "a condition": `<script>if (navigator.language === "de") location.href = "/de";</script>`,
  "a condition with a block": `<script>if (top !== self) { top.location = self.location; }</script>`,
  "a comparison": `<script>var isHome = location.href == "/";</script>`,
  "a listener of clicks": `<script>addEventListener("click", () => { location.href = "/next" })</script>`,
  "the fragment": `<script>location.hash = "#a";</script>`,
};

describe("a script that leads to another page", () => {
  for (const [name, html] of Object.entries(REDIRECTS)) {
    test(`is seen in ${name}, with few words or none`, () =>
      expect([0, 9].map((words) => emptyShell(html, words))).toEqual(["script_redirect", "script_redirect"]));
    test(`is not seen in ${name} when the page has words`, () => expect(emptyShell(html, 21)).toBeNull());
  }
  for (const [name, html] of Object.entries(STAYING))
    test(`is not seen in ${name}`, () => expect(emptyShell(html, 9)).toBeNull());

  test.each([
    `<script>${"{".repeat(30_000)}location=1`,
    `<script>${"location=1;".repeat(3_000)}</script>`,
    "<script>".repeat(4_000),
    "<body onload=".repeat(3_000),
  ])("costs little on a hostile page (%#)", (html) => {
    expect([null, "script_redirect"]).toContain(emptyShell(html, 9));
  });
});
