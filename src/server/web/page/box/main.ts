import type { z } from "../../../api/openapi.ts";
import type * as schemas from "../../../api/search/schemas.ts";
import { fill, h, s, snippetNodes } from "../dom.ts";
import { keptList } from "../kept-list.ts";
import style from "./style.css" with { type: "text" };

/*
 * The search box for pages of other sites, as one classic script: `<docs-search>`. Its styles are a constructed sheet
 * in a shadow tree, so that it works under a Content-Security-Policy without inline styles and disturbs no page.
 */

type Hit = z.infer<typeof schemas.SearchAnswer>["hits"][number];

/** Settings of the box, as attributes of the element, or as `data-` attributes of the script. */
const ATTRIBUTES = ["server", "tenants", "placeholder", "keys", "theme", "recent"] as const;

const SIZE = 8;
/** The pause in typing that starts a search, in ms. */
const PAUSE_MS = 150;
const TIMEOUT_MS = 10_000;
const PLACEHOLDER = "Search the documentation";
const KEYS = "/ ctrl+k";

const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript : null;
const ownServer = script ? new URL("./", script.src).href : null;
const sheet = new CSSStyleSheet();
sheet.replaceSync(style);

class DocsSearch extends HTMLElement {
  readonly #input = h("input", {
    type: "text",
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-controls": "list",
    "aria-expanded": "false",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    enterkeyhint: "search",
    autofocus: true,
  });
  readonly #list = h("div.list", { id: "list", role: "listbox", "aria-label": "Results" });
  readonly #status = h("p.status", { role: "status" });
  readonly #forget = h(
    "button.plain",
    { type: "button", onclick: () => this.#forgetRecent() },
    "Clear recent",
  );
  readonly #dialog = h("dialog");
  #listening = new AbortController();
  #underWay = new AbortController();
  #pause: ReturnType<typeof setTimeout> | undefined;
  #options: readonly HTMLAnchorElement[] = [];
  #active = -1;

  static readonly observedAttributes = ATTRIBUTES;

  connectedCallback(): void {
    if (!this.shadowRoot) this.attachShadow({ mode: "open" }).adoptedStyleSheets = [sheet];
    this.#draw();
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    document.addEventListener("keydown", (event) => this.#openByKey(event), { signal });
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.#draw();
  }

  #draw(): void {
    if (this.shadowRoot) fill(this.shadowRoot, this.#opener(), this.#panel());
  }

  disconnectedCallback(): void {
    this.#listening.abort();
    this.#underWay.abort();
  }

  /** Opens the box, as its button does. */
  open(): void {
    if (this.#dialog.open) return;
    this.#dialog.showModal();
    this.#input.select();
    this.#search();
  }

  get #server(): string | null {
    const named = this.getAttribute("server");
    return named === null
      ? ownServer
      : (URL.parse(`${named.replace(/\/$/, "")}/`, document.baseURI)?.href ?? null);
  }

  get #keys(): readonly string[] {
    return (this.getAttribute("keys") ?? KEYS).toLowerCase().split(/\s+/).filter(Boolean);
  }

  #opener(): HTMLElement {
    const text = this.getAttribute("placeholder") ?? PLACEHOLDER;
    const shortcuts = this.#keys.map((key) => key.replace("ctrl+", "Control+")).join(" ");
    const attributes = { type: "button", "aria-haspopup": "dialog", "aria-keyshortcuts": shortcuts || null };
    const hints = this.#keys.map((key) => h("kbd", { "aria-hidden": "true" }, shownKey(key)));
    return h(
      "button.open",
      { ...attributes, onclick: () => this.open() },
      glass(),
      h("span", text),
      ...hints,
    );
  }

  #panel(): HTMLElement {
    const text = this.getAttribute("placeholder") ?? PLACEHOLDER;
    this.#dialog.setAttribute("aria-label", text);
    this.#input.placeholder = text;
    this.#input.setAttribute("aria-label", text);
    const close = h("button.plain", { type: "button", onclick: () => this.#dialog.close() }, "Close");
    const keys = ["↑↓ to choose", "Enter to open", "Esc to close"].map((hint) => h("span.hint", hint));
    const panel = h(
      "div.panel",
      h("div.field", glass(), this.#input, close),
      this.#list,
      this.#status,
      h("div.foot", ...keys, this.#forget),
    );
    fill(this.#dialog, panel);
    this.#input.oninput = () => {
      clearTimeout(this.#pause);
      this.#pause = setTimeout(() => this.#search(), PAUSE_MS);
    };
    this.#input.onkeydown = (event) => this.#move(event);
    // Around the panel is only the backdrop.
    this.#dialog.onclick = ({ target }) => {
      if (target === this.#dialog) this.#dialog.close();
    };
    return this.#dialog;
  }

  #openByKey(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.altKey || this.#dialog.open) return;
    const isHeld = event.ctrlKey || event.metaKey;
    const typed = `${isHeld ? "ctrl+" : ""}${event.key.toLowerCase()}`;
    if (!this.#keys.includes(typed) || (!isHeld && isTyping(event))) return;
    event.preventDefault();
    this.open();
  }

  #move(event: KeyboardEvent): void {
    const { length } = this.#options;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && length > 0) {
      event.preventDefault();
      this.#choose((this.#active + step + length) % length);
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      this.#options[Math.max(0, this.#active)]?.click();
    }
  }

  #choose(at: number): void {
    this.#active = at;
    for (const [place, option] of this.#options.entries())
      option.setAttribute("aria-selected", String(place === at));
    const chosen = this.#options[at];
    if (chosen) this.#input.setAttribute("aria-activedescendant", chosen.id);
    else this.#input.removeAttribute("aria-activedescendant");
    chosen?.scrollIntoView({ block: "nearest" });
  }

  async #search(): Promise<void> {
    this.#underWay.abort();
    this.#underWay = new AbortController();
    const { signal } = this.#underWay;
    const query = this.#input.value.trim();
    const server = this.#server;
    if (query === "" || server === null) return this.#showRecent(server);
    try {
      const page = await ask(server, query, this.getAttribute("tenants") ?? "", signal);
      if (signal.aborted) return;
      const hits = page.hits.flatMap((hit) => toOption(hit, server, query) ?? []);
      this.#show(hits);
      const count = page.total === 1 ? "1 result" : `${page.total} results`;
      this.#say(hits.length > 0 ? count : `Nothing found for “${query}”. Try fewer or different words.`);
    } catch (error) {
      if (signal.aborted) return;
      this.#show([]);
      this.#say(error instanceof Refused ? error.message : "The search is not responding. Try again later.");
    }
  }

  #showRecent(server: string | null): void {
    const recent = this.getAttribute("recent") === "off" || server === null ? [] : choicesOn(server).read();
    this.#show(
      recent.map((chosen) => ({ chosen, group: "Recent", content: [h("span.where", chosen.name)] })),
    );
    this.#forget.hidden = recent.length === 0;
    this.#say(server === null ? "This search box has no server set." : "");
  }

  #forgetRecent(): void {
    if (this.#server !== null) choicesOn(this.#server).write([]);
    this.#showRecent(this.#server);
    this.#input.focus();
  }

  #show(options: readonly Option[]): void {
    this.#forget.hidden = true;
    const groups = Map.groupBy(options, ({ group }) => group);
    const links: HTMLAnchorElement[] = [];
    const sections = [...groups].map(([group, members], at) => {
      const items = members.map((member) => {
        const link = this.#link(member, links.length);
        links.push(link);
        return link;
      });
      const name = h("div.name", { id: `group-${at}` }, group);
      return h("div", { role: "group", "aria-labelledby": name.id }, name, ...items);
    });
    this.#options = links;
    fill(this.#list, ...sections);
    this.#list.scrollTop = 0;
    this.#input.setAttribute("aria-expanded", String(links.length > 0));
    // Enter opens the best hit, but nothing that was only looked at before.
    this.#choose(links.length > 0 && this.#input.value.trim() !== "" ? 0 : -1);
  }

  #link({ chosen, content }: Option, place: number): HTMLAnchorElement {
    const attributes = { role: "option", id: `option-${place}`, href: chosen.url, tabindex: "-1" };
    const link = h("a", attributes, h("span.title", chosen.title), ...content);
    link.addEventListener("pointermove", () => {
      if (this.#active !== place) this.#choose(place);
    });
    link.addEventListener("click", () => {
      if (this.#server !== null && this.getAttribute("recent") !== "off") keepChoice(this.#server, chosen);
      this.#dialog.close();
    });
    return link;
  }

  /** Says what came of a search: to everybody where nothing else shows it, else to screen readers. */
  #say(text: string): void {
    this.#status.className = this.#options.length > 0 ? "status hush" : "status";
    this.#status.textContent = text;
  }
}

