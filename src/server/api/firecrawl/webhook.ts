import { Failure } from "../../../base/failure.ts";
import { parseJson } from "../../../base/json.ts";
import type { JobRecord, ManifestEntry } from "../../../crawler/index.ts";
import { checkCustomHeaders } from "../../../fetching/index.ts";
import type { WebhookEvent, WebhookForm } from "../extractor/jobs/webhook-store.ts";
import type { ExtractorParts } from "../extractor/parts.ts";
import type { WebhookRequestFields } from "../extractor/schemas/requests.ts";
import { invalidRequest } from "../openapi.ts";
import { documentOf, markdownOf } from "./documents.ts";
import type { WebhookFields } from "./schemas.ts";

/** Every event has its name after this: `crawl.page`. */
export type WebhookOwner = "crawl" | "batch_scrape";

/**
 * A webhook as Firecrawl's clients send it: what of it is as in our own requests, and the form of its events.
 * @throws ProblemError 422 for a header that a caller may not set
 */
export function readWebhookFields(webhook: WebhookFields | null | undefined, owner: WebhookOwner) {
  if (!webhook) return null;
  const {
    url,
    events = null,
    headers = {},
    metadata = {},
  } = typeof webhook === "string" ? { url: webhook } : webhook;
  try {
    checkCustomHeaders(headers);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { message } = error;
    throw invalidRequest(`webhook.headers: ${message}`, [{ path: "webhook.headers", message }]);
  }
  const request: WebhookRequestFields = { url, events: events ?? ["started", "page", "completed", "failed"] };
  const form: WebhookForm = { owner, headers, metadata };
  return { request, form };
}

/** What Firecrawl's webhooks are told of an event; null for pages that were left out, of which they are not told. */
export async function eventOf(
  { owner, metadata }: WebhookForm,
  { kind, body, job }: { readonly kind: WebhookEvent; readonly body: string; readonly job: JobRecord },
  { places }: Pick<ExtractorParts, "places">,
): Promise<Readonly<Record<string, unknown>> | null> {
  const page = kind === "page" ? (parseJson(body) as ManifestEntry) : null; // the crawl reported it
  if (page?.status === "skipped") return null;
  const isStored = page?.status === "success";
  const error = page ? page.error?.message : job.error?.message;
  return {
    success: page ? isStored : kind !== "failed",
    type: `${owner}.${kind}`,
    id: job.id,
    data: isStored ? [documentOf(page, await markdownOf(page, job, places))] : [],
    metadata,
    ...(error !== undefined && kind !== "started" && { error }),
  };
}
