import { ProblemError } from "./problem.ts";

/** Largest body of a request (DECISIONS section 4, "Errors"). */
export const MAX_BODY_BYTES = 2 * 1024 * 1024;

/** A body that takes longer to arrive is a slow sender's, who may not hold a place for longer. */
const MAX_BODY_MS = 30_000;

/**
 * The JSON of a request's body.
 * @throws ProblemError 415 for another type, 413 over 2 MiB, 408 after 30 s, 400 for what is no JSON or breaks off
 */
export async function readJsonBody(request: Request): Promise<unknown> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json")
    throw new ProblemError({
      status: 415,
      code: "unsupported_media_type",
      detail: `the body must be application/json, not ${type ? JSON.stringify(type.slice(0, 100)) : "without a type"}`,
    });
  const text = await readText(request);
  try {
    return JSON.parse(text);
  } catch {
    throw new ProblemError({ status: 400, code: "malformed_json", detail: "the body is not JSON" });
  }
}

async function readText(request: Request): Promise<string> {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const decoder = new TextDecoder();
  let text = "";
  let total = 0;
  const reader = request.body?.getReader();
  const deadline = Promise.withResolvers<never>();
  const timer = setTimeout(() => deadline.reject(tooSlow()), MAX_BODY_MS);
  try {
    while (reader) {
      const { value, done } = await Promise.race([reader.read().catch(refuseCut), deadline.promise]);
      if (done) break;
      total += value.length;
      if (total > MAX_BODY_BYTES) throw tooLarge();
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    clearTimeout(timer);
    // A body that was read to its end has nothing left to call off.
    void reader?.cancel().catch(() => {});
  }
  return text + decoder.decode();
}

// The client has gone, or its chunks are none: nothing of ours is wrong.
function refuseCut(): never {
  throw new ProblemError({ status: 400, code: "body_cut_off", detail: "the body ended before its end" });
}

const tooSlow = (): ProblemError =>
  new ProblemError({
    status: 408,
    code: "body_too_slow",
    detail: `the body took longer than ${MAX_BODY_MS / 1000} s to arrive`,
    headers: { connection: "close" },
  });

const tooLarge = (): ProblemError =>
  new ProblemError({
    status: 413,
    code: "body_too_large",
    detail: `the body is over the limit of ${MAX_BODY_BYTES} bytes`,
  });
