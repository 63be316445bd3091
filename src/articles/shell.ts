/** A shell shows near its start. This runs on the main thread, which a hostile body must not block. */
const MAX_LOOK = 32 * 1024;
/** A page with more words than this has content of its own. */
const MAX_SHELL_WORDS = 50;
/** Enough for "You are being redirected. Click here if your browser does not do it by itself." */
const MAX_REDIRECT_WORDS = 20;

const MOUNT_POINT =
  /<(?:div|main|section|app-root|[a-z]+-app)\b[^>]{0,300}?\b(?:id|data-reactroot|ng-version)\s*=?\s*["']?(?:root|app|__next|__nuxt|___gatsby|svelte|main-app|application|react-root|mount|ember\d*)\b[^>]{0,300}>\s*(?:<noscript\b[\s\S]{0,2000}?<\/noscript>\s*)?<\//i;
const ROOT_COMPONENT = /<app-root\b[^>]{0,300}>\s*(?:loading[^<]{0,40})?<\/app-root>/i;
const ASKS_FOR_SCRIPT =
  /<noscript\b[^>]{0,100}>[\s\S]{0,1500}?\b(?:enable|activate|requires?|need|turn on)\b[\s\S]{0,80}?\bjavascript\b/i;

/** Why a page needs a browser: it is an application without content, or its script leads to another page. */
export type EmptyShell = "application" | "script_redirect";

/** Each shell's name in messages, and what a browser would do about it. */
export const SHELL_NAMES: Readonly<Record<EmptyShell, { readonly name: string; readonly remedy: string }>> = {
  application: { name: "an application's empty shell", remedy: "which a browser would fill" },
  script_redirect: { name: "a script that leads to another page", remedy: "which a browser would run" },
};

/**
 * Tells whether a page is an empty shell. A shell has hardly any words, and either scripts and an empty mount point or a
 * plea to enable JavaScript, or a script that leads to another page as soon as it runs.
 * @param wordCount words of the extracted content, 0 when there is none
 */
export function emptyShell(html: string, wordCount: number): EmptyShell | null {
  if (wordCount > MAX_SHELL_WORDS) return null;
  const start = html.slice(0, MAX_LOOK);
  if (wordCount <= MAX_REDIRECT_WORDS && navigatesAway(start, wordCount === 0)) return "script_redirect";
  if (!/<script\b/i.test(html)) return null;
  const isShell = MOUNT_POINT.test(start) || ROOT_COMPONENT.test(start) || ASKS_FOR_SCRIPT.test(start);
  return isShell ? "application" : null;
}

const NAVIGATION =
  /\b(?:location(?:\s{0,9}\.\s{0,9}href)?\s{0,9}=(?![=>])|location\s{0,9}\.\s{0,9}(?:replace|assign)\s{0,9}\()/g;
/** A page that only redirects does little else. */
const MAX_NAVIGATIONS = 20;
const NAVIGATION_ON_LOAD = /<body\b[^>]{0,300}?\bonload\s*=[^>]{0,100}?\blocation\b/i;

/** @param isWordless whether the page has no words to lose; then any script may lead to another page */
function navigatesAway(html: string, isWordless: boolean): boolean {
  if (NAVIGATION_ON_LOAD.test(html)) return true;
  let navigations = 0;
  for (const code of inlineScripts(html)) {
    for (const { index } of code.matchAll(NAVIGATION)) {
      if (++navigations > MAX_NAVIGATIONS) return false;
      if (isWordless || runsAtOnce(code, index)) return true;
    }
  }
  return false;
}

function* inlineScripts(html: string): Generator<string> {
  const opening = /<script\b[^>]{0,500}>/gi;
  for (let found = opening.exec(html); found; found = opening.exec(html)) {
    const end = html.indexOf("</", opening.lastIndex);
    if (end < 0) return;
    yield html.slice(opening.lastIndex, end);
    opening.lastIndex = end;
  }
}

const MAX_HEAD = 120;
/** Matches the text before the brace of a function that runs at once or when the page has loaded. */
const RUNS =
  /(?:[(!]|\bonload\s{0,9}=|["'](?:load|DOMContentLoaded)["']\s{0,9},)\s{0,9}(?:function\s{0,9}\w{0,40}\s{0,9}\([^()]{0,40}\)|\([^()]{0,40}\)\s{0,9}=>)\s{0,9}$|\btry\s{0,9}$/;

const STATEMENT_START =
  /(?:^|[;{}\n]|\*\/|-->)\s{0,99}(?:\b(?:window|document|self|top|parent)\s{0,9}\.\s{0,9})?$/;

/** Whether the statement at this position runs when the page is shown, not on a click or under a condition. */
function runsAtOnce(code: string, at: number): boolean {
  const near = code.slice(Math.max(0, at - MAX_HEAD), at);
  if (!STATEMENT_START.test(near)) return false;
  const before = code.slice(0, at);
  const heads: string[] = [];
  for (let place = 0; place < before.length; place++) {
    if (before[place] === "{") heads.push(before.slice(Math.max(0, place - MAX_HEAD), place));
    else if (before[place] === "}") heads.pop();
  }
  return heads.every((head) => RUNS.test(head));
}
