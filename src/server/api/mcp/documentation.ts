import { documentResources } from "./documents.ts";
import type { McpOptions } from "./offer.ts";
import { DOCUMENTATION_PROMPTS } from "./prompts.ts";
import { DOCUMENT_INSTRUCTIONS, documentTools, type ToolOptions } from "./tools.ts";

/** The tools over the tenants, their documents as resources, and the prompts; the last two where there are tenants. */
export const documentation = (
  options: ToolOptions,
): Pick<McpOptions, "tools" | "instructions" | "resources" | "prompts"> => ({
  tools: documentTools(options),
  instructions: DOCUMENT_INSTRUCTIONS,
  ...(options.registry.list().length > 0 && {
    resources: documentResources(options.registry),
    prompts: DOCUMENTATION_PROMPTS,
  }),
});
