import { h } from "../dom.ts";
import { fitWindow } from "../fit-window.ts";

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

/**
 * Creates panels with tabs (WAI-ARIA Authoring Practices, Tabs): arrows move between them, Home and End to the ends.
 */
export function tabs(label: string, list: readonly Tab[]): HTMLElement {
  const wide = matchMedia(WIDE);
  const buttons = list.map(({ id, label: text }) =>
    h("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}` }, text),
  );
  const panels = list.map(({ id, content, isPrimary }) =>
    h(
      "div",
      {
        role: "tabpanel",
        id: `panel-${id}`,
        "aria-labelledby": `tab-${id}`,
        class: isPrimary ? "panel primary" : "panel",
      },
      content,
    ),
  );
  const unseen = new Map(list.entries());
  let chosen = 0;
  let isReadersChoice = false;
  const isApart = (place: number): boolean => wide.matches && list[place]?.isPrimary === true;
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
    const at = open.indexOf(chosen);
    const target = { ArrowRight: at + 1, ArrowLeft: at - 1 + open.length, Home: 0, End: open.length - 1 }[
      event.key
    ];
    if (target === undefined) return;
    event.preventDefault();
    choose(open[target % open.length]!, true);
  });
  const hasPrimary = list.some(({ isPrimary }) => isPrimary);
  if (hasPrimary)
    for (const [place, panel] of panels.entries()) if (!list[place]?.isPrimary) fitWindow(panel, wide);
  const element = h(hasPrimary ? "div.tabs.beside" : "div.tabs", bar, ...panels);
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
