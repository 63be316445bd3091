import { h } from "./dom.ts";
import { RequestFailed } from "./http.ts";

const TITLES: Readonly<Record<number, string>> = {
  0: "No answer",
  400: "The request could not be read",
  401: "An API key is needed",
  403: "Refused",
  404: "Not found",
  409: "Already under way",
  413: "Too large",
  422: "This did not work",
  429: "The server is busy",
  502: "The page could not be fetched",
  503: "The server is not available now",
  504: "The website took too long",
};

/** Shows an error to the reader: what happened, why, and what can be done. */
export function problemMessage(error: unknown, retry: (() => void) | null): HTMLElement {
  const failed = error instanceof RequestFailed ? error : new RequestFailed(-1, String(error));
  const { status, message, fields, requestId, retryAfterSeconds } = failed;
  const title = TITLES[status] ?? "Something went wrong";
  return h(
    "div",
    { class: "message bad", role: "alert" },
    h("strong", {}, title),
    h("p", {}, message),
    fields.length > 0 &&
      h("ul", {}, ...fields.map(({ path, message: text }) => h("li", {}, h("code", {}, path), " ", text))),
    retryAfterSeconds !== null && h("p", {}, `Worth another try in ${retryAfterSeconds} s.`),
    requestId !== null && h("p", { class: "fine" }, `Request ${requestId}`),
    retry && h("button", { type: "button", class: "small", onclick: retry }, "Try again"),
  );
}
