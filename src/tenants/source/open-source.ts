import type { Log } from "../../base/log.ts";
import { type DocumentExtractor, type DocumentReader, readDocumentFolder } from "../../search/index.ts";
import { FolderWatch } from "../folder-watch.ts";
import type { GitAccess } from "../git/access.ts";
import { gitSource } from "../git/source.ts";
import type { WebAccess } from "../online/parts.ts";
import { onlineSource } from "../online/source.ts";
import type { FilesystemTenant, TenantSettings } from "../settings.ts";
import type { Source, SyncCounts } from "./source.ts";

export type SourceParts = {
  /** Extracts a page from a file. */
  readonly extractHtml: DocumentExtractor;
  /** How remote sources are reached. */
  readonly access: { readonly git: GitAccess; readonly web: WebAccess };
};

type SourceOptions = SourceParts & {
  /** The tenant's state directory. */
  readonly stateDirectory: string;
  readonly log: Log;
};

/** Opens the source of a tenant. */
export function openSource(settings: TenantSettings, options: SourceOptions): Source {
  const { extractHtml, access, stateDirectory, log } = options;
  const readers = documentReaders(extractHtml);
  if (settings.source === "filesystem") return filesystemSource(settings, readers);
  if (settings.source === "git")
    return gitSource(settings, { access: access.git, stateDirectory, readers, log });
  return onlineSource(settings, { access: access.web, stateDirectory, log, now: Date.now });
}

/** Readers of the other kinds of files in documentation folders, besides Markdown. */
const documentReaders = (extractHtml: DocumentExtractor): Readonly<Record<string, DocumentReader>> => ({
  txt: "plain",
  rst: "rst",
  adoc: "asciidoc",
  html: extractHtml,
  htm: extractHtml,
});

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
