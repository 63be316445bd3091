import type { FormField } from "../../form-fields.ts";
import { h } from "../dom.ts";

export type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

const TYPED = { autocomplete: "off", autocapitalize: "off", spellcheck: "false" } as const;

/** Makes the control of a field; a choice first offers to leave it to the server. */
export function controlOf(
  { name, kind, placeholder, choices = [], isOn = false }: FormField,
  {
    id,
    isLong = false,
    describedBy,
  }: { readonly id: string; readonly isLong?: boolean; readonly describedBy?: string },
): Control {
  const named = { id, name, "aria-describedby": describedBy };
  const typed = { ...named, ...TYPED, placeholder };
  if (kind === "choice")
    return h(
      "select",
      named,
      h("option", { value: "" }, "server default"),
      ...choices.map(([value, label]) => h("option", { value }, label)),
    );
  if (kind === "switch") return h("input", { ...named, type: "checkbox", checked: isOn });
  if (kind === "number")
    return h("input", { ...typed, type: "number", min: 0, step: "any", inputmode: "decimal" });
  return kind === "list" && isLong ? h("textarea", { ...typed, rows: 2 }) : h("input", typed);
}

/** What a control says in a request; undefined where it is left as it is. */
export function givenIn({ kind, isOn = false, choices }: FormField, control: Control): unknown {
  if (kind === "switch") return isChecked(control) === isOn ? undefined : isChecked(control);
  const written = control.value.trim();
  if (written === "") return undefined;
  if (kind === "number") return Number(written);
  if (kind === "choice") return choices?.some(([value]) => value === "true") ? written === "true" : written;
  return kind === "list" ? linesOf(control) : written;
}

export const isChecked = (control: Control): boolean =>
  control instanceof HTMLInputElement && control.checked;

/** The entries of a list, one a line. */
export const linesOf = (control: Control): string[] =>
  control.value
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
