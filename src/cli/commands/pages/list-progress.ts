import { formatListProgress, Pace } from "../../terminal/progress-line.ts";
import type { Screen } from "../../terminal/screen.ts";

/** The line that tells a person how far a list is. */
export interface ListProgress extends Disposable {
  /** Counts a page that has come to its end. */
  add(end: "done" | "failed"): void;
}

/** How often the line is drawn: it must not cost more than the work. */
const REDRAW_MS = 200;

/** @param pages.todo those of the total that are not done before */
export function createListProgress(
  screen: Screen,
  { total, todo }: { readonly total: number; readonly todo: number },
): ListProgress {
  const pace = new Pace();
  const count = { done: total - todo, failed: 0 };
  const draw = (): void => {
    const now = performance.now();
    pace.mark(now, count.done + count.failed);
    screen.show(formatListProgress({ ...count, total }, pace.pagesPerSecond(now), screen.columns));
  };
  if (screen.isLive) draw();
  const timer = screen.isLive ? setInterval(draw, REDRAW_MS) : null;
  return {
    add(end) {
      count[end]++;
    },
    [Symbol.dispose]() {
      if (timer) clearInterval(timer);
      screen[Symbol.dispose]();
    },
  };
}
