import { byId, copyButton, fill, h } from "../dom.ts";
import { showProblem } from "../http.ts";
import { listTenants } from "../search/api.ts";

const example = byId("example", HTMLElement);
const choices = byId("tenants", HTMLFieldSetElement);
const snippet = byId("snippet", HTMLElement);
const server = new URL("./", location.href);

/** Returns the chosen values by the names of the box's attributes, without defaults. */
function chosen(): Readonly<Record<string, string>> {
  const tenants = [...choices.querySelectorAll<HTMLInputElement>("input:checked")].map(({ value }) => value);
  const fields = { placeholder: "Search the documentation", keys: "/ ctrl+k", theme: "" };
  const typed = Object.entries(fields).flatMap(([id, preset]) => {
    const field = document.getElementById(id);
    const value = field instanceof HTMLInputElement || field instanceof HTMLSelectElement ? field.value : "";
    return value === preset ? [] : [[id, value] as const];
  });
  return Object.fromEntries(tenants.length > 0 ? [["tenants", tenants.join(",")], ...typed] : typed);
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/** Shows the script's line and the box as they were chosen. */
function show(): void {
  const attributes = chosen();
  const data = Object.entries(attributes).map(([name, value]) => ` data-${name}="${escaped(value)}"`);
  fill(snippet, `<script src="${new URL("docs-search.js", server).href}"${data.join("")}></script>`);
  fill(byId("policy", HTMLElement), `script-src ${server.origin}; connect-src ${server.origin}`);
  for (const name of ["tenants", "placeholder", "keys", "theme"]) {
    const value = attributes[name];
    if (value === undefined) example.removeAttribute(name);
    else example.setAttribute(name, value);
  }
}

async function showTenants(): Promise<void> {
  try {
    const tenants = await listTenants();
    const choice = ({ tenant, docs_name: name }: (typeof tenants)[number]): HTMLElement =>
      h("label.check", h("input", { type: "checkbox", value: tenant }), name);
    choices.append(...tenants.map(choice));
  } catch (error) {
    showProblem(byId("problem", HTMLElement), error);
  }
}

byId("copy", HTMLElement).append(copyButton("Copy", () => snippet.textContent ?? ""));
byId("wish", HTMLFormElement).addEventListener("input", show);
byId("wish", HTMLFormElement).addEventListener("submit", (event) => event.preventDefault());
show();
void showTenants();