/** A line of the list. */
type Option = { readonly chosen: Chosen; readonly group: string; readonly content: readonly Node[] };

/** The server's answer that this page may not search, or not now. */
class Refused extends Error {}

async function ask(
  server: string,
  query: string,
  tenants: string,
  signal: AbortSignal,
): Promise<z.infer<typeof schemas.SearchAnswer>> {
  const parameters = new URLSearchParams({ q: query, size: String(SIZE), snippet_style: "rich", facets: "" });
  if (tenants.trim() !== "") parameters.set("tenant", tenants);
  const either = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  let response: Response;
  try {
    response = await fetch(`${server}search?${parameters}`, { signal: either, credentials: "omit" });
  } catch (error) {
    // Browsers do not tell a page why: whether the server is down, or does not allow the page to read.
    if (!signal.aborted)
      console.warn(
        `docs-search: no readable answer from ${server}. Is it up, and does its DOCS_SEARCH_CORS_ORIGINS name ${location.origin}?`,
      );
    throw error;
  }
  if (response.ok) return await response.json();
  const problem: { readonly detail?: unknown } | null = await response.json().catch(() => null);
  console.warn(`docs-search: ${server} answered ${response.status}: ${String(problem?.detail ?? "")}`);
  if (response.status === 401) throw new Refused("This search requires access.");
  if (response.status === 429 || response.status === 503)
    throw new Refused("The search is busy. Try again soon.");
  throw new Error(`status ${response.status}`);
}

