import { announce, byId, fill, h } from "../dom.ts";
import { keyHeader, problemMessage, RequestFailed, requestJson } from "../http.ts";

type Outgoing = { readonly url: string; readonly headers: Readonly<Record<string, string>> };

type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
};

/** What is read of an OpenAPI document. */
type ApiDocument = {
  readonly info: { readonly title: string; readonly version: string };
  /** Operations by path and method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

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
/** How Swagger UI writes the place of an operation into the address: `#/crawl%20jobs/getCrawlJobId`. */
const OPERATION = "#/";

/** MCP wants clients to take both types of answers (Streamable HTTP), and Swagger UI names one. */
const acceptOf = ({ url }: Outgoing) =>
  url.endsWith("/mcp") ? { accept: "application/json, text/event-stream" } : {};

/** Shows all operations. It asks for the key, because Swagger UI cannot do so after a 401. */
async function show(): Promise<void> {
  try {
    listOperations(await requestJson<ApiDocument>(DOCUMENT));
  } catch (error) {
    fill(
      operations,
      problemMessage(error, () => void show()),
    );
    return;
  }
  follow();
}

function listOperations({ info, paths }: ApiDocument): void {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  );
  const groups = [...Map.groupBy(all, ({ tags }) => tags[0] ?? "")].map(([tag, members]) =>
    h("section", h("h2", tag), h("ul", ...members.map((one) => h("li", operationLink(one))))),
  );
  fill(operations, h("p", `${info.title} ${info.version}`), ...groups);
}

type Listed = Operation & { readonly path: string; readonly method: string };

function operationLink({ path, method, operationId, summary, tags }: Listed): HTMLAnchorElement {
  const words = [h("span.method", method.toUpperCase()), h("code", path), h("span", summary)];
  const href = `${OPERATION}${encodeURIComponent(tags[0] ?? "")}/${operationId}`;
  return h("a", { href }, ...words.flatMap((word) => [word, " "]));
}

let swagger: SwaggerUi | null = null;
let isLoading = false;
/** The fragment of the operation that was opened last, whose link has the focus when the list is shown again. */
let opened = "";
/** The link that was followed is gone, and the operation that it opened is not drawn yet. */
let awaitsFocus = false;

/** Shows the operation that the address names, in Swagger UI, which is loaded for the first one; else the list. */
function follow(): void {
  if (!location.hash.startsWith(OPERATION)) {
    overview.hidden = false;
    place.hidden = true;
    [...operations.querySelectorAll("a")].find(({ hash }) => hash === opened)?.focus();
  } else if (swagger === null) void openSwagger();
  else {
    makeRoom();
    swagger.layoutActions.parseDeepLinkHash(opened);
    complete(place);
  }
}

/** Puts Swagger UI in the place of the list. */
function makeRoom(): void {
  overview.hidden = true;
  place.hidden = false;
  opened = location.hash;
  awaitsFocus = true;
}

async function openSwagger(): Promise<void> {
  if (isLoading) return;
  isLoading = true;
  operations.querySelector(".message")?.remove();
  announce("Loading …");
  try {
    await Promise.all([
      loaded(h("link", { rel: "stylesheet", href: "docs/swagger-ui.css" })),
      loaded(h("script", { src: "docs/swagger-ui-bundle.js" })),
    ]);
  } catch (error) {
    const wanted = location.hash;
    // The link that was followed leads somewhere again.
    history.replaceState(null, "", location.pathname + location.search);
    const message = problemMessage(error, () => (location.hash = wanted));
    operations.prepend(message);
    message.scrollIntoView({ block: "center" });
    return;
  } finally {
    isLoading = false;
  }
  // Somebody may have gone back meanwhile.
  if (!location.hash.startsWith(OPERATION)) return;
  makeRoom();
  // Swagger UI writes each step of opening an operation into the history, and hears nothing of Back: one step leads to
  // the list.
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
  const control = awaitsFocus
    ? document
        .getElementById(blockOf(opened))
        ?.querySelector<HTMLElement>(":scope.is-open .opblock-summary-control")
    : null;
  if (control) {
    awaitsFocus = false;
    control.focus();
  }
  // The button around it does the same.
  for (const link of place.querySelectorAll(".opblock-summary-control a[href]")) link.removeAttribute("href");
}

/** The id that Swagger UI gives the operation of a fragment. */
const blockOf = (fragment: string): string =>
  `operations-${fragment.slice(OPERATION.length).replace("/", "-").replaceAll("%20", "_")}`;

const overview = byId("overview", HTMLElement);
const operations = byId("operations", HTMLElement);
const place = byId("swagger-ui", HTMLElement);
new MutationObserver(() => complete(place)).observe(place, { childList: true, subtree: true });

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Swagger UI has a dark form, but does not ask what the reader prefers. */
const followColours = (): void => {
  document.documentElement.classList.toggle("dark-mode", dark.matches);
};

dark.addEventListener("change", followColours);
followColours();
window.addEventListener("hashchange", follow);
void show();
