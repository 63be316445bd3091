import { join } from "node:path";

/** The part of the DOM that the peers need. */
export type ParseHtml = (html: string) => { readonly document: Document };

/**
 * Imports a module from the scratch folder in which the bench installed the peers. The caller says what the
 * module exports, because its declarations are not installed here.
 */
export async function loadPeer<Module>(scratch: string, modulePath: string): Promise<Module> {
  return (await import(join(scratch, "node_modules", modulePath))) as Module;
}
