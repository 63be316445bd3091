import { announce, fill, h, s } from "../dom.ts";
import { counted, formatNumber } from "../format.ts";
import type { PageBlock } from "./api.ts";

const STATES = ["kept", "unsure", "out"] as const;
type State = (typeof STATES)[number];
const STATE_NAMES: Readonly<Record<State, string>> = { kept: "Kept", unsure: "Unsure", out: "Left out" };

const stateOf = ({ kept, unsure }: PageBlock): State => (unsure ? "unsure" : kept ? "kept" : "out");

const REASONS: Readonly<Record<PageBlock["reason"], string>> = {
  likely: "it reads like the page’s content",
  code: "it is code",
  context: "it belongs to the kept content around it",
  whole: "the whole page is content",
  title: "it is the title, which is shown separately",
  unlikely: "it does not read like the page’s content",
  repeated: "it repeats something else on the page",
  template: "it is a template for scripts",
  tool: "it is a control of the site, such as a menu or a form",
  consent: "it asks for consent to tracking",
  option: "your options leave out code",
  data: "the page’s data for scripts holds the content instead",
};

const LANDMARKS: Readonly<Record<string, string>> = {
  nav: "navigation",
  aside: "beside the content",
};

/** The blocks that are shown at once; a click shows the next ones. */
const PORTION = 800;

export type BlockActions = {
  /** Adds a selector to the list of excluded elements. */
  readonly exclude: (selector: string) => void;
  /** Makes a selector the only place of the content. */
  readonly select: (selector: string) => void;
};

/**
 * Shows the outline of a page with what became of each of its blocks: a map of it all, the blocks in their parts of the
 * page, and why the chosen one is kept or left out. Only text of the page is shown, in elements of this page.
 */
export function blocksView(blocks: readonly PageBlock[] | null, actions: BlockActions): HTMLElement {
  if (blocks === null)
    return h(
      "p.fine",
      "Everything was kept: a content selector, the readability engine, Markdown and plain text leave nothing to choose.",
    );
  return new BlocksView(blocks, actions).element;
}

class BlocksView {
  readonly element: HTMLElement;
  readonly #blocks: readonly PageBlock[];
  readonly #actions: BlockActions;
  readonly #outline = h("div.outline", { role: "group", "aria-label": "Blocks of the page" });
  readonly #reason = h("div.reason", { role: "status" });
  readonly #more = h("button.small", { type: "button", onclick: () => this.#showMore() }, "Show more");
  /** The buttons of the blocks that are shown, by their places in the list. */
  readonly #buttons: HTMLButtonElement[] = [];
  #part: { readonly landmark: string | null; readonly element: HTMLElement } | null = null;
  #chosen = 0;

  constructor(blocks: readonly PageBlock[], actions: BlockActions) {
    this.#blocks = blocks;
    this.#actions = actions;
    this.#outline.addEventListener("keydown", (event) => this.#move(event));
    this.#outline.addEventListener("click", (event) => {
      const place = this.#buttons.indexOf(
        (event.target as Element).closest("button.block") as HTMLButtonElement,
      );
      if (place >= 0) this.#choose(place);
    });
    fill(this.#reason, h("p.fine", "Choose a block to see why it is kept or left out."));
    this.element = h(
      "div.blocks",
      h("div.states", ...STATES.map((state) => this.#switch(state))),
      this.#reason,
      h(
        "div.page",
        pageMap(blocks, (place) => this.#goTo(place)),
        this.#outline,
      ),
    );
    this.#showMore();
  }

  /** A button that shows the blocks of one state alone, and then all again. */
  #switch(state: State): HTMLElement {
    const count = this.#blocks.filter((block) => stateOf(block) === state).length;
    const button = h(
      "button",
      { type: "button", class: `small state ${state}`, "aria-pressed": "false", disabled: count === 0 },
      `${STATE_NAMES[state]} `,
      h("span.number", formatNumber(count)),
    );
    button.addEventListener("click", () => {
      const only = this.#outline.dataset.only === state ? "" : state;
      this.#outline.dataset.only = only;
      for (const other of button.parentElement?.children ?? [])
        other.setAttribute("aria-pressed", String(other === button && only !== ""));
    });
    return button;
  }

  #showMore(): void {
    this.#more.remove();
    const end = Math.min(this.#blocks.length, this.#buttons.length + PORTION);
    for (let place = this.#buttons.length; place < end; place++) this.#append(this.#blocks[place]!);
    if (end < this.#blocks.length) this.#outline.append(this.#more);
  }

  #append(block: PageBlock): void {
    if (this.#part?.landmark !== block.landmark || this.#part === null) {
      const name = block.landmark;
      const label = name !== null && h("span.landmark", LANDMARKS[name] ?? name);
      this.#part = { landmark: name, element: h(name === null ? "div.part.plain" : "div.part", label) };
      this.#outline.append(this.#part.element);
    }
    const state = stateOf(block);
    const isShort = block.word_count <= 4 && !/^h[1-6]$/.test(block.tag);
    const button = h(
      "button",
      {
        type: "button",
        class: `block ${state}${block.kept ? "" : " off"} ${FORMS[block.tag] ?? "text"}${isShort ? " short" : ""}${block.hidden ? " unseen" : ""}`,
        tabindex: this.#buttons.length === this.#chosen ? "0" : "-1",
        title: sentenceOf(block),
      },
      h("span.hush", `${STATE_NAMES[state]}: `),
      block.text,
      block.text.length >= MAX_TEXT && " …",
    );
    this.#buttons.push(button);
    this.#part.element.append(button);
  }

  #move(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    const last = this.#buttons.length - 1;
    const isSeen = (place: number): boolean => this.#buttons[place]!.checkVisibility();
    let target = { Home: 0, End: last }[event.key];
    if (step !== undefined) {
      target = this.#chosen + step;
      while (target >= 0 && target <= last && !isSeen(target)) target += step;
    }
    if (target === undefined || target < 0 || target > last) return;
    event.preventDefault();
    this.#choose(target);
  }

  #goTo(place: number): void {
    while (place >= this.#buttons.length) this.#showMore();
    this.#choose(place);
  }

  #choose(place: number): void {
    const before = this.#buttons[this.#chosen];
    before?.removeAttribute("aria-current");
    before?.setAttribute("tabindex", "-1");
    this.#chosen = place;
    const button = this.#buttons[place]!;
    button.tabIndex = 0;
    button.setAttribute("aria-current", "true");
    this.#explain(this.#blocks[place]!);
    button.focus({ preventScroll: true });
    this.#reveal(button);
  }

  /** Scrolls the list to a block, and not the page around it. */
  #reveal(button: HTMLElement): void {
    const list = [this.#outline, this.#outline.closest(".panel")].find(
      (element) => element !== null && getComputedStyle(element).overflowY === "auto",
    );
    if (!list) {
      button.scrollIntoView({ block: "nearest" });
      return;
    }
    const { top, bottom } = button.getBoundingClientRect();
    const frame = list.getBoundingClientRect();
    const from = list.contains(this.#reason) ? this.#reason.getBoundingClientRect().bottom : frame.top;
    const until = Math.min(frame.bottom, innerHeight);
    if (top < from || bottom > until) list.scrollTop += (top + bottom - from - until) / 2;
  }

  #explain(block: PageBlock): void {
    const { selector } = block;
    fill(
      this.#reason,
      h("p", sentenceOf(block)),
      h("p.fine", h("code", selector), ` · ${counted(block.word_count, "word")}`),
      h(
        "p.actions",
        this.#actButton("exclude", selector, "Exclude elements like this"),
        this.#actButton("select", selector, "Keep only elements like this"),
      ),
    );
  }

  #actButton(action: keyof BlockActions, selector: string, label: string): HTMLElement {
    const onclick = (): void => {
      this.#actions[action](selector);
      announce(`${selector} was added to the options; press Extract`);
    };
    return h("button.small", { type: "button", onclick }, label);
  }
}

