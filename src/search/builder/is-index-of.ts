import { createYieldWhenDue } from "../../base/event-loop.ts";
import { Failure } from "../../base/failure.ts";
import { readDocuments, type UnreadDocument } from "../reading/read-document.ts";
import { Segment } from "../segment/segment.ts";
import type { SourceDocument } from "../types.ts";
import { holdsExactly } from "./build-segment.ts";

/** Whether a file is the index of exactly these documents; those that cannot be read count as none. */
export async function isIndexOf(path: string, documents: AsyncIterable<UnreadDocument>): Promise<boolean> {
  try {
    using segment = Segment.open(path);
    return await holdsExactly(segment, readAll(documents));
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

async function* readAll(documents: AsyncIterable<UnreadDocument>): AsyncGenerator<SourceDocument> {
  const yieldWhenDue = createYieldWhenDue();
  for await (const unread of documents) {
    await yieldWhenDue();
    let read: readonly SourceDocument[] = [];
    try {
      read = [...readDocuments(unread)];
    } catch {
      // A document can cause any exception; the index that was built of it does without it.
    }
    yield* read;
  }
}
