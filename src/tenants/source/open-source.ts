import { Failure } from "../../failure.ts";
import { documentReaders, type ExtractHtmlFile } from "../readers.ts";
import type { TenantSettings } from "../settings.ts";
import { filesystemSource } from "./filesystem.ts";
import type { Source } from "./source.ts";

export type SourceParts = {
  readonly extractHtml: ExtractHtmlFile;
};

/** The source of a tenant. @throws Failure `invalid_settings` for one that this version does not have */
export function openSource(settings: TenantSettings, { extractHtml }: SourceParts): Source {
  if (settings.source === "filesystem") return filesystemSource(settings, documentReaders(extractHtml));
  throw new Failure(
    "invalid_settings",
    `Tenant '${settings.codename}': this version does not sync ${settings.source} sources yet`,
  );
}
