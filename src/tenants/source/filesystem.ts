import { type DocumentReader, readDocumentFolder } from "../../search/index.ts";
import { FolderWatch } from "../folder-watch.ts";
import type { FilesystemTenant } from "../settings.ts";
import type { Source, SyncCounts } from "./source.ts";

/** How often to look at a folder that reports no changes, in ms. */
const LOOK_EVERY_MS = 30_000;

const NOTHING: SyncCounts = { fetched: 0, unchanged: 0, removed: 0, failed: 0 };

/** A folder that somebody else fills: it is only read, there is nothing to sync. */
export function filesystemSource(
  { rootDir, codename }: FilesystemTenant,
  readers: Readonly<Record<string, DocumentReader>>,
): Source {
  return {
    sync: async () => NOTHING,
    documents: ({ onSkipped }) => readDocumentFolder(rootDir, { codename, readers, onSkipped }),
    watch: (onChange) => new FolderWatch({ folder: rootDir, readers, onChange, intervalMs: LOOK_EVERY_MS }),
  };
}
