import { type Block, type BlockKind, Failure } from "../base/failure.ts";
import type { FetchedPage } from "../fetching/index.ts";

/** What each kind is called, and what of one's own helps; there is no way around any of them. */
const KINDS: Readonly<Record<BlockKind, { readonly name: string; readonly helps: string }>> = {
  challenge: {
    name: "a challenge",
    helps:
      "the browser (--prefer-browser), a session of your own (--storage-state, --cookies) or a key of the site (--header) may help",
  },
  consent: {
    name: "a consent wall",
    helps: "a session in which you have chosen (--storage-state, --cookies) may help",
  },
  login: {
    name: "a login page",
    helps: "your own login (--storage-state, --cookies) or a key (--header) may help",
  },
  paywall: {
    name: "the preview before a paywall",
    helps: "your own subscription (--storage-state, --cookies) may help",
  },
  region: { name: "a block of your region", helps: "the site does not serve this place" },
  rate: {
    name: "a page that says too many requests",
    helps: "fewer requests, later, or a key (--header) may help",
  },
};

/** Says what stands in for a page, and the signs that show it. */
export const describeBlock = (page: string, { kind, signs }: Block): string =>
  `${page} shows ${KINDS[kind].name} instead of the page (${signs.join(", ")})`;

/** @param answer null for a document that nobody fetched */
export function blockedFailure(
  page: string,
  block: Block,
  answer: Pick<FetchedPage, "status" | "fetchedBy"> | null,
): Failure {
  const hasBrowserFailed = block.kind === "challenge" && answer?.fetchedBy === "browser";
  const helps = hasBrowserFailed
    ? "the browser did not get past it; a session of your own (--headed with --storage-state) or a key of the site (--header) may help"
    : KINDS[block.kind].helps;
  const about = answer === null ? { block } : { block, targetStatus: answer.status };
  return new Failure("blocked", `${describeBlock(page, block)}: ${helps}`, about);
}
