import { fitWindow, h } from "../dom.ts";

type Tab = {
  readonly id: string;
  readonly label: string;
  readonly content: HTMLElement;
  /** The panel stands beside the others when there is room, and is an ordinary tab otherwise. */
  readonly isPrimary?: boolean;
  /** Called when the panel is seen for the first time. */
  readonly onFirstShown?: () => void;
};

/** From this width on the first panel has its own column; the style sheet has the same width. */
const WIDE = "(min-width: 64rem)";

/** Panels with tabs (WAI-ARIA Authoring Practices): arrows move between them, Home and End to the ends. */
export function tabs(label: string, list: readonly Tab[]): HTMLElement {
  const wide = matchMedia(WIDE);
  const buttons = list.map(({ id, label: text }) =>
    h("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}` }, text),
  );
  const panels = list.map(({ id, content, isPrimary }) =>
    h(
      isPrimary ? "div.panel.primary" : "div.panel",
      { role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}` },
      content,
    ),
  );
  const unseen = new Map(list.entries());
  const primary = list.findIndex(({ isPrimary }) => isPrimary);
  let chosen = 0;
  let isReadersChoice = false;
  const isApart = (place: number): boolean => wide.matches && place === primary;
  const update = (): void => {
    if (isApart(chosen)) chosen = list.findIndex(({ isPrimary }) => !isPrimary);
    for (const [place, button] of buttons.entries()) {
      button.hidden = isApart(place);
      button.setAttribute("aria-selected", String(place === chosen));
      button.tabIndex = place === chosen ? 0 : -1;
      panels[place]!.hidden = place !== chosen && !isApart(place);
      if (panels[place]!.hidden) continue;
      unseen.get(place)?.onFirstShown?.();
      unseen.delete(place);
    }
  };
  const choose = (place: number, takesFocus: boolean): void => {
    chosen = place;
    isReadersChoice = true;
    update();
    if (takesFocus) buttons[place]?.focus();
    buttons[place]?.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const bar = h("div", { role: "tablist", "aria-label": label }, ...buttons);
  for (const [place, button] of buttons.entries())
    button.addEventListener("click", () => choose(place, false));
  bar.addEventListener("keydown", (event) => {
    const open = buttons.flatMap((button, place) => (button.hidden ? [] : [place]));
    const target = targetOf(event.key, open.indexOf(chosen), open.length);
    if (target === null) return;
    event.preventDefault();
    choose(open[target]!, true);
  });
  if (primary >= 0)
    for (const [place, panel] of panels.entries()) if (place !== primary) fitWindow(panel, wide);
  const element = h(primary < 0 ? "div.tabs" : "div.tabs.beside", bar, ...panels);
  const onChange = (): void => {
    if (!element.isConnected) wide.removeEventListener("change", onChange);
    else {
      if (!wide.matches && !isReadersChoice) chosen = 0;
      update();
    }
  };
  wide.addEventListener("change", onChange);
  update();
  return element;
}

/** Returns the tab that a key leads to from the tab `at`; null for other keys. */
function targetOf(key: string, at: number, count: number): number | null {
  const target = { ArrowRight: at + 1, ArrowLeft: at - 1 + count, Home: 0, End: count - 1 }[key];
  return target === undefined ? null : target % count;
}
