import { decodeLoosely } from "../../../../base/text.ts";

/** The state that the page shows. The URL holds it, so that Back, reloads and bookmarks work. */
export type Place = {
  readonly query: string;
  /** The tenant; empty means all tenants. */
  readonly tenant: string;
  readonly isExact: boolean;
  /** The filter on documents in the server's syntax; empty for none. */
  readonly filter: string;
  /** The open document, and the tenant that has it. */
  readonly document: string | null;
  readonly documentTenant: string;
  readonly anchor: string | null;
};

export function readPlace(): Place {
  const fields = new URLSearchParams(location.hash.slice(1));
  return {
    query: fields.get("q") ?? "",
    tenant: fields.get("in") ?? "",
    isExact: fields.get("exact") === "1",
    filter: fields.get("filter") ?? "",
    document: fields.get("doc"),
    documentTenant: fields.get("of") ?? fields.get("in") ?? "",
    anchor: fields.get("at"),
  };
}

/** Returns the view that the page shows at a place. */
export const viewOf = ({ document, query }: Place): "document" | "results" | "overview" =>
  document !== null ? "document" : query.trim() !== "" ? "results" : "overview";

/** Returns the address of a place, for links. */
export function placeHash(place: Partial<Place>): string {
  const fields = new URLSearchParams();
  if (place.query) fields.set("q", place.query);
  if (place.tenant) fields.set("in", place.tenant);
  if (place.isExact) fields.set("exact", "1");
  if (place.filter) fields.set("filter", place.filter);
  if (place.document) fields.set("doc", place.document);
  if (place.document && place.documentTenant && place.documentTenant !== place.tenant)
    fields.set("of", place.documentTenant);
  if (place.document && place.anchor) fields.set("at", place.anchor);
  return `#${fields}`;
}

/** Formats an address for people: a path within its collection, or a web address without its scheme. */
export function shownAddress(url: string): string {
  const path = /^docs:\/\/[^/]*\/(.*)$/s.exec(url)?.[1];
  return decodeLoosely(path ?? url.replace(/^https?:\/\//, ""));
}

/** The steps that lead to a document in its collection, the last one first to go. */
export const stepsOf = (url: string): readonly string[] =>
  shownAddress(url)
    .split("/")
    .filter((step) => step !== "");
