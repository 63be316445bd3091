import { fill, h } from "./dom.ts";

/** An error answer, or no answer at all (status 0), in words for the reader. */
export class RequestFailed extends Error {
  override readonly name = "RequestFailed";
  readonly status: number;
  readonly code: string = "";
  /** The invalid fields, each with the reason. */
  readonly fields: readonly { readonly path: string; readonly message: string }[] = [];
  readonly requestId: string | null = null;
  /** When another try is worthwhile, in seconds; null when the server does not say. */
  readonly retryAfterSeconds: number | null = null;

  constructor(status: number, detail: string, parts: Partial<RequestFailed> = {}) {
    super(detail);
    this.status = status;
    Object.assign(this, parts);
  }
}

const KEY = "article-extractor.key";

type RequestOptions = {
  readonly method?: "GET" | "POST" | "DELETE";
  /** The body, which is sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Sends a request to the page's own server. After a 401 it asks the reader for the key and tries again; the
 * key is kept until the tab is closed.
 * @param path relative to the page, so that it works below any prefix
 * @throws RequestFailed for every answer that is no success; AbortError by the signal
 */
export async function request(path: string, options: RequestOptions = {}): Promise<Response> {
  for (let isRetry = false; ; isRetry = true) {
    const response = await send(path, options);
    if (response.ok) return response;
    if (response.status !== 401) throw await failureOf(response);
    const sent = sessionStorage.getItem(KEY);
    const key = await askForKey(isRetry || sent !== null);
    if (key === null) throw await failureOf(response);
    sessionStorage.setItem(KEY, key);
  }
}

/** Does what `request` does, and returns the JSON of the answer. */
export async function requestJson<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const response = await request(path, options);
  try {
    return await response.json();
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new RequestFailed(0, "The server sent an answer that this page does not understand.");
  }
}

/** Returns the header with this tab's key; empty without one. */
export function keyHeader(): Readonly<Record<string, string>> {
  const key = sessionStorage.getItem(KEY);
  return key === null ? {} : { Authorization: `Bearer ${key}` };
}

/** Whether the server has asked this tab for a key. */
export const hasKey = (): boolean => sessionStorage.getItem(KEY) !== null;

/** The parameters of a query that have a value. */
export const parametersOf = (
  values: Readonly<Record<string, string | number | undefined>>,
): URLSearchParams =>
  new URLSearchParams(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );

async function send(
  path: string,
  { method = "GET", body, headers, signal }: RequestOptions,
): Promise<Response> {
  try {
    return await fetch(path, {
      method,
      headers: {
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...keyHeader(),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
      cache: "no-store",
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new RequestFailed(0, "The server does not answer. It may be stopped, or you may be offline.");
  }
}

async function failureOf(response: Response): Promise<RequestFailed> {
  const problem: Readonly<Record<string, unknown>> | null = await response.json().catch(() => null);
  const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
  const fields = Array.isArray(problem?.errors) ? problem.errors : [];
  return new RequestFailed(
    response.status,
    text(problem?.detail) ?? `The server answered with status ${response.status}.`,
    {
      code: text(problem?.code) ?? "",
      requestId: text(problem?.request_id) ?? response.headers.get("x-request-id"),
      retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
      fields: fields.map((one: { path?: unknown; message?: unknown }) => ({
        path: text(one?.path) ?? "",
        message: text(one?.message) ?? "",
      })),
    },
  );
}

let asking: Promise<string | null> | null = null;
let askedMs = 0;
let askingSince: number | null = null;

/** How long the reader has been asked for a key since the page was opened, in ms. */
export const timeAsking = (): number =>
  askedMs + (askingSince === null ? 0 : performance.now() - askingSince);

/**
 * Asks the reader for the API key; simultaneous requests share one dialog.
 * @param wasRefused whether a wrong key was sent
 * @returns null when the reader declines
 */
function askForKey(wasRefused: boolean): Promise<string | null> {
  askingSince ??= performance.now();
  asking ??= show(wasRefused).finally(() => {
    askedMs = timeAsking();
    askingSince = null;
    asking = null;
  });
  return asking;
}

function show(wasRefused: boolean): Promise<string | null> {
  return new Promise((resolve) => {
    const input = h("input", {
      type: "password",
      id: "api-key",
      name: "api-key",
      autocomplete: "off",
      required: true,
      "aria-invalid": wasRefused ? "true" : null,
      "aria-describedby": "api-key-note",
    });
    const cancel = h("button", { type: "button", onclick: () => dialog.close() }, "Not now");
    const form = h(
      "form",
      { method: "dialog" },
      h("h2", { id: "api-key-title" }, "This server requires an API key"),
      h("label", { for: "api-key" }, "API key"),
      input,
      wasRefused && h("span.field-error", { role: "alert" }, "The server rejected this key."),
      h("p.fine", { id: "api-key-note" }, "Stored in this tab until you close it. Sent to this server only."),
      h("div.actions", h("button.primary", "Use this key"), cancel),
    );
    const dialog = h("dialog", { "aria-labelledby": "api-key-title" }, form);
    let key: string | null = null;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      // Characters that a header cannot carry are not part of a key.
      key = input.value.trim().replace(/[^\x21-\x7e]/g, "") || null;
      dialog.close();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(key);
    });
    document.body.append(dialog);
    dialog.showModal();
    input.focus();
  });
}

const TITLES: Readonly<Record<number, string>> = {
  0: "No answer",
  400: "The request could not be read",
  401: "An API key is required",
  403: "Refused",
  404: "Not found",
  409: "Already in progress",
  413: "Too large",
  422: "The request could not be completed",
  429: "The server is busy",
  502: "The page could not be fetched",
  503: "The server is unavailable",
  504: "The website took too long",
};

/** Titles of codes that say more than their status, which other codes share. */
const CODE_TITLES: Readonly<Record<string, string>> = {
  unsupported_content: "This is not a text page",
  no_content: "No article was found",
  invalid_url: "This is not the URL of a page",
  too_large: "The page is too large",
  too_complex: "The page is too complex",
  egress_refused: "This address is not allowed",
};

/** Shows an error in place of what an element has. @param retry what the reader may try again */
export const showProblem = (place: Element, error: unknown, retry: (() => void) | null = null): void =>
  fill(place, problemMessage(error, retry));

/** Tells the reader of an error: what happened, why, and what can be done. */
export function problemMessage(error: unknown, retry: (() => void) | null): HTMLElement {
  const failed = error instanceof RequestFailed ? error : new RequestFailed(-1, String(error));
  const { status, message, fields, requestId, retryAfterSeconds } = failed;
  const title = CODE_TITLES[failed.code] ?? TITLES[status] ?? "Something went wrong";
  return h(
    "div.message.bad",
    { role: "alert" },
    h("strong", title),
    h("p", message),
    fields.length > 0 &&
      h("ul", ...fields.map(({ path, message: text }) => h("li", h("code", path), " ", text))),
    retryAfterSeconds !== null && h("p", `Try again in ${retryAfterSeconds} s.`),
    requestId !== null && h("p.fine", `Request ${requestId}`),
    retry && h("button.small", { type: "button", onclick: retry }, "Try again"),
  );
}
