import { announce, append, fill, h, keepInStep, message, saveBlob } from "../dom.ts";
import { counted, formatAgo, formatDuration, formatNumber, formatTime } from "../format.ts";
import { hasKey, request, showProblem } from "../http.ts";
import {
  type CrawledPage,
  cancelJob,
  DOWNLOADS,
  downloadPath,
  eventsPath,
  followEvents,
  isOver,
  type Job,
  listJobs,
  type Notice,
  readJob,
} from "./api.ts";
import { Outcomes } from "./outcomes.ts";
import { Speed } from "./speed.ts";

/** Shows one job and follows it to its end, or until the signal aborts because nobody looks. */
export async function showJob(element: HTMLElement, id: string, signal: AbortSignal): Promise<void> {
  const view = new JobView(id, signal);
  fill(element, h("a.back", { href: "#crawls" }, "← All crawls"), view.element);
  await view.follow();
}

class JobView {
  readonly element = h("div.job");
  readonly #id: string;
  readonly #signal: AbortSignal;
  readonly #head = h("header.job-head", h("p.fine", "Loading …"));
  readonly #bar = h("div");
  readonly #counts = h("dl.facts");
  readonly #actions = h("div.actions");
  readonly #trouble = h("div");
  readonly #notices = h("ul.notices.fine");
  readonly #outcomes: Outcomes;
  readonly #speed = new Speed();
  #job: Job | null = null;
  #announcedTenth = -1;

