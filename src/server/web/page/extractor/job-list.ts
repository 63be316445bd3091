import { announce, fill, h } from "../dom.ts";
import { counted, formatAgo, formatNumber } from "../format.ts";
import { problemMessage } from "../problem-message.ts";
import { isOver, type Job, listJobs } from "./api.ts";

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
        shown = "";
        const retry = (): void => void showJobs(element, signal);
        fill(element, problemMessage(error, retry));
        return;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
}

function show(element: HTMLElement, jobs: readonly Job[]): void {
  const focused = document.activeElement?.id;
  if (jobs.length === 0) {
    fill(element, h("p", { class: "fine" }, "No crawls yet."));
    announce("No crawls yet");
    return;
  }
  fill(element, h("ul", { class: "jobs" }, ...jobs.map(row)));
  // Drawing the list again must not take the focus away.
  if (focused?.startsWith("job-")) document.getElementById(focused)?.focus({ preventScroll: true });
}

function row(job: Job): HTMLElement {
  const when = formatAgo(job.completed_at ?? job.started_at ?? job.created_at);
  return h(
    "li",
    {},
    h("a", { href: `#crawl=${encodeURIComponent(job.job_id)}`, id: `job-${job.job_id}` }, jobName(job)),
    stateTag(job),
    h("span", { class: "fine number" }, `${counts(job)} · ${when ?? ""}`),
    !isOver(job) && progressBar(job),
  );
}

/** Names a crawl after its start. */
export function jobName({ seeds, sitemaps, job_id: id }: Job): string {
  const [first, ...others] = [...seeds, ...sitemaps];
  if (first === undefined) return id;
  const name = first.replace(/^https?:\/\//, "").replace(/\/$/, "");
  return others.length === 0 ? name : `${name} and ${others.length} more`;
}

export function stateTag({ status, error, cancel_requested: isCancelled }: Job): HTMLElement {
  if (status === "failed" && error?.code === "cancelled") return h("span", { class: "tag" }, "cancelled");
  if (status === "failed") return h("span", { class: "tag bad" }, "failed");
  if (isCancelled && status === "running") return h("span", { class: "tag live" }, "stopping");
  return h("span", { class: status === "completed" ? "tag" : "tag live" }, status);
}

const counts = ({ successful, failed, skipped }: Job): string =>
  [
    counted(successful, "page"),
    failed > 0 && `${formatNumber(failed)} failed`,
    skipped > 0 && `${formatNumber(skipped)} skipped`,
  ]
    .filter((part) => part)
    .join(", ");

export const progressBar = ({ progress, total }: Job): HTMLElement =>
  // Before anything is known about the site, progress cannot be measured.
  h(
    "progress",
    total === 0 ? { "aria-label": "Progress" } : { value: progress, max: total, "aria-label": "Progress" },
  );
