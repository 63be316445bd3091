import { byId, fill } from "../dom.ts";
import { keyHeader, problemMessage, request } from "../http.ts";

type Outgoing = { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** Declares the global of swagger-ui-bundle.js, which the page loads first. */
declare const SwaggerUIBundle: (options: {
  readonly url: string;
  readonly dom_id: string;
  readonly deepLinking: boolean;
  readonly validatorUrl: null;
  readonly syntaxHighlight: { readonly theme: string };
  readonly requestInterceptor: (outgoing: Outgoing) => Outgoing;
}) => unknown;

const DOCUMENT = "openapi.json";

/** MCP wants clients to take both types of answers (Streamable HTTP), and Swagger UI names one. */
const acceptOf = ({ url }: Outgoing) =>
  url.endsWith("/mcp") ? { accept: "application/json, text/event-stream" } : {};

/** Requests the document itself first, because Swagger UI cannot ask for a key after a 401. */
async function show(): Promise<void> {
  try {
    await request(DOCUMENT);
  } catch (error) {
    fill(
      place,
      problemMessage(error, () => void show()),
    );
    return;
  }
  fill(place);
  SwaggerUIBundle({
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
void show();
