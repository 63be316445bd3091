import { dirname } from "node:path";
import { filesPutAside } from "../../../base/damaged.ts";
import { Failure } from "../../../base/failure.ts";
import { freeBytesIn } from "../../../base/free-disk.ts";
import type { ObjectStore } from "../../../base/objects.ts";

type WatchedParts = {
  readonly stateDirectory: string;
  /** The file of cookies that every caller shares, if there is one. */
  readonly storageStateFile?: string | null;
  /** The directory that crawls write to, unless they write to the store; a search server has neither. */
  readonly outputRoot?: string;
  readonly store?: ObjectStore | null;
};

/** Less than this is a full disk: no page and its outcome fit. */
const FULL_BYTES = 1024 * 1024;
/** How long an answer holds, in ms, so that probes cost the store nothing. */
const KEPT_MS = 2000;
const STORE_PATIENCE_MS = 1000;

/**
 * Finds what keeps part of a server from working, for `/health`. The sentences name no paths, since anybody may ask.
 */
export function watchProblems(parts: WatchedParts): () => Promise<readonly string[]> {
  let asked: { readonly at: number; readonly answer: Promise<readonly string[]> } | null = null;
  return () => {
    const now = performance.now();
    if (!asked || now - asked.at > KEPT_MS) asked = { at: now, answer: find(parts) };
    return asked.answer;
  };
}

async function find(parts: WatchedParts): Promise<readonly string[]> {
  const { stateDirectory, storageStateFile, outputRoot, store } = parts;
  const places = new Set([stateDirectory, ...(storageStateFile ? [dirname(storageStateFile)] : [])]);

  const disks = { state: stateDirectory, ...(outputRoot && !store && { "crawled pages": outputRoot }) };
  const [damaged, away, ...full] = await Promise.all([
    Promise.all([...places].map(filesPutAside)),
    store && whyAway(store),
    ...Object.entries(disks).map(async ([what, directory]) =>
      (await freeBytesIn(directory)) < FULL_BYTES ? [`the disk of the ${what} is full`] : [],
    ),
  ]);
  return [
    ...damaged
      .flat()
      .map((name) => `damaged, put aside and begun anew: ${name} (remove it to end this warning)`),
    ...(away ? [away] : []),
    ...full.flat(),
  ];
}

async function whyAway(store: ObjectStore): Promise<string | null> {
  try {
    for await (const _ of store.list("", { patienceMs: STORE_PATIENCE_MS })) break;
    return null;
  } catch (error) {
    return `the store cannot be reached${error instanceof Failure ? "" : ` (${String(error).slice(0, 100)})`}`;
  }
}
