import { STATE } from "./schema.ts";

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
export function judge(pageId: number, named: readonly NamedPage[]) {
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
