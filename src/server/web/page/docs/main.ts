import { byId, h } from "../dom.ts";
import { keyHeader, RequestFailed, requestJson, showProblem } from "../http.ts";

type Outgoing = { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** Declares the global of swagger-ui-bundle.js. */
declare const SwaggerUIBundle: (options: {
  readonly url: string;
  readonly dom_id: string;
  readonly deepLinking: boolean;
  readonly validatorUrl: null;
  readonly syntaxHighlight: { readonly theme: string };
  readonly requestInterceptor: (outgoing: Outgoing) => Outgoing;
}) => SwaggerUi;

type SwaggerUi = { readonly layoutActions: { readonly parseDeepLinkHash: (fragment: string) => void } };

const DOCUMENT = "openapi.json";

/** MCP wants clients to take both types of answers (Streamable HTTP), and Swagger UI names one. */
const acceptOf = ({ url }: Outgoing) =>
  url.endsWith("/mcp") ? { accept: "application/json, text/event-stream" } : {};

let swagger: SwaggerUi | null = null;

/** Shows the API in Swagger UI. It asks for the key first, because Swagger UI cannot do so after a 401. */
async function show(): Promise<void> {
  try {
    await requestJson(DOCUMENT);
    await Promise.all([
      loaded(h("link", { rel: "stylesheet", href: "docs/swagger-ui.css" })),
      loaded(h("script", { src: "docs/swagger-ui-bundle.js" })),
    ]);
  } catch (error) {
    return showProblem(place, error, () => void show());
  }
  // Swagger UI writes each opened operation into the history, but does not follow Back: one step leads off the page.
  history.pushState = (...step) => history.replaceState(...step);
  swagger = SwaggerUIBundle({
    url: DOCUMENT,
    dom_id: "#swagger-ui",
    deepLinking: true,
    validatorUrl: null,
    // The default one has too little contrast.
    syntaxHighlight: { theme: "obsidian" },
    // A key from its "Authorize" button overrides the tab's.
    requestInterceptor: (outgoing) =>
      Object.assign(outgoing, { headers: { ...keyHeader(), ...outgoing.headers, ...acceptOf(outgoing) } }),
  });
}

/** Adds a file to the page; resolves when it is there. */
const loaded = (file: HTMLLinkElement | HTMLScriptElement): Promise<void> =>
  new Promise((resolve, reject) => {
    file.addEventListener("load", () => resolve());
    file.addEventListener("error", () => {
      file.remove();
      reject(new RequestFailed(0, "Swagger UI could not be loaded."));
    });
    document.head.append(file);
  });

/** Names what Swagger UI leaves without a name, and opens to the keyboard what only a mouse can scroll. */
function complete(place: HTMLElement): void {
  for (const area of place.querySelectorAll("textarea:not([aria-label])"))
    area.setAttribute("aria-label", "Body of the request");
  for (const list of place.querySelectorAll("select:not([aria-label])"))
    list.setAttribute("aria-label", list.id === "servers" ? "Server" : "Choice");
  for (const field of place.querySelectorAll(".parameters input:not([aria-label])"))
    field.setAttribute("aria-label", field.getAttribute("placeholder") ?? "Value");
  for (const code of place.querySelectorAll("pre.microlight:not([tabindex]), pre.example:not([tabindex])"))
    code.setAttribute("tabindex", "0");
  // The button around it does the same.
  for (const link of place.querySelectorAll(".opblock-summary-control a[href]")) link.removeAttribute("href");
}

const place = byId("swagger-ui", HTMLElement);
new MutationObserver(() => complete(place)).observe(place, { childList: true, subtree: true });

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Swagger UI has a dark form, but does not ask what the reader prefers. */
const followColours = (): void => {
  document.documentElement.classList.toggle("dark-mode", dark.matches);
};

dark.addEventListener("change", followColours);
followColours();
window.addEventListener("hashchange", () => swagger?.layoutActions.parseDeepLinkHash(location.hash));
void show();
