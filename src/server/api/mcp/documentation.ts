import { joinOffers, type McpOffer } from "./offer.ts";
import { type PageToolParts, pages } from "./pages.ts";
import { DOCUMENT_INSTRUCTIONS, documentTools, type ToolOptions } from "./tools.ts";

export type DocumentationOptions = ToolOptions & {
  /** Reads pages from the web; null if the deployment does not allow it. */
  readonly pages: PageToolParts | null;
};

/** The tools over the tenants. */
export const documentation = (options: DocumentationOptions): McpOffer =>
  joinOffers([
    { tools: documentTools(options), instructions: DOCUMENT_INSTRUCTIONS },
    ...(options.pages ? [pages(options.pages)] : []),
  ]);
