import { expect } from "bun:test";
import { join } from "node:path";
import { temporaryDirectory } from "./binary.ts";
import { openDisplay } from "./display.ts";
import { type ScriptedSite, serveScriptedSite } from "./scripted-site.ts";

/** Runs a command on one URL; returns what it made of the page, or "" when that failed, and what it logged. */
export type SeePage = (
  url: string,
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
) => Promise<{ readonly text: string; readonly log: string }>;

/** The effects of the options that are about a browser: the same for one page and for a crawl. */
export function browserEffects(see: SeePage): Readonly<Record<string, () => Promise<void>>> {
  const on = async (work: (site: ScriptedSite) => Promise<void>): Promise<void> => {
    await using site = serveScriptedSite();
    await work(site);
  };
  const prefers = (value: boolean) => ({ ARTICLE_EXTRACTOR_PREFER_BROWSER: String(value) });
  return {
    "prefer-browser": () =>
      on(async ({ origin }) => {
        expect((await see(`${origin}/plain`, ["--prefer-browser"])).text).toContain("As scripted.");
        expect((await see(`${origin}/plain`, [])).text).toContain("As sent.");
      }),
    "prefer-http": () =>
      on(async ({ origin }) => {
        const env = prefers(true);
        expect((await see(`${origin}/plain`, [], env)).text).toContain("As scripted.");
        expect((await see(`${origin}/plain`, ["--prefer-http"], env)).text).toContain("As sent.");
        expect((await see(`${origin}/app`, ["--prefer-http"], env)).text).toContain("From the script.");
      }),
    "no-browser": () =>
      on(async ({ origin }) => {
        expect((await see(`${origin}/app`, ["--no-browser"], prefers(true))).text).toBe("");
      }),
    "wait-for": () =>
      on(async ({ origin }) => {
        expect((await see(`${origin}/late`, ["--prefer-browser"])).text).not.toContain("Came late");
        expect((await see(`${origin}/late`, ["--wait-for", "p.done"])).text).toContain("Came late");
      }),
    scroll: () =>
      on(async ({ origin }) => {
        expect((await see(`${origin}/scroll`, ["--prefer-browser"])).text).not.toContain("number 40");
        expect((await see(`${origin}/scroll`, ["--scroll"])).text).toContain("number 40");
      }),
    "load-media": () =>
      on(async (site) => {
        await see(`${site.origin}/media`, ["--prefer-browser"]);
        expect(site.count("/picture.png")).toBe(0);
        await see(`${site.origin}/media`, ["--load-media"]);
        expect(site.count("/picture.png")).toBe(1);
      }),
    "storage-state": () =>
      on(async ({ origin }) => {
        await using directory = await temporaryDirectory();
        const kept = ["--storage-state", join(directory.path, "state.json")];
        expect((await see(`${origin}/self-login`, [...kept, "--prefer-browser"])).text).toContain(
          "Welcome back.",
        );
        expect((await see(`${origin}/members`, [...kept, "--prefer-browser"])).text).toContain(
          "Welcome back.",
        );
        expect((await see(`${origin}/members`, [...kept, "--no-browser"])).text).toContain("Welcome back.");
        expect((await see(`${origin}/members`, ["--prefer-browser"])).text).toContain("Please log in.");
      }),
    headed: () =>
      on(async ({ origin }) => {
        await using display = await openDisplay();
        const { text, log } = await see(`${origin}/app`, ["--headed", "-v"], display.env);
        expect(text).toContain("From the script.");
        expect(log).toContain('"headed":true');
      }),
    "user-interaction-timeout": () =>
      on(async (site) => {
        await using display = await openDisplay();
        const headed = (seconds: string) =>
          see(`${site.origin}/app`, ["--headed", "--user-interaction-timeout", seconds], display.env);
        await headed("0");
        expect(site.count("/app")).toBe(1);
        // Shown to the person first, then taken.
        await headed("0.5");
        expect(site.count("/app")).toBe(3);
      }),
  };
}
