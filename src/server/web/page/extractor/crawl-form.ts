import { formFields } from "../../form-fields.ts" with { type: "macro" };
import type { FormField } from "../../form-fields.ts";
import { fill, h } from "../dom.ts";
import { RequestFailed, showProblem } from "../http.ts";
import { readAddress, readDefaults, submitCrawl } from "./api.ts";
import { type Control, controlOf, givenIn, linesOf } from "./form-fields.ts";

/** A fault of a field, in the form of the server's answers. */
type Fault = RequestFailed["fields"][number];

const OUTPUT: FormField = {
  name: "output_dir",
  id: "output-dir",
  label: "Output folder",
  kind: "text",
  note: "Below the server's own folder or bucket. Leave it empty for a new one. Reusing a folder resumes its crawl.",
  placeholder: "new folder",
};

const OPTIONS: readonly FormField[] = [...formFields("crawl")];
const [SEEDS, ...PROMINENT] = OPTIONS.filter(({ isProminent }) => isProminent);
const MAIN = [...(SEEDS ? [SEEDS] : []), OUTPUT, ...PROMINENT];
const MORE = OPTIONS.filter(({ isProminent, kind }) => !isProminent && kind !== "switch");
const SWITCHES = OPTIONS.filter(({ kind }) => kind === "switch");
const FIELDS = [...MAIN, ...MORE, ...SWITCHES];

/** Creates the form for a new crawl. @param onSubmitted gets the job's id */
export function crawlForm(onSubmitted: (id: string) => void): HTMLElement {
  const problem = h("div");
  const button = h("button.primary", "Start crawl");
  const more = h(
    "details.options",
    h("summary", "More options"),
    h(
      "div.fields",
      ...MORE.map(fieldElement),
      ...SWITCHES.map((field) => h("label.check", controlOf(field, { id: idOf(field.name) }), field.label)),
    ),
  );
  const form = h(
    "form.panel.crawl-form",
    { novalidate: true },
    h("h2", "New crawl"),
    h("div.fields", ...MAIN.map(fieldElement)),
    more,
    problem,
    h("div", button),
  );
  const submit = async (): Promise<void> => {
    clearErrors(form);
    fill(problem);
    completeAddresses(form);
    if (showFaults(form, more, faultsOf(form))) return;
    button.disabled = true;
    try {
      onSubmitted((await submitCrawl(readForm(form))).job_id);
    } catch (error) {
      const faults = error instanceof RequestFailed ? error.fields : [];
      // Each fault stands beside its field, and the others above the button.
      if (!showFaults(form, more, faults)) showProblem(problem, error, () => void submit());
    } finally {
      button.disabled = false;
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit();
  });
  void showDefaults(form);
  return form;
}

/** Shows in the empty fields what the server takes for them; without an answer they stay empty. */
async function showDefaults(form: HTMLElement): Promise<void> {
  const defaults = await readDefaults("CrawlRequest");
  for (const { name, kind } of FIELDS)
    if (kind === "number") input(form, name).setAttribute("placeholder", defaults[name] ?? "");
}

const idOf = (name: string): string => `crawl-${name}`;

function fieldElement(field: FormField): HTMLElement {
  const { name, label, note, kind } = field;
  const id = idOf(name);
  return h(
    "div",
    { class: kind === "number" ? null : "wide" },
    h("label", { for: id }, label),
    controlOf(field, { id, isLong: true, describedBy: `${id}-note ${id}-error` }),
    h("span.fine.note", { id: `${id}-note`, hidden: note === undefined }, note),
    h("span.field-error", { id: `${id}-error`, hidden: true }),
  );
}

function input(form: HTMLElement, name: string): Control {
  const found = form.querySelector<Control>(`[name="${name}"]`);
  if (found) return found;
  throw new Error(`the form has no field ${name}`);
}

const readForm = (form: HTMLElement): Record<string, unknown> =>
  Object.fromEntries(FIELDS.map((field) => [field.name, givenIn(field, input(form, field.name))]));

function clearErrors(form: HTMLElement): void {
  for (const error of form.querySelectorAll<HTMLElement>(".field-error")) error.hidden = true;
  for (const { name } of FIELDS) input(form, name).removeAttribute("aria-invalid");
}

function completeAddresses(form: HTMLElement): void {
  for (const { name, areAddresses } of FIELDS)
    if (areAddresses)
      input(form, name).value = linesOf(input(form, name))
        .map((line) => readAddress(line).url ?? line)
        .join("\n");
}

/** Returns the faults that can be found without the server. */
function faultsOf(form: HTMLElement): Fault[] {
  const seeds = linesOf(input(form, "seeds"));
  const faults = seeds.flatMap((seed) => {
    const { problem: message } = readAddress(seed);
    return message === null ? [] : [{ path: "seeds", message }];
  });
  if (seeds.length === 0 && linesOf(input(form, "sitemaps")).length === 0)
    faults.push({ path: "seeds", message: "it is missing; enter at least one address here, or a sitemap" });
  return faults.map(({ path, message }) => ({ path, message: `${path}: ${message}` }));
}

/** Shows the faults beside their fields, with their labels. */
function showFaults(form: HTMLElement, more: HTMLDetailsElement, faults: readonly Fault[]): boolean {
  let first: HTMLElement | null = null;
  for (const { path, message } of faults) {
    const known = FIELDS.find(({ name }) => name === path.split(".")[0]);
    if (!known) continue;
    const field = input(form, known.name);
    const place = form.querySelector<HTMLElement>(`#${idOf(known.name)}-error`);
    // Each field has a place for one fault.
    if (!place?.hidden) continue;
    // People know a field by its label, programs by its name.
    place.textContent = message.startsWith(`${path}: `)
      ? `${known.label.split(",")[0]}: ${message.slice(path.length + 2)}`
      : message;
    place.hidden = false;
    field.setAttribute("aria-invalid", "true");
    if (more.contains(field)) more.open = true;
    first ??= field;
  }
  first?.focus();
  return first !== null;
}
