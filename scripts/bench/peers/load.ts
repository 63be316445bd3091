import { join } from "node:path";

/** The DOM that the peers run on, as much of it as they need here. */
export type ParseHtml = (html: string) => { readonly document: Document };

/**
 * Imports a module of the scratch folder that the bench installed the peers into.
 * The caller says what the module exports: its declarations are not installed here.
 */
export async function loadPeer<Module>(scratch: string, modulePath: string): Promise<Module> {
  return (await import(join(scratch, "node_modules", modulePath))) as Module;
}
