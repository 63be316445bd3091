// A worker that takes what it is sent and never answers.
globalThis.addEventListener("message", () => {});
