import { isTransient404 } from "../manifest.ts";
import type { ClaimedPage, NextTry, Settlement } from "./frontier.ts";
import { STATE } from "./schema.ts";

/**
 * Whether a page counts towards `maxPages` before it is claimed. One that a lost process had under way does: it is the
 * one that is asked for again, and no other takes its place.
 */
export const isCounted = ({ tries, isTakenOver }: ClaimedPage): boolean => tries > 0 || isTakenOver;

/**
 * Whether a page that is given back counts as fetched and waits for its time. If not, it returns to its place in the
 * queue.
 */
export const waitsFor = (page: ClaimedPage, { tries, isAsked = false }: NextTry): boolean =>
  isAsked || tries > 0 || isCounted(page);

/**
 * Tells whether another page may take this page's place towards `maxPages`, because this page was not fetched after all.
 * A page that a lost process had under way keeps its place even if it now fails before its request: it may have been
 * requested then, when its host was well.
 */
export const makesRoom = ({ page, isFetched, outcome }: Settlement): boolean =>
  !isFetched && page.tries === 0 && !(page.isTakenOver && outcome.status === "failed");

/** Number of pages towards `maxPages` that a settlement adds. */
export const countedBy = (settlement: Settlement): number => {
  const { page, isFetched } = settlement;
  if (isFetched) return isCounted(page) ? 0 : 1;
  return page.isTakenOver && makesRoom(settlement) ? -1 : 0;
};

/** What a page's outcome changes in what is stored of it. */
export const memoryOf = ({ outcome }: Settlement): "stored" | "gone" | "missed" | null => {
  if (outcome.status === "success") return "stored";
  if (outcome.reason === "gone") return "gone";
  return outcome.httpStatus === 404 ? "missed" : null;
};

/** Tells whether the links of a page are kept: for a larger limit of depth, or for an answer "not modified". */
export function keptLinks({
  page,
  outcome,
  validators,
  links,
  follow,
}: Pick<Settlement, "page" | "outcome" | "validators" | "links" | "follow">):
  | "too_deep"
  | "unmodified"
  | null {
  if (links.length === 0) return null;
  // The links of a duplicate are those of its original, and count once, whichever of the two came first.
  if (follow === "too_deep") return outcome.reason === "duplicate" ? null : "too_deep";
  // A "not modified" answer has no links of its own.
  const canBeUnmodified = (validators?.etag ?? validators?.lastModified ?? page.lastModified) != null;
  return outcome.status === "success" && canBeUnmodified ? "unmodified" : null;
}

/** A page that was not requested, or not modified, is as it was. */
export function wasTransient(page: Settlement["page"], outcome: Settlement["outcome"]): boolean {
  const isAsBefore = outcome.httpStatus === null || outcome.httpStatus === 304;
  return isAsBefore ? (page.known?.isTransient404 ?? false) : isTransient404(outcome);
}

/** A page of this run with one of the other URLs that a page under way turns out to have. */
export type NamedPage = {
  readonly id: number;
  /** One of `STATE`. */
  readonly state: number;
  readonly parent: number | null;
  /** The end of the chain of pages to which it gave way, as far as the page under way: pages may name each other. */
  readonly original: number;
  /** Whether the original is under way or stored. */
  readonly stands: boolean | number;
};

/** Tells which page the page under way would repeat, if any, and otherwise what becomes a duplicate of it. */
export function judge<Page extends NamedPage>(pageId: number, named: readonly Page[]) {
  const others = named.filter(({ id }) => id !== pageId);
  const isRival = ({ state, parent, original, stands }: NamedPage): boolean =>
    state === STATE.alias ? parent !== pageId : original !== pageId && Boolean(stands);
  const open = others.filter(({ state }) => state === STATE.queued || state === STATE.waiting);
  return {
    rival: others.find(isRival)?.id ?? null,
    duplicates: others.filter((one) => open.includes(one) || one.state === STATE.deep),
    /** How many of the duplicates waited for their first or another try. */
    open: open.length,
    /** Whether another page is under way, which must not be judged at the same time. */
    isContested: others.some(({ state }) => state === STATE.claimed),
  };
}
