// A worker that says that it is ready, takes what it is sent and never answers.
globalThis.addEventListener("message", () => {});
(globalThis as unknown as { postMessage(reply: unknown): void }).postMessage({ kind: "ready" });
