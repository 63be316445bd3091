import { fill, h, s } from "../dom.ts";
import { formatNumber } from "../format.ts";
import { isOver, type Job } from "./api.ts";

/** The speed of a crawl is measured over stretches of this length, in ms; at first they are shorter. */
const STRETCH_MS = 2000;
const FIRST_STRETCH_MS = 500;
const STRETCHES = 600;

/** The size of the drawing's own units; the style sheet stretches it. */
const WIDTH = 1000;
const HEIGHT = 100;

/** The pages a second before a time, in ms since 1970. */
type Stretch = { readonly time: number; readonly ok: number; readonly rest: number };

/** How many pages a second came while somebody looked. */
export class Speed {
  readonly #lines = s("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": "Pages per second over time",
    onpointermove: (event) => this.#tell((event as PointerEvent).offsetX / this.#lines.clientWidth),
    onpointerleave: () => this.#tell(1),
  });
  readonly #most = h("p.fine.number", { "aria-hidden": "true" });
  readonly #ends = h("p.fine.number.ends", { "aria-hidden": "true" });
  readonly #told = h("p.fine.number.told");
  readonly #figure = h("figure", { hidden: true }, this.#most, this.#lines, this.#ends, this.#told);
  readonly element = h(
    "section.speed",
    { "aria-labelledby": "speed-title", hidden: true },
    h("h3", { id: "speed-title" }, "Pages per second"),
    h("div.room", this.#figure),
  );
  #stretches: Stretch[] = [];
  #last: { readonly at: number; readonly successful: number; readonly progress: number } | null = null;

  /** Over the last half minute at most; null before anything is known. */
  get perSecond(): number | null {
    const recent = this.#stretches.slice(-15);
    return recent.length === 0
      ? null
      : recent.reduce((sum, { ok, rest }) => sum + ok + rest, 0) / recent.length;
  }

  take(job: Job): void {
    // Its room is kept from the beginning, so that nothing below moves when it is drawn.
    this.element.hidden = isOver(job) && this.#stretches.length === 0;
    if (job.status === "running") this.#measure(job);
  }

  #measure({ successful, progress }: Job): void {
    const now = Date.now();
    this.#last ??= { at: now, successful, progress };
    const { at, successful: okBefore, progress: before } = this.#last;
    const isFirst = this.#stretches.length === 0;
    if (now - at < (isFirst ? FIRST_STRETCH_MS : STRETCH_MS)) return;
    const seconds = (now - at) / 1000;
    const ok = Math.max(0, successful - okBefore);
    const speeds = { ok: ok / seconds, rest: Math.max(0, progress - before - ok) / seconds };
    // The first stretch is a line from its start to its end.
    if (isFirst) this.#stretches.push({ time: at, ...speeds });
    this.#stretches.push({ time: now, ...speeds });
    if (this.#stretches.length > STRETCHES) this.#stretches.shift();
    this.#last = { at: now, successful, progress };
    this.#draw();
  }

  #draw(): void {
    const times = this.#stretches.map(({ time }) => time);
    const [first, last] = [times[0]!, times.at(-1)!];
    const most = Math.max(1, ...this.#stretches.flatMap(({ ok, rest }) => [ok, rest]));
    const line = (what: "ok" | "rest"): Element => {
      const placeOf = (one: Stretch): string =>
        `${((one.time - first) / (last - first)) * WIDTH},${(1 - one[what] / most) * HEIGHT}`;
      return s("polyline", { class: what, points: this.#stretches.map(placeOf).join(" ") });
    };
    fill(this.#lines, line("rest"), line("ok"));
    fill(this.#most, perSecond(most));
    fill(this.#ends, h("span", clock(first)), h("span", clock(last)));
    this.#figure.hidden = false;
    if (!this.#lines.matches(":hover")) this.#tell(1);
  }

  /** Writes the values at a place between the ends, 0 to 1. */
  #tell(place: number): void {
    const [first, last] = [this.#stretches[0], this.#stretches.at(-1)];
    if (!first || !last) return;
    const time = first.time + place * (last.time - first.time);
    const { ok, rest, ...at } = this.#stretches.find((one) => one.time >= time) ?? last;
    const values = `extracted ${perSecond(ok)}, failed or skipped ${perSecond(rest)}`;
    fill(this.#told, `${clock(at.time)}: ${values}`);
  }
}

const perSecond = (value: number): string => `${formatNumber(Math.round(value * 10) / 10)}/s`;

/** The clock of 24 hours, as everywhere on the page. */
const clock = (time: number): string => new Date(time).toLocaleTimeString("en-GB");
