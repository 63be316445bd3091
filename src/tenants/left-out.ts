import { dirname, join } from "node:path";
import { isRecord } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import {
  type DocumentNotice,
  LEFT_OUT_REASONS,
  type LeftOut,
  type LeftOutReason,
  leftOutText,
} from "../search/index.ts";
import { readState, writeState } from "./state-file.ts";

/** How many files each reason leaves out, with the first of them; a folder that is left out counts once. */
export type LeftOutCounts = Readonly<
  Partial<Record<LeftOutReason, { readonly count: number; readonly examples: readonly string[] }>>
>;

const MAX_EXAMPLES = 5;
/** A name may be hostile, and a status is read by people and language models. */
const MAX_PATH = 300;

/** Collects what a build of an index leaves out. */
export class LeftOutFiles {
  #ofFiles: LeftOut[] = [];
  readonly #ofBuild: LeftOut[] = [];
  readonly #logged = new Set<string>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * Begins to read the files, from the first one each time: a build that starts again reads them once more.
   * @returns what to call with each file that is left out
   */
  begin(): (file: LeftOut) => void {
    const files: LeftOut[] = [];
    this.#ofFiles = files;
    return (file) => this.#add(file, files);
  }

  /** Takes a notice of the build, which gives each of them once. */
  note({ path, reason, detail }: DocumentNotice): void {
    if (reason === null) this.#log.warning("document cut", { path, reason: detail });
    else this.#add({ path, reason, detail }, this.#ofBuild);
  }

  /** Writes the list beside the index: the record is read with each status. @throws Failure `unwritable_output` */
  async save(indexPath: string): Promise<{ readonly skippedFiles: number; readonly leftOut: LeftOutCounts }> {
    const files = [...this.#ofFiles, ...this.#ofBuild];
    await writeState(listPathOf(indexPath), files);
    return { skippedFiles: countTroubles(files), leftOut: countByReason(files) };
  }

  #add(file: LeftOut, list: LeftOut[]): void {
    const path = file.path.replace(/\p{Cc}|\p{Cf}/gu, "\ufffd").slice(0, MAX_PATH);
    list.push({ ...file, path });
    if (!LEFT_OUT_REASONS[file.reason].isTrouble || this.#logged.has(path)) return;
    this.#logged.add(path);
    this.#log.warning("file left out", { path, reason: leftOutText(file) });
  }
}

/** The number of files that a person would expect in the index. */
export const countTroubles = (files: readonly LeftOut[]): number =>
  files.filter(({ reason }) => LEFT_OUT_REASONS[reason].isTrouble).length;

/** Counts files by reason. */
export function countByReason(files: readonly LeftOut[]): LeftOutCounts {
  const groups = [...Map.groupBy(files, ({ reason }) => reason)];
  return Object.fromEntries(
    groups.map(([reason, group]) => [
      reason,
      { count: group.length, examples: group.slice(0, MAX_EXAMPLES).map(({ path }) => path) },
    ]),
  );
}

/** Lists reasons with the numbers of their files, as in `2 hidden, 1 unknown kind`; empty without any. */
export const describeReasons = (leftOut: LeftOutCounts): string =>
  Object.entries(leftOut)
    .map(([reason, { count }]) => `${count} ${reason.replaceAll("_", " ")}`)
    .join(", ");

const listPathOf = (indexPath: string): string => join(dirname(indexPath), "left-out.json");

/** Reads what the last build of an index left out; nothing before the first. */
export const readLeftOut = async (indexPath: string): Promise<readonly LeftOut[]> =>
  (await readState(listPathOf(indexPath), isLeftOutList)) ?? [];

const isLeftOutList = (value: unknown): value is readonly LeftOut[] =>
  Array.isArray(value) &&
  value.every(
    (file) =>
      isRecord(file) && typeof file.path === "string" && Object.hasOwn(LEFT_OUT_REASONS, String(file.reason)),
  );
