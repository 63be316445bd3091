import type { StartTagAttributes } from "./attributes.ts";
import { HiddenNames, isHidingStyle } from "./hidden.ts";
import { ElementFlag } from "./page-model.ts";

const PANEL_GROUPS = 1 << 23;
const MAX_CONTROLS = 2000;
// React streams a page's late parts in hidden elements of such ids and moves them to their place at once.
const STREAMED_ID = /^S:[0-9a-f]+$/;

/** What an element is called, by the page's numbers. */
export type NamedElement = {
  readonly classes: string;
  readonly classId: number;
  /** Groups of its class, id and role, see `groupsOf`. */
  readonly groups: number;
};

/** Tells which elements the page hides, and which of those the reader can open. */
export class Visibility {
  readonly #controlled = new Set<string>();
  readonly #names = new HiddenNames();

  /** Takes in a style sheet of the page. */
  read(sheet: string): void {
    this.#names.read(sheet);
  }

  /** Takes in the ids that a button or link opens. */
  control(ids: string): void {
    if (this.#controlled.size >= MAX_CONTROLS) return;
    for (const id of ids.split(/\s+/)) this.#controlled.add(id.replace(/^#/, ""));
  }

  /** `ElementFlag.hidden`, `ElementFlag.panel` for what readers can open, or 0. */
  flagsOf(
    { hidden, style, id, role }: StartTagAttributes,
    { classes, classId, groups }: NamedElement,
  ): number {
    const isHidden =
      (hidden !== null && !(id !== null && STREAMED_ID.test(id))) ||
      (style !== null && isHidingStyle(style)) ||
      this.#names.hides(classes, classId, id);
    if (!isHidden) return 0;
    const isPanel =
      (groups & PANEL_GROUPS) !== 0 ||
      role === "tabpanel" ||
      hidden === "until-found" ||
      (id !== null && this.#controlled.has(id));
    return isPanel ? ElementFlag.panel : ElementFlag.hidden;
  }
}
