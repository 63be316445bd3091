import { Field, type StartTagAttributes } from "./attributes.ts";
import { HiddenNames, isHidingStyle } from "./hidden.ts";
import { ElementFlag } from "./page-model.ts";
import { TextTable } from "./text-table.ts";

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
  /** The page shows nothing between this and a button. */
  readonly isAfterToggle: boolean;
};

/** True for what opens something by its attributes: the head of an accordion, a tab. */
export function opensSomething(attributes: StartTagAttributes): boolean {
  if (attributes.has(Field.expanded)) return true;
  const role = attributes.get(Field.role);
  return role === "button" || role === "tab";
}

/** Hidden text that counts as shown; `invisible` is what inline styles make so without taking its place. */
export type Revealed = "nothing" | "invisible" | "all";

/** Tells which elements the page hides, and which of those the reader can open. */
export class Visibility {
  readonly #controlled = new Set<string>();
  readonly #names = new HiddenNames();
  /** The inline styles of the page, and by their numbers whether they hide. */
  readonly #styles: TextTable;
  readonly #hidingStyles: boolean[] = [false];

  readonly #revealed: Revealed;

  constructor(html: string, codes: Uint16Array, revealed: Revealed) {
    this.#styles = new TextTable(html, codes);
    this.#revealed = revealed;
  }

  /** Takes in a style sheet of the page. */
  read(sheet: string): void {
    this.#names.read(sheet);
  }

  /** Takes in the ids that a button or link opens. */
  control(ids: string): void {
    if (this.#controlled.size >= MAX_CONTROLS) return;
    for (const id of ids.split(/\s+/)) this.#controlled.add(id.replace(/^#/, ""));
    this.#controlled.delete("");
  }

  /** `ElementFlag.hidden`, `ElementFlag.panel` for what readers can open, or 0. */
  flagsOf(attributes: StartTagAttributes, { classes, classId, groups, isAfterToggle }: NamedElement): number {
    if (this.#revealed === "all") return 0;
    const isHidden =
      (attributes.has(Field.hidden) && !isStreamed(attributes)) ||
      (attributes.has(Field.style) && this.#hidesByStyle(attributes)) ||
      this.#names.hidesClass(classes, classId) ||
      (this.#names.hidesIds && attributes.has(Field.id) && this.#names.hidesId(attributes.get(Field.id)!));
    if (!isHidden) return 0;
    const isPanel =
      isAfterToggle ||
      (groups & PANEL_GROUPS) !== 0 ||
      attributes.get(Field.role) === "tabpanel" ||
      attributes.get(Field.hidden) === "until-found" ||
      this.#controlled.has(attributes.get(Field.id) ?? "");
    return isPanel ? ElementFlag.panel : ElementFlag.hidden;
  }

  // Pages repeat their styles, and three regular expressions cost more than looking one up.
  #hidesByStyle(attributes: StartTagAttributes): boolean {
    const style = this.#styles.numberAt(attributes.startOf(Field.style), attributes.endOf(Field.style));
    this.#hidingStyles[style] ??= isHidingStyle(
      attributes.get(Field.style) ?? "",
      this.#revealed === "invisible",
    );
    return this.#hidingStyles[style]!;
  }
}

const isStreamed = (attributes: StartTagAttributes): boolean =>
  STREAMED_ID.test(attributes.get(Field.id) ?? "");
