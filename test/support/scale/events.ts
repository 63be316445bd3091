import { expect } from "bun:test";
import type { ExtractorProcess } from "../extractor-server.ts";

export type JobEvent = { readonly id: number; readonly kind: string; readonly data: string };

/** Yields the events of a job that have a number, those behind `last`, until the stream ends. */
export async function* eventsOf(
  api: ExtractorProcess,
  id: string,
  last: number | null,
): AsyncGenerator<JobEvent> {
  const headers: Record<string, string> = last === null ? {} : { "last-event-id": String(last) };
  const response = await api.get(`/crawl/${id}/events`, { headers });
  expect(response.status).toBe(200);
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
      if (field("id") !== "") yield { id: Number(field("id")), kind: field("event"), data: field("data") };
    }
  }
}

/** Checks that no event is missing or told twice, and returns the URLs of the pages that were told. */
export function toldPages(events: readonly JobEvent[]): string[] {
  expect(events.map((event) => event.id)).toEqual(events.map((_, index) => index + 1));
  expect(events.filter(({ kind }) => kind === "gap")).toEqual([]);
  return events.flatMap(({ kind, data }) => (kind === "page" ? [JSON.parse(data).url as string] : []));
}