/** The length from which on a block's text is cut by the server. */
const MAX_TEXT = 300;

/** How blocks of some elements look; all others are text. */
const FORMS: Readonly<Record<string, string>> = {
  h1: "title",
  h2: "heading",
  h3: "heading",
  h4: "heading",
  h5: "heading",
  h6: "heading",
  dt: "heading",
  li: "item",
  pre: "code",
  td: "cell",
  th: "cell",
  blockquote: "quote",
};

function sentenceOf(block: PageBlock): string {
  const { kept, unsure, probability, reason, hidden } = block;
  const sure = probability === null ? "" : ` (${Math.round(probability * 100)} % likely)`;
  const other = unsure
    ? ` Unsure: with “When unsure, keep ${kept ? "less, but cleaner" : "more, but noisier"}” it may be ${kept ? "left out" : "kept"}.`
    : "";
  return `${kept ? "Kept" : "Left out"}: ${REASONS[reason]}${sure}.${other}${hidden ? " The page hides it until the reader opens it." : ""}`;
}

/** The steps of the map; a longer page has several blocks in each. */
const STEPS = 240;

/**
 * Draws all blocks from top to bottom, each as tall as it has words, in the colour of its state. It is for the mouse; the
 * blocks themselves are for the keyboard.
 */
function pageMap(blocks: readonly PageBlock[], goTo: (place: number) => void): Element {
  const tall = (block: PageBlock): number => 3 + Math.min(block.word_count, 200);
  const whole = blocks.reduce((sum, block) => sum + tall(block), 0);
  const steps: { readonly words: Record<State, number>; first: number }[] = [];
  let at = 0;
  for (const [place, block] of blocks.entries()) {
    const from = Math.floor((at / whole) * STEPS);
    at += tall(block);
    const until = Math.max(from + 1, Math.floor((at / whole) * STEPS));
    for (let step = from; step < Math.min(until, STEPS); step++) {
      steps[step] ??= { words: { kept: 0, unsure: 0, out: 0 }, first: place };
      steps[step]!.words[stateOf(block)] += tall(block);
    }
  }
  const picture = s("svg", {
    viewBox: `0 0 10 ${STEPS}`,
    preserveAspectRatio: "none",
    "shape-rendering": "crispEdges",
    "aria-hidden": "true",
    class: "map",
  });
  for (const [step, { words }] of steps.entries()) {
    const [state] = [...STATES].sort((a, b) => words[b] - words[a]);
    picture.append(s("rect", { x: 0, y: step, width: 10, height: 1, class: state ?? "out" }));
  }
  picture.addEventListener("click", (event) => {
    const { top, height } = picture.getBoundingClientRect();
    const step = Math.floor(((event.clientY - top) / height) * STEPS);
    const place = steps[Math.min(Math.max(step, 0), steps.length - 1)]?.first;
    if (place !== undefined) goTo(place);
  });
  return picture;
}
