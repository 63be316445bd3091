import { announce, byId, fill, h } from "../dom.ts";
import { counted, formatDuration } from "../format.ts";
import { RequestFailed, showProblem, timeAsking } from "../http.ts";
import { extractPage, pageHash, readAddress, readPageHash } from "./api.ts";
import { articleView } from "./article-view.ts";
import { OptionsForm } from "./options-form.ts";
import { keepAddress, suggestions } from "./recent.ts";

const TITLE = "Article extractor";

/** A mark in the history for a page that was extracted here; a link from elsewhere cannot set it. */
const ASKED = "asked";

/** The form for one page, and its result. */
export class ExtractView {
  readonly #url = byId("url", HTMLInputElement);
  readonly #fieldError = byId("url-error", HTMLElement);
  readonly #progress = byId("progress", HTMLElement);
  readonly #problem = byId("problem", HTMLElement);
  readonly #result = byId("result", HTMLElement);
  readonly #intro = byId("intro", HTMLElement);
  readonly #welcome = this.#intro.textContent;
  readonly #suggestions = byId("suggestions", HTMLElement);
  readonly #options = new OptionsForm();
  readonly #onPlace: (hash: string) => void;
  #underWay: AbortController | null = null;
  /** The page to which the result, the error or the progress belongs; undefined before anything is shown. */
  #shown: string | null | undefined;

  /** @param onPlace receives the fragment that leads back to what is shown */
  constructor(onPlace: (hash: string) => void) {
    this.#onPlace = onPlace;
    byId("extract-form", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#extract();
    });
    this.#url.addEventListener("input", () => {
      if (this.#url.getAttribute("aria-invalid") === "true") this.#complain(null);
    });
  }

  /**
   * Shows what the location names. A page that was not requested here waits for the button, because any site
   * can open this page.
   */
  showPlace(): void {
    const page = readPageHash();
    const place = page && String(page);
    if (place === this.#shown) {
      // The reader has come back over a link of this page.
      if (this.#underWay !== null) history.replaceState(ASKED, "");
      return;
    }
    this.#underWay?.abort();
    this.#underWay = null;
    this.#shown = place;
    this.#url.value = page?.get("url") ?? "";
    if (page) this.#options.restore(page);
    this.#complain(null);
    fill(this.#problem);
    for (const element of [this.#result, this.#progress]) element.hidden = true;
    this.#showWelcome();
    document.title = TITLE;
    const isAsked = history.state === ASKED;
    this.#intro.textContent = place === null || isAsked ? this.#welcome : "Press Extract to fetch this page.";
    this.#onPlace(place === null ? "#extract" : `#${place}`);
    if (place !== null && isAsked) void this.#extract();
  }

  #showWelcome(): void {
    this.#intro.hidden = false;
    this.#suggestions.hidden = false;
    fill(
      this.#suggestions,
      suggestions((url) => {
        this.#url.value = url;
        void this.#extract();
      }),
    );
  }

  #complain(text: string | null): void {
    this.#fieldError.textContent = text ?? "";
    this.#fieldError.hidden = text === null;
    this.#url.setAttribute("aria-invalid", String(text !== null));
    if (text === null) return;
    this.#url.focus();
    announce(text);
  }

  async #extract(): Promise<void> {
    const address = readAddress(this.#url.value);
    this.#complain(address.problem);
    // Its "Try again" would use the present text of the field.
    fill(this.#problem);
    if (address.url === null) return;
    this.#url.value = address.url;
    this.#options.update();
    const hash = pageHash(address.url, this.#options.changed());
    keepPlace(hash);
    this.#shown = hash.slice(1);
    this.#onPlace(hash);
    this.#underWay?.abort();
    const own = new AbortController();
    this.#underWay = own;
    this.#result.hidden = true;
    this.#intro.hidden = true;
    this.#suggestions.hidden = true;
    const elapsed = startWatch();
    const stopClock = showProgress(this.#progress, address.url, () => own.abort(), elapsed);
    try {
      const page = await extractPage(this.#options.body(address.url), own.signal);
      fill(this.#result, ...articleView(page, this.#options));
      this.#result.hidden = false;
      const { article } = page;
      document.title = `${article.title ?? address.url} – ${TITLE}`;
      announce(`Extracted in ${formatDuration(elapsed())}: ${counted(article.word_count, "word")}`);
      keepAddress(address.url);
    } catch (error) {
      if (own.signal.aborted) {
        if (this.#underWay === own) announce("Stopped");
      } else this.#showProblem(error);
    } finally {
      stopClock();
      if (this.#underWay === own) this.#progress.hidden = true;
    }
  }

  #showProblem(error: unknown): void {
    const fields = error instanceof RequestFailed ? error.fields : [];
    const ofUrl = fields.find(({ path }) => path === "url");
    // An error in the address is shown beside the address.
    if (ofUrl && fields.length === 1) this.#complain(ofUrl.message);
    else showProblem(this.#problem, error, () => void this.#extract());
  }
}

/** Makes another page, or other options for it, a step that Back undoes. */
function keepPlace(hash: string): void {
  if (`#${readPageHash()}` === hash) history.replaceState(ASKED, "");
  else history.pushState(ASKED, "", hash);
}

/** Starts a watch that stands still while the reader is asked for a key. @returns a function that reads it, in ms */
function startWatch(): () => number {
  const started = performance.now();
  const asked = timeAsking();
  return () => performance.now() - started - (timeAsking() - asked);
}

/** Shows what is under way and for how long. @returns a function that stops the clock */
function showProgress(
  element: HTMLElement,
  url: string,
  stop: () => void,
  elapsed: () => number,
): () => void {
  const host = URL.parse(url)?.host ?? url;
  const clock = h("span.number");
  const button = h("button.small", { type: "button", onclick: stop }, "Stop");
  // A bar without a value moves by itself if the reader allows motion.
  fill(
    element,
    h("p", `Fetching and reading ${host} … `, clock),
    h("progress", { "aria-label": "Extracting" }),
    button,
  );
  element.hidden = false;
  announce(`Extracting ${host}`);
  const timer = setInterval(() => {
    clock.textContent = formatDuration(Math.floor(elapsed() / 1000) * 1000);
  }, 1000);
  return () => clearInterval(timer);
}