  constructor(id: string, signal: AbortSignal) {
    this.#id = id;
    this.#signal = signal;
    this.#outcomes = new Outcomes((error) => showProblem(this.#trouble, error));
    this.element.append(this.#head, this.#bar, this.#counts, this.#actions, this.#trouble, this.#notices);
    this.element.append(this.#speed.element, this.#outcomes.element);
  }

  /** Follows the events from the first one that is kept, even if some were seen before. */
  async follow(): Promise<void> {
    this.#outcomes.clear();
    fill(this.#notices);
    try {
      this.#showJob(await readJob(this.#id, this.#signal));
      const events = followEvents(eventsPath(this.#id), this.#signal, (error) => this.#showBreak(error));
      for await (const { kind, data } of events) this.#take(kind, JSON.parse(data));
      if (this.#job?.status === "completed") await this.#outcomes.complete(this.#id, this.#signal);
    } catch (error) {
      if (this.#signal.aborted) return;
      if (!this.#job) fill(this.#head);
      showProblem(this.#trouble, error, () => void this.follow());
    }
  }

  /** Handles an event; its body has the form that `GET /openapi.json` describes. */
  #take(kind: string, body: unknown): void {
    if (kind === "progress" || kind === "end") this.#showJob(body as Job);
    else if (kind === "page") this.#outcomes.add(body as CrawledPage);
    else if (kind === "notice") this.#showNotice(noticeText(body as Notice));
  }

  /** A site may ask many times for the same. */
  #showNotice(text: string): void {
    const isShown = [...this.#notices.children].some((notice) => notice.textContent === text);
    if (!isShown) this.#notices.append(h("li", text));
  }

  #showJob(job: Job): void {
    const before = this.#job;
    this.#job = job;
    fill(
      this.#head,
      h("h2.title", jobName(job)),
      h("p", stateTag(job), " ", h("span.fine", timesOf(job))),
      h("p.fine", `Into ${job.output_dir}`),
    );
    if (isOver(job)) fill(this.#bar);
    else this.#showProgress(job);
    this.#speed.take(job);
    fill(this.#counts, ...countFacts(job, this.#speed.perSecond));
    if (!before || before.status !== job.status || before.cancel_requested !== job.cancel_requested)
      this.#showActions(job);
    if (isOver(job)) this.#showEnd(job);
    this.#announce(job, before);
  }

  #showProgress({ progress, total, ...job }: Job): void {
    const bar = this.#bar.querySelector("progress");
    // The bar is reused, so that its movement is smooth.
    if (bar && total > 0) {
      bar.max = total;
      bar.value = progress;
    } else fill(this.#bar, progressBar({ progress, total, ...job }));
  }

  #showActions(job: Job): void {
    if (job.status === "completed") {
      const kinds = Object.keys(DOWNLOADS) as (keyof typeof DOWNLOADS)[];
      const buttons = kinds.map((what) =>
        h(
          "button.small",
          { type: "button", onclick: () => this.#do(() => this.#save(what)) },
          DOWNLOADS[what].label,
        ),
      );
      fill(this.#actions, h("span.fine", "Save as"), ...buttons);
    } else if (isOver(job)) fill(this.#actions);
    else {
      const cancel = (): void => this.#do(() => this.#cancel());
      const label = job.cancel_requested ? "Stopping …" : "Cancel";
      const isDisabled = job.cancel_requested ? "true" : null;
      fill(
        this.#actions,
        h("button", { type: "button", onclick: cancel, "aria-disabled": isDisabled }, label),
      );
    }
  }

  #showEnd({ error, successful }: Job): void {
    if (error === null || error.code === "cancelled") fill(this.#trouble);
    else fill(this.#trouble, h("div.message.bad", h("strong", "The crawl stopped"), h("p", error.message)));
    if (error === null && successful === 0)
      fill(this.#trouble, message("No page could be extracted", "See the reasons below."));
  }

  /** Announces each tenth of the way and each change of state; more would be noise for listeners. */
  #announce(job: Job, before: Job | null): void {
    const tenth = job.total === 0 ? 0 : Math.floor((job.progress / job.total) * 10);
    if (job.status !== before?.status)
      announce(`The crawl is ${job.status}. ${counted(job.successful, "page")}.`);
    else if (tenth > this.#announcedTenth) announce(`${job.progress} of ${job.total} pages`);
    this.#announcedTenth = Math.max(tenth, this.#announcedTenth);
  }

  #showBreak(error: unknown): void {
    const lost = message("The connection was lost", "Reconnecting. The crawl itself continues.");
    lost.role = "status";
    fill(this.#trouble, error !== null && lost);
  }

  async #cancel(): Promise<void> {
    if (!this.#job?.cancel_requested) this.#showJob(await cancelJob(this.#id));
  }

  async #save(what: keyof typeof DOWNLOADS): Promise<void> {
    const path = downloadPath(this.#id, what);
    const { file } = DOWNLOADS[what];
    // Only a request of ours can have a key; without one the browser writes the file while it comes.
    if (!hasKey()) h("a", { href: path, download: file }).click();
    else saveBlob(file, await (await request(path)).blob());
  }

  /** Does what a button says, or tells why that could not be done. */
  #do(action: () => Promise<void>): void {
    action().catch((error) => showProblem(this.#trouble, error));
  }
}

function timesOf(job: Job): string {
  const { started_at: started, completed_at: completed, created_at: created } = job;
  if (started === null) return `waiting since ${formatAgo(created) ?? "now"}`;
  if (completed === null) return `started ${formatAgo(started)}`;
  return `${formatTime(completed)}, took ${formatDuration(Date.parse(completed) - Date.parse(started))}`;
}

function countFacts(job: Job, perSecond: number | null): HTMLElement[] {
  const { progress, total, successful, failed, skipped, started_at: start, completed_at: end } = job;
  const facts: [string, string][] = [
    ["Done", isOver(job) ? formatNumber(progress) : `${formatNumber(progress)} of ${formatNumber(total)}`],
    ["Extracted", formatNumber(successful)],
    ["Failed", formatNumber(failed)],
    ["Skipped", formatNumber(skipped)],
  ];
  if (!isOver(job) && perSecond)
    facts.push(["Left", `about ${formatDuration(((total - progress) / perSecond) * 1000)}`]);
  const seconds = start && end ? (Date.parse(end) - Date.parse(start)) / 1000 : 0;
  if (seconds > 0) facts.push(["Pages per second", formatNumber(Math.round((progress / seconds) * 10) / 10)]);
  return facts.map(([name, value]) => h("div", h("dt", name), h("dd", value)));
}

function noticeText({ notice, host, sitemap, directory, failure }: Notice): string {
  if (notice === "low_disk") return `Disk space is low in ${directory ?? "the folder"}.`;
  if (notice === "robots_ignored") return "robots.txt is ignored.";
  if (notice === "host_paused")
    return `${host ?? "A host"} is paused for a while: it asked for fewer requests, or the rate limit applies.`;
  if (notice === "sitemap_read") return `The sitemap ${sitemap ?? ""} was read.`;
  if (notice === "sitemap_failed")
    return `The sitemap ${sitemap ?? ""} could not be read: ${failure?.message ?? "unknown reason"}`;
  return notice;
}

const QUIET_MS = 5000;
const BUSY_MS = 1000;

/** Keeps a list of the jobs up to date until the signal aborts because nobody looks. */
export async function showJobs(element: HTMLElement, signal: AbortSignal): Promise<void> {
  let shown = "";
  while (!signal.aborted) {
    let delayMs = QUIET_MS;
    if (!document.hidden) {
      try {
        const { jobs, queued, running } = await listJobs(signal);
        if (queued + running > 0) delayMs = BUSY_MS;
        const state = JSON.stringify(jobs) + Math.floor(Date.now() / 30_000);
        if (state !== shown) show(element, jobs);
        shown = state;
      } catch (error) {
        if (signal.aborted) return;
        return showProblem(element, error, () => void showJobs(element, signal));
      }
    }
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
}

function show(element: HTMLElement, jobs: readonly Job[]): void {
  // The form is what matters while there is nothing to list.
  element.closest(".crawls")?.classList.toggle("none", jobs.length === 0);
  if (jobs.length === 0) {
    fill(element, h("p.fine", "No crawls yet."));
    announce("No crawls yet");
    return;
  }
  const list = element.querySelector("ul.jobs") ?? h("ul.jobs");
  const present = new Map([...list.children].map((row) => [row.id, row]));
  keepInStep(
    list,
    jobs.map((job) => row(job, present.get(`job-${job.job_id}`))),
  );
  const isCut = jobs.length === LISTED;
  const note = h("p.fine", `The latest ${LISTED} crawls. Programs get more from GET /crawl?limit=1000.`);
  if (!list.isConnected || isCut !== (list.nextSibling !== null)) fill(element, list, isCut && note);
}

/** The most jobs that the server lists by default. */
const LISTED = 100;

/** A row keeps its link, so that the focus stays and a slow click still meets it. */
function row(job: Job, present: Element | undefined): Element {
  const href = `#crawl=${encodeURIComponent(job.job_id)}`;
  const row = present ?? h("li", { id: `job-${job.job_id}` }, h("a", { href }, jobName(job)));
  const when = formatAgo(job.completed_at ?? job.started_at ?? job.created_at);
  while (row.children.length > 1) row.lastChild?.remove();
  append(row, [
    stateTag(job),
    h("span.fine.number", `${counts(job)} · ${when ?? ""}`),
    !isOver(job) && progressBar(job),
  ]);
  return row;
}

/** Names a crawl after its start. */
function jobName({ seeds, sitemaps, job_id: id }: Job): string {
  const [first, ...others] = [...seeds, ...sitemaps];
  if (first === undefined) return id;
  const name = first.replace(/^https?:\/\//, "").replace(/\/$/, "");
  return others.length === 0 ? name : `${name} and ${others.length} more`;
}

function stateTag({ status, error, cancel_requested: isCancelled, successful, failed }: Job): HTMLElement {
  // The crawl itself went on to its end, but nobody has anything of it.
  if (status === "completed" && successful === 0 && failed > 0) return h("span.tag.bad", "nothing fetched");
  if (status === "failed" && error?.code === "cancelled") return h("span.tag", "cancelled");
  if (status === "failed") return h("span.tag.bad", "failed");
  if (isCancelled && status === "running") return h("span.tag.live", "stopping");
  return h("span", { class: status === "completed" ? "done" : "tag live" }, status);
}

const counts = ({ successful, failed, skipped }: Job): string =>
  [
    counted(successful, "page"),
    failed > 0 && `${formatNumber(failed)} failed`,
    skipped > 0 && `${formatNumber(skipped)} skipped`,
  ]
    .filter((part) => part)
    .join(", ");

const progressBar = ({ progress, total }: Job): HTMLElement =>
  // Before anything is known about the site, progress cannot be measured.
  h(
    "progress",
    total === 0 ? { "aria-label": "Progress" } : { value: progress, max: total, "aria-label": "Progress" },
  );
