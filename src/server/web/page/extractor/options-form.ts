import { formFields } from "../../form-fields.ts" with { type: "macro" };
import type { FormField } from "../../form-fields.ts";
import { append, byId, copyButton, fill, h } from "../dom.ts";
import { hasKey } from "../http.ts";
import { type ExtractionBody, readAddress, readDefaults } from "./api.ts";
import type { BlockActions } from "./blocks-view.ts";
import { controlOf, givenIn, isChecked } from "./form-fields.ts";
import { CODE_FORMS } from "./request-code.ts";
import { tabs } from "./tabs.ts";

const FIELDS: readonly FormField[] = formFields("extract");
/** Options that a request has beside those of an extraction. */
const BESIDE = ["prefer_browser"];

/** The options of an extraction, and the request that they make, written for programs. */
export class OptionsForm implements BlockActions {
  readonly #options = byId("options", HTMLDetailsElement);
  readonly #code = byId("as-code", HTMLDetailsElement);
  readonly #url = byId("url", HTMLInputElement);
  readonly #controls = FIELDS.map((field) => ({ field, control: controlOf(field, { id: field.id }) }));
  readonly #texts = CODE_FORMS.map((form) => ({ form, text: h("code") }));

  constructor() {
    const isSwitch = (kind: FormField["kind"]): boolean => kind === "switch";
    const labelled = this.#controls.filter(({ field }) => !isSwitch(field.kind));
    const switches = this.#controls.filter(({ field }) => isSwitch(field.kind));
    append(byId("option-fields", HTMLDivElement), [
      ...labelled.map(({ field, control }) => h("div", h("label", { for: field.id }, field.label), control)),
      h("div.checks", ...switches.map(({ field, control }) => h("label.check", control, field.label))),
    ]);
    this.#code.append(
      tabs(
        "Request formats",
        this.#texts.map(({ form: { id, label }, text }) => ({
          id,
          label,
          content: h(
            "div.program",
            copyButton("Copy", () => text.textContent ?? ""),
            h("pre", { tabindex: "0", role: "region", "aria-label": `The request for ${label}` }, text),
          ),
        })),
      ),
    );
    byId("extract-form", HTMLFormElement).addEventListener("input", () => this.update());
    this.#code.addEventListener("toggle", () => this.update());
    this.#options.addEventListener("toggle", () => void showDefaults(), { once: true });
  }

  /** Writes the request again, after what is in the form has changed. */
  update(): void {
    if (!this.#code.open) return;
    const url = readAddress(this.#url.value).url ?? "https://example.org/";
    const server = new URL("./", location.href).href;
    for (const { form, text } of this.#texts)
      fill(text, form.write({ server, body: this.body(url), hasKey: hasKey() }));
  }

  exclude(selector: string): void {
    const field = byId("exclude", HTMLInputElement);
    const others = field.value.trim();
    this.#change(field, others === "" ? selector : `${others}, ${selector}`);
  }

  select(selector: string): void {
    this.#change(byId("select", HTMLInputElement), selector);
  }

  #change(field: HTMLInputElement, value: string): void {
    this.#options.open = true;
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  }

  /** The options that are not as the page offers them, by their fields. */
  changed(): Readonly<Record<string, string>> {
    const values = this.#controls.map(({ field: { id, kind, isOn = false }, control }) => [
      id,
      kind === "switch" ? (isChecked(control) === isOn ? "" : isOn ? "no" : "yes") : control.value.trim(),
    ]);
    return Object.fromEntries(values.filter(([, value]) => value !== ""));
  }

  /** Takes the options from an address, and opens them where a reader should see them before the page is fetched. */
  restore(changed: URLSearchParams): void {
    for (const { field, control } of this.#controls) {
      const value = changed.get(field.id) ?? "";
      if (field.kind === "switch")
        (control as HTMLInputElement).checked = field.isOn ? value !== "no" : value === "yes";
      else control.value = value;
      if (control instanceof HTMLSelectElement && control.selectedIndex < 0) control.selectedIndex = 0;
    }
    if (Object.keys(this.changed()).length > 0) this.#options.open = true;
    this.update();
  }

  /** The request for a page with the options as they are now. */
  body(url: string): ExtractionBody {
    const given = this.#controls.flatMap(({ field, control }) => {
      const value = givenIn(field, control);
      return value === undefined ? [] : [[field.name, value] as const];
    });
    const isBeside = ([name]: readonly [string, unknown]): boolean => BESIDE.includes(name);
    const options = Object.fromEntries(given.filter((one) => !isBeside(one)));
    const beside = Object.fromEntries(given.filter(isBeside));
    return { url, ...beside, ...(Object.keys(options).length > 0 && { options }) };
  }
}

/** Shows what the server takes for the options that are left as they are. */
async function showDefaults(): Promise<void> {
  const defaults = await readDefaults("ExtractionOptions");
  for (const { name, id, kind } of FIELDS) {
    const byDefault = defaults[name];
    if (!byDefault) continue;
    if (kind === "number") byId(id, HTMLInputElement).placeholder = byDefault;
    const first = kind === "choice" ? byId(id, HTMLSelectElement).options[0] : undefined;
    if (first) first.text = `server default (${byDefault})`;
  }
}
