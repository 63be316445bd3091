import { byId, fill, h } from "../dom.ts";
import { crawlForm } from "./crawl-form.ts";
import { ExtractView } from "./extract-view.ts";
import { showJob, showJobs } from "./job-view.ts";

const crawls = byId("crawls", HTMLElement);

let looking = new AbortController();

/** Fills the part that the address names, which `part.ts` has shown: `#extract`, `#url=ADDRESS`, `#crawls`, `#crawl=ID`. */
function show(): void {
  looking.abort();
  looking = new AbortController();
  const id = new URLSearchParams(location.hash.slice(1)).get("crawl");
  if (id !== null) void showJob(crawls, id, looking.signal);
  else if (!crawls.hidden) showCrawls();
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
    h("div.crawls", h("section", { "aria-label": "Previous crawls" }, h("h2", "Crawls"), list), form),
  );
  void showJobs(list, looking.signal);
}

const page = new ExtractView((hash) => {
  byId("to-extract", HTMLAnchorElement).hash = hash;
});
window.addEventListener("hashchange", show);
show();
