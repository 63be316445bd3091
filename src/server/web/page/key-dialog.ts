import { h } from "./dom.ts";

let asking: Promise<string | null> | null = null;

/**
 * Asks the reader for the API key; simultaneous requests share one dialog.
 * @param wasRefused whether a wrong key was sent
 * @returns null when the reader declines
 */
export function askForKey(wasRefused: boolean): Promise<string | null> {
  asking ??= show(wasRefused).finally(() => {
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
      h("h2", { id: "api-key-title" }, "This server asks for an API key"),
      h("label", { for: "api-key" }, "API key"),
      input,
      wasRefused && h("span", { class: "field-error", role: "alert" }, "The server refused this key."),
      h(
        "p",
        { class: "fine", id: "api-key-note" },
        "Kept in this tab until you close it, and sent to this server only.",
      ),
      h("div", { class: "actions" }, h("button", { class: "primary" }, "Use this key"), cancel),
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
