import type { PageTree } from "../classification/page-tree.ts";
import type { Region } from "../classification/region.ts";
import { type Favor, PAGE_TYPES, type PageType } from "../types.ts";
import type { WholeElements } from "./whole-elements.ts";

/** The trees' verdict on a page. */
export type Judgement = {
  /** The probability of each candidate. */
  readonly p: Float32Array;
  /** The probability of each page type. */
  readonly typeP: Float32Array;
  readonly favor: Favor;
};

/** The selection as the steps find it; each of them writes into `isKept`. */
export type Draft = Judgement & {
  readonly tree: PageTree;
  readonly wholes: WholeElements;
  /** The words of each candidate. */
  readonly words: Float32Array;
  /** 1 for each block of the page that is kept. */
  readonly isKept: Uint8Array;
  /** 1 for each block that no later step may keep. */
  readonly isBarred: Uint8Array;
  /** The container of what the first steps keep; null without one. */
  region: Region | null;
  /** The title that the content leaves out; null for none. */
  title: string | null;
  /** The block of the title, which may stand apart from the content; -1 for none. */
  titleBlock: number;
};

/** The kept blocks, ascending. */
export const keptBlocks = ({ isKept }: Pick<Draft, "isKept">): Int32Array =>
  Int32Array.from(isKept.keys()).filter((block) => isKept[block] === 1);

export function keepOnly({ isKept }: Pick<Draft, "isKept">, blocks: Iterable<number>): void {
  isKept.fill(0);
  for (const block of blocks) isKept[block] = 1;
}

/** Returns the probability that a page is of any of the given types. */
export const likelihood = ({ typeP }: Pick<Draft, "typeP">, ...types: readonly PageType[]): number =>
  types.reduce((sum, type) => sum + typeP[PAGE_TYPES.indexOf(type)]!, 0);
