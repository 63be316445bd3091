import { announce, byId, fill, h } from "../dom.ts";
import { counted, formatDuration } from "../format.ts";
import { RequestFailed } from "../http.ts";
import { problemMessage } from "../problem-message.ts";
import { pageHash, readAddress, readPageHash } from "./address.ts";
import { type ExtractionBody, extractArticle } from "./api.ts";
import { articleView } from "./article-view.ts";

const TITLE = "Article extractor";

/** What history keeps with a page that was extracted here: a link from elsewhere cannot bring it along. */
const ASKED = "asked";

/**
 * The form for one page, and what came of it.
 * @param onPlace gets the part of the location that leads back to what is shown
 * @returns shows what the location names; a page that nobody has asked for here waits for the button, as any site
 *   can have this page opened
 */
export function startExtractView(onPlace: (hash: string) => void): () => void {
  const form = byId("extract-form", HTMLFormElement);
  const url = byId("url", HTMLInputElement);
  const fieldError = byId("url-error", HTMLElement);
  const progress = byId("progress", HTMLElement);
  const problem = byId("problem", HTMLElement);
  const result = byId("result", HTMLElement);
  const intro = byId("intro", HTMLElement);
  const welcome = intro.textContent;
  let underWay: AbortController | null = null;
  /** The page that the result, the error or the progress belongs to. */
  let shown: string | null = null;

  const complain = (text: string | null): void => {
    fieldError.textContent = text ?? "";
    fieldError.hidden = text === null;
    url.setAttribute("aria-invalid", String(text !== null));
    if (text === null) return;
    url.focus();
    announce(text);
  };

  const extract = async (): Promise<void> => {
    const address = readAddress(url.value);
    complain(address.problem);
    // Its "Try again" would try what stands in the field now.
    fill(problem);
    if (address.url === null) return;
    url.value = address.url;
    keepPlace(address.url);
    shown = address.url;
    onPlace(pageHash(address.url));
    underWay?.abort();
    const own = new AbortController();
    underWay = own;
    result.hidden = true;
    intro.hidden = true;
    const stopClock = showProgress(progress, address.url, () => own.abort());
    const started = performance.now();
    try {
      const article = await extractArticle(readBody(address.url), own.signal);
      fill(result, ...articleView(article));
      result.hidden = false;
      document.title = `${article.title ?? address.url} – ${TITLE}`;
      announce(
        `Extracted in ${formatDuration(performance.now() - started)}: ${counted(article.word_count, "word")}`,
      );
    } catch (error) {
      if (own.signal.aborted) {
        if (underWay === own) announce("Stopped");
      } else showProblem(error);
    } finally {
      stopClock();
      if (underWay === own) progress.hidden = true;
    }
  };

  const showProblem = (error: unknown): void => {
    const fields = error instanceof RequestFailed ? error.fields : [];
    const ofUrl = fields.find(({ path }) => path === "url");
    // What is wrong with the address is said where it stands.
    if (ofUrl && fields.length === 1) complain(ofUrl.message);
    else
      fill(
        problem,
        problemMessage(error, () => void extract()),
      );
  };

  const showPlace = (): void => {
    const place = readPageHash();
    if (place === shown) {
      // Come back to over a link of this page.
      if (underWay !== null) history.replaceState(ASKED, "");
      return;
    }
    underWay?.abort();
    underWay = null;
    shown = place;
    url.value = place ?? "";
    complain(null);
    fill(problem);
    for (const element of [result, progress]) element.hidden = true;
    intro.hidden = false;
    document.title = TITLE;
    const isAsked = history.state === ASKED;
    intro.textContent = place === null || isAsked ? welcome : "Press Extract to fetch this page.";
    onPlace(place === null ? "#extract" : pageHash(place));
    if (place !== null && isAsked) void extract();
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void extract();
  });
  url.addEventListener("input", () => {
    if (url.getAttribute("aria-invalid") === "true") complain(null);
  });
  return showPlace;
}

/** Another page is a step that Back undoes. */
function keepPlace(url: string): void {
  if (readPageHash() === url) history.replaceState(ASKED, "");
  else history.pushState(ASKED, "", pageHash(url));
}

function readBody(url: string): ExtractionBody {
  const fetcher = byId("fetcher", HTMLSelectElement).value;
  const minWords = byId("min-words", HTMLInputElement).value;
  const select = byId("select", HTMLInputElement).value.trim();
  const exclude = byId("exclude", HTMLInputElement).value.trim();
  const options = {
    ...(minWords === "" ? {} : { min_word_count: Number(minWords) }),
    ...(byId("images", HTMLInputElement).checked ? {} : { include_images: false }),
    ...(byId("code", HTMLInputElement).checked ? {} : { include_code: false }),
    ...(select === "" ? {} : { select }),
    ...(exclude === "" ? {} : { exclude: [exclude] }),
  };
  return {
    url,
    ...(fetcher === "" ? {} : { prefer_browser: fetcher === "browser" }),
    ...(Object.keys(options).length === 0 ? {} : { options }),
  };
}

/** Says what is under way and for how long. @returns stops the clock */
function showProgress(element: HTMLElement, url: string, stop: () => void): () => void {
  const host = URL.parse(url)?.host ?? url;
  const clock = h("span", { class: "number" });
  const started = performance.now();
  const button = h("button", { type: "button", class: "small", onclick: stop }, "Stop");
  // A bar without value moves by itself, where motion is wanted.
  fill(
    element,
    h("p", {}, `Fetching and reading ${host} … `, clock),
    h("progress", { "aria-label": "Extracting" }),
    button,
  );
  element.hidden = false;
  announce(`Extracting ${host}`);
  const timer = setInterval(() => {
    clock.textContent = formatDuration(Math.floor((performance.now() - started) / 1000) * 1000);
  }, 1000);
  return () => clearInterval(timer);
}
