/** What the pages of the documentation do besides being read: search, the list of pages on a phone, copying of code. */
import type { DocsHit } from "./engine.ts";

const root = document.documentElement.dataset.root ?? "";
const find = <Kind extends HTMLElement>(selector: string): Kind => {
  const element = document.querySelector<Kind>(selector);
  if (!element) throw new Error(`the page has no ${selector}`);
  return element;
};

const announce = (text: string): void => {
  find("#announcer").textContent = text;
};

function make(tag: string, className: string, ...children: readonly (Node | string)[]): HTMLElement {
  const element = document.createElement(tag);
  if (className !== "") element.className = className;
  element.append(...children);
  return element;
}

// On a phone the list of pages is behind a button; without scripts it stands above the page.
function foldContents(): void {
  const contents = document.querySelector<HTMLElement>("#contents");
  if (!contents) return; // the page for unknown addresses has none
  const button = find<HTMLButtonElement>("button.menu");
  const show = (isShown: boolean): void => {
    contents.classList.toggle("folded", !isShown);
    button.setAttribute("aria-expanded", String(isShown));
  };
  button.hidden = false;
  button.addEventListener("click", () => show(button.getAttribute("aria-expanded") !== "true"));
  show(false);
  const current = contents.querySelector<HTMLElement>("[aria-current]");
  if (current) contents.scrollTop = current.offsetTop - contents.clientHeight / 2;
}

function offerCopies(): void {
  for (const block of document.querySelectorAll<HTMLElement>(".code")) {
    const commands = [...block.querySelectorAll(".command")].map(({ textContent }) => textContent.slice(2));
    const text = commands.length > 0 ? commands.join("\n") : (block.querySelector("code")?.textContent ?? "");
    const button = make("button", "small quiet copy", "Copy") as HTMLButtonElement; // made as one
    button.type = "button";
    button.setAttribute("aria-label", commands.length > 0 ? "Copy the commands" : "Copy this block");
    button.addEventListener("click", async () => {
      const done = await navigator.clipboard.writeText(text).then(
        () => "Copied",
        () => "Not allowed",
      );
      button.textContent = done;
      announce(done);
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    block.append(button);
  }
}

/** Adds a script of the site, and waits for it. */
const load = (name: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${root}assets/${name}`;
    script.addEventListener("load", () => resolve());
    script.addEventListener("error", () => reject(new Error(`${name} could not be loaded`)));
    document.head.append(script);
  });

let engine: Promise<void> | null = null;
/** The engine and what it searches are fetched when somebody is about to search, and once. */
function loadEngine(): Promise<void> {
  engine ??= load("documents.js")
    .then(() => load("search.js"))
    .catch((error) => {
      engine = null;
      throw error;
    });
  return engine;
}

class Search {
  readonly #form = find("search");
  readonly #field = find<HTMLInputElement>("#query");
  readonly #panel = find("#hits");

  constructor() {
    this.#form.hidden = false;
    this.#field.addEventListener("focus", () => void loadEngine().catch(() => {}));
    this.#field.addEventListener("input", () => void this.#search());
    this.#form.addEventListener("keydown", (event) => this.#move(event));
    this.#form.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget instanceof Node && !this.#form.contains(relatedTarget)) this.#hide();
    });
    document.addEventListener("click", ({ target }) => {
      if (target instanceof Node && !this.#form.contains(target)) this.#hide();
    });
    document.addEventListener("keydown", (event) => this.#focus(event));
  }

  #focus(event: KeyboardEvent): void {
    const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.#field.focus();
    this.#field.select();
  }

  async #search(): Promise<void> {
    const query = this.#field.value.trim();
    if (query === "") {
      this.#hide();
      return;
    }
    try {
      await loadEngine();
    } catch {
      this.#show(make("p", "fine", "The search could not be loaded. The list of pages names all of them."));
      return;
    }
    // Something else may have been typed while the engine was loaded.
    if (query !== this.#field.value.trim()) return;
    const hits = globalThis.docsSearch(query);
    const list = make("ol", "hits", ...hits.map(hitElement));
    const none = make("p", "fine", `Nothing was found for “${query}”.`);
    this.#show(hits.length > 0 ? list : none);
    announce(hits.length === 1 ? "1 page found" : `${hits.length} pages found`);
  }

  #show(content: HTMLElement): void {
    this.#panel.replaceChildren(content);
    this.#panel.hidden = false;
  }

  #hide(): void {
    this.#panel.hidden = true;
  }

  /** Arrows go through the hits, Enter opens the first, Escape closes them. */
  #move(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      this.#hide();
      this.#field.focus();
      return;
    }
    const links = this.#panel.hidden ? [] : [...this.#panel.querySelectorAll("a")];
    const at = links.findIndex((link) => link === document.activeElement);
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && links.length > 0) {
      event.preventDefault();
      (links[at + step] ?? (step < 0 ? this.#field : links.at(-1)))?.focus();
    } else if (event.key === "Enter" && event.target === this.#field && !event.isComposing) links[0]?.click();
  }
}

function hitElement({ title, places }: DocsHit): HTMLElement {
  const [best, ...others] = places;
  const more = others
    .filter(({ headings }) => headings !== "")
    .map(({ address, headings }) => link(address, "also", headings));
  const place = best?.headings ? [make("span", "place", best.headings)] : [];
  const snippet = make("span", "snippet");
  // The engine has escaped it, and it is text of these pages.
  snippet.innerHTML = best?.snippet ?? "";
  const head = link(best?.address ?? "", "hit", make("b", "", title), ...place, snippet);
  return make("li", "", head, ...(more.length > 0 ? [make("p", "fine", "Also: ", ...more)] : []));
}

function link(address: string, className: string, ...children: readonly (Node | string)[]): HTMLElement {
  const element = make("a", className, ...children) as HTMLAnchorElement; // made as one
  element.href = root + address;
  return element;
}

foldContents();
offerCopies();
new Search();
