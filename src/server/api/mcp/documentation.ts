import { documentResources } from "./documents.ts";
import { joinOffers, type McpOffer } from "./offer.ts";
import { type PageToolParts, pages } from "./pages.ts";
import { DOCUMENTATION_PROMPTS } from "./prompts.ts";
import { DOCUMENT_INSTRUCTIONS, documentTools, type ToolOptions } from "./tools.ts";

export type DocumentationOptions = ToolOptions & {
  /** What reads pages besides; null where the deployment does not allow it. */
  readonly pages: PageToolParts | null;
};

/** The tools over the tenants, their documents as resources, and the prompts; the last two where there are tenants. */
export const documentation = (options: DocumentationOptions): McpOffer =>
  joinOffers([
    {
      tools: documentTools(options),
      instructions: DOCUMENT_INSTRUCTIONS,
      ...(options.registry.list().length > 0 && {
        resources: documentResources(options.registry),
        prompts: DOCUMENTATION_PROMPTS,
      }),
    },
    ...(options.pages ? [pages(options.pages)] : []),
  ]);
