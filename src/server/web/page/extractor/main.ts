import { byId, fill, h } from "../dom.ts";
import { crawlForm } from "./crawl-form.ts";
import { ExtractView } from "./extract-view.ts";
import { showJob, showJobs } from "./job-view.ts";

const extract = byId("extract", HTMLElement);
const crawls = byId("crawls", HTMLElement);
const toExtract = byId("to-extract", HTMLAnchorElement);
const toCrawls = byId("to-crawls", HTMLAnchorElement);

let looking = new AbortController();

/** Shows the part that the address names: `#extract`, `#url=ADDRESS`, `#crawls`, `#crawl=ID`. */
function show(): void {
  looking.abort();
  looking = new AbortController();
  const id = new URLSearchParams(location.hash.slice(1)).get("crawl");
  const isCrawls = id !== null || location.hash === "#crawls";
  extract.hidden = isCrawls;
  crawls.hidden = !isCrawls;
  for (const [link, isCurrent] of [
    [toExtract, !isCrawls],
    [toCrawls, isCrawls],
  ] as const) {
    if (isCurrent) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (id !== null) void showJob(crawls, id, looking.signal);
  else if (isCrawls) showCrawls();
  else {
    page.showPlace();
    byId("url", HTMLInputElement).focus({ preventScroll: true });
  }
}

function showCrawls(): void {
  const list = h("div", h("p.fine", "Loading …"));
  const form = crawlForm((id) => {
    location.hash = `#crawl=${encodeURIComponent(id)}`;
  });
  fill(
    crawls,
    h("div.crawls", h("section", { "aria-label": "Crawls so far" }, h("h2", "Crawls"), list), form),
  );
  void showJobs(list, looking.signal);
}

const page = new ExtractView((hash) => {
  toExtract.hash = hash;
});
window.addEventListener("hashchange", show);
show();
