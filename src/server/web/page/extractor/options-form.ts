import { byId, copyButton, fill, h } from "../dom.ts";
import { hasKey } from "../http.ts";
import { type ExtractionBody, readAddress, readDefaults } from "./api.ts";
import type { BlockActions } from "./blocks-view.ts";
import { CODE_FORMS } from "./request-code.ts";
import { tabs } from "./tabs.ts";

type Field = HTMLInputElement | HTMLSelectElement;

const isBox = (field: Field): field is HTMLInputElement => field.type === "checkbox";
const boxValue = ({ checked }: HTMLInputElement): string => (checked ? "" : "no");

/** The options of an extraction, and the request that they make, written for programs. */
export class OptionsForm implements BlockActions {
  readonly #options = byId("options", HTMLDetailsElement);
  readonly #code = byId("as-code", HTMLDetailsElement);
  readonly #url = byId("url", HTMLInputElement);
  readonly #select = byId("select", HTMLInputElement);
  readonly #exclude = byId("exclude", HTMLInputElement);
  readonly #texts = CODE_FORMS.map((form) => ({ form, text: h("code") }));

  constructor() {
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
    const others = this.#exclude.value.trim();
    this.#change(this.#exclude, others === "" ? selector : `${others}, ${selector}`);
  }

  select(selector: string): void {
    this.#change(this.#select, selector);
  }

  #change(field: HTMLInputElement, value: string): void {
    this.#options.open = true;
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  }

  /** The options that are not as the page offers them, by their fields. */
  changed(): Readonly<Record<string, string>> {
    const values = this.#fields().map((field) => [
      field.id,
      isBox(field) ? boxValue(field) : field.value.trim(),
    ]);
    return Object.fromEntries(values.filter(([, value]) => value !== ""));
  }

  /** Takes the options from an address, and opens them where a reader should see them before the page is fetched. */
  restore(changed: URLSearchParams): void {
    for (const field of this.#fields()) {
      const value = changed.get(field.id) ?? "";
      if (isBox(field)) field.checked = value !== "no";
      else field.value = value;
      if (field instanceof HTMLSelectElement && field.selectedIndex < 0) field.selectedIndex = 0;
    }
    if (Object.keys(this.changed()).length > 0) this.#options.open = true;
    this.update();
  }

  #fields = (): readonly Field[] => [...this.#options.querySelectorAll<Field>("input, select")];

  /** The request for a page with the options as they are now. */
  body(url: string): ExtractionBody {
    const fetcher = byId("fetcher", HTMLSelectElement).value;
    const favor = byId("favor", HTMLSelectElement).value;
    const engine = byId("engine", HTMLSelectElement).value;
    const minWords = byId("min-words", HTMLInputElement).value;
    const select = this.#select.value.trim();
    const exclude = this.#exclude.value.trim();
    const options = {
      ...(favor === "" ? {} : { favor }),
      ...(engine === "" ? {} : { engine }),
      ...(minWords === "" ? {} : { min_word_count: Number(minWords) }),
      ...(byId("images", HTMLInputElement).checked ? {} : { include_images: false as const }),
      ...(byId("code", HTMLInputElement).checked ? {} : { include_code: false as const }),
      ...(select === "" ? {} : { select }),
      ...(exclude === "" ? {} : { exclude: [exclude] }),
    };
    return {
      url,
      ...(fetcher === "" ? {} : { prefer_browser: fetcher === "browser" }),
      ...(Object.keys(options).length === 0 ? {} : { options }),
    };
  }
}

/** Shows what the server takes for the options that are left as they are. */
async function showDefaults(): Promise<void> {
  const defaults = await readDefaults("ExtractionOptions");
  byId("min-words", HTMLInputElement).placeholder = defaults.min_word_count ?? "";
  for (const name of ["favor", "engine"]) {
    const option = byId(name, HTMLSelectElement).options[0];
    if (option && defaults[name]) option.text = `server default (${defaults[name]})`;
  }
}
