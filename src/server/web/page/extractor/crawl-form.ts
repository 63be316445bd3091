import { fill, h } from "../dom.ts";
import { RequestFailed, showProblem } from "../http.ts";
import { readAddress, readDefaults, submitCrawl } from "./api.ts";

type Field = {
  /** The name of the field in the request. */
  readonly name: string;
  readonly label: string;
  readonly note?: string;
  readonly placeholder?: string;
  /** The kind of the field; a list has one entry a line. */
  readonly kind: "list" | "text" | "number";
  /** The entries may lack their scheme, as in the form for one page. */
  readonly isAddresses?: boolean;
};

/** A fault of a field, in the form of the server's answers. */
type Fault = RequestFailed["fields"][number];

const MAIN: readonly Field[] = [
  {
    name: "seeds",
    label: "Start URLs, one per line",
    kind: "list",
    isAddresses: true,
    placeholder: "https://example.org/docs/",
  },
  {
    name: "output_dir",
    label: "Output folder",
    kind: "text",
    note: "Below the server's own folder or bucket. Leave it empty for a new one. Reusing a folder resumes its crawl.",
    placeholder: "new folder",
  },
  { name: "max_pages", label: "Max pages", kind: "number" },
  { name: "max_depth", label: "Max depth", kind: "number" },
];

const MORE: readonly Field[] = [
  {
    name: "sitemaps",
    label: "Sitemaps, one per line",
    kind: "list",
    placeholder: "https://example.org/sitemap.xml",
  },
  { name: "allow_prefixes", label: "Only addresses starting with", kind: "list", isAddresses: true },
  { name: "deny_prefixes", label: "Exclude addresses starting with", kind: "list", isAddresses: true },
  { name: "concurrency", label: "Concurrent requests", kind: "number" },
  {
    name: "rate_limit_delay",
    label: "Seconds between requests to one host",
    kind: "number",
  },
];

const FIELDS = [...MAIN, ...MORE];

/** Creates the form for a new crawl. @param onSubmitted gets the job's id */
export function crawlForm(onSubmitted: (id: string) => void): HTMLElement {
  const problem = h("div");
  const follow = h("input", { type: "checkbox", id: "crawl-follow", checked: true });
  const button = h("button.primary", "Start crawl");
  const more = h(
    "details.options",
    h("summary", "More options"),
    h("div.fields", ...MORE.map(fieldElement), h("label.check", follow, "Follow links")),
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
      onSubmitted((await submitCrawl({ ...readForm(form), follow_links: follow.checked })).job_id);
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
    if (kind === "number") input(form, name).placeholder = defaults[name] ?? "";
}

const idOf = (name: string): string => `crawl-${name}`;

function fieldElement({ name, label, note, placeholder, kind }: Field): HTMLElement {
  const id = idOf(name);
  const common = {
    id,
    name,
    placeholder,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-describedby": `${id}-note ${id}-error`,
  };
  const control =
    kind === "list"
      ? h("textarea", { ...common, rows: 2 })
      : h("input", {
          ...common,
          ...(kind === "number" ? { type: "number", min: 0, step: "any", inputmode: "decimal" } : {}),
        });
  return h(
    "div",
    { class: kind === "number" ? null : "wide" },
    h("label", { for: id }, label),
    control,
    h("span.fine.note", { id: `${id}-note`, hidden: note === undefined }, note),
    h("span.field-error", { id: `${id}-error`, hidden: true }),
  );
}

function input(form: HTMLElement, name: string): HTMLInputElement | HTMLTextAreaElement {
  const found = form.querySelector<HTMLInputElement | HTMLTextAreaElement>(`[name="${name}"]`);
  if (found) return found;
  throw new Error(`the form has no field ${name}`);
}

const listOf = (form: HTMLElement, name: string): string[] =>
  input(form, name)
    .value.split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

function readForm(form: HTMLElement): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const { name, kind } of FIELDS) {
    const value = input(form, name).value.trim();
    if (kind === "list") body[name] = listOf(form, name);
    else if (value !== "") body[name] = kind === "number" ? Number(value) : value;
  }
  return body;
}

function clearErrors(form: HTMLElement): void {
  for (const error of form.querySelectorAll<HTMLElement>(".field-error")) error.hidden = true;
  for (const { name } of FIELDS) input(form, name).removeAttribute("aria-invalid");
}

function completeAddresses(form: HTMLElement): void {
  for (const { name, isAddresses } of FIELDS)
    if (isAddresses)
      input(form, name).value = listOf(form, name)
        .map((line) => readAddress(line).url ?? line)
        .join("\n");
}

/** Returns the faults that can be found without the server. */
function faultsOf(form: HTMLElement): Fault[] {
  const seeds = listOf(form, "seeds");
  const faults = seeds.flatMap((seed) => {
    const { problem: message } = readAddress(seed);
    return message === null ? [] : [{ path: "seeds", message }];
  });
  if (seeds.length === 0 && listOf(form, "sitemaps").length === 0)
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
