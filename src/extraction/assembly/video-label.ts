import { canonicalMedia } from "../document/structures.ts";
import { parseDocument } from "../parse.ts";
import { collapseSpace, removeInvisible } from "../text.ts";

/** What stands for a video or audio piece in the text; null when it shows nothing. */
export function videoLabel(source: string): string | null {
  const element = parseDocument(`<html><head></head><body>${source}</body></html>`).body.firstElementChild;
  const media = element && canonicalMedia(element);
  return media ? collapseSpace(removeInvisible(media.textContent ?? "")) : null;
}