/** A hit as a line of the list; null for one that no link can lead to. */
function toOption(hit: Hit, server: string, query: string): Option | null {
  const { docs_name: name, title, heading, snippet } = hit;
  const url = addressOf(hit, server, query);
  if (url === null) return null;
  const content = [
    ...(heading === "" ? [] : [h("span.where", heading)]),
    h("span.snippet", ...snippetNodes(snippet)),
  ];
  const where = heading === "" ? name : `${name} › ${heading}`;
  return { chosen: { url, title: title || hit.url, name: where }, group: name, content };
}

/** Web pages are opened at their section; documents of folders exist on the server's page only. */
function addressOf({ url, anchor, tenant }: Hit, server: string, query: string): string | null {
  if (/^https?:/.test(url)) return anchor === null ? url : `${url}#${anchor}`;
  if (!url.startsWith("docs:")) return null;
  const place = new URLSearchParams({ q: query, doc: url, of: tenant });
  if (anchor !== null) place.set("at", anchor);
  return `${server}#${place}`;
}

/** Whether somebody writes where the key was pressed, also inside other components. */
function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches("input, textarea, select");
}

const shownKey = (key: string): string =>
  key
    .replace("ctrl+", /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘ " : "Ctrl ")
    .replace(/\w$/, (letter) => letter.toUpperCase());

const glass = (): SVGElement =>
  s(
    "svg",
    { viewBox: "0 0 24 24", "aria-hidden": "true" },
    s("circle", { cx: 11, cy: 11, r: 7 }),
    s("path", { d: "m16.5 16.5 4 4" }),
  );

/** A place that a reader chose. */
type Chosen = { readonly url: string; readonly title: string; readonly name: string };

const MAX_KEPT = 5;

/** The places that were chosen last. */
const choicesOn = (server: string) => keptList(`docs-search.recent ${server}`, MAX_KEPT, isChosen);

function keepChoice(server: string, chosen: Chosen): void {
  const choices = choicesOn(server);
  choices.write([chosen, ...choices.read().filter(({ url }) => url !== chosen.url)]);
}

/** Other scripts of the site write into the same storage. */
const isChosen = (value: unknown): value is Chosen =>
  typeof value === "object" &&
  value !== null &&
  ["url", "title", "name"].every((name) => typeof Reflect.get(value, name) === "string") &&
  /^https?:/.test(String(Reflect.get(value, "url")));

if (!customElements.get("docs-search")) customElements.define("docs-search", DocsSearch);

// In the body, the script marks the place of the box; in the head it only defines the element.
if (script && !script.closest("head")) {
  const box = document.createElement("docs-search");
  for (const name of ATTRIBUTES) {
    const value = script.dataset[name];
    if (value !== undefined) box.setAttribute(name, value);
  }
  script.after(box);
}
