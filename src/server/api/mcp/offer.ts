import type { Tool, ToolCall } from "./tool.ts";

/** A part of what an endpoint offers. */
export type McpOffer = {
  readonly tools: readonly Tool[];
  /** How the tools are used, for the model behind a client; at most 150 words. */
  readonly instructions: string;
  readonly resources?: McpResources;
  readonly prompts?: readonly McpPrompt[];
};

/** Who offers it. */
export type McpProgram = {
  readonly name: string;
  readonly version: string;
  /** Told of each call, for the metrics. */
  readonly onCall: (tool: string, outcome: "success" | "error", durationMs: number) => void;
};

/** What an endpoint offers, in whichever revision and over whichever transport a client asks. */
export type McpOptions = McpOffer & McpProgram;

/** A request to the endpoint. */
export type McpRequest = {
  readonly request: Request;
  /** The body of the request, whose own has been read. */
  readonly body: string;
  readonly call: ToolCall;
};

/** Several offers as one; resources are those of the last that has any. */
export const joinOffers = (offers: readonly McpOffer[]): McpOffer => ({
  ...Object.assign({}, ...offers),
  tools: offers.flatMap(({ tools }) => tools),
  instructions: offers.map(({ instructions }) => instructions).join("\n"),
  prompts: offers.flatMap(({ prompts = [] }) => prompts),
});

export type McpResource = { readonly uri: string; readonly name: string; readonly mimeType: string };

export type McpResources = {
  readonly templates: readonly {
    readonly uriTemplate: string;
    readonly name: string;
    readonly description: string;
    readonly mimeType: string;
  }[];
  /**
   * One page of all resources.
   * @param cursor where an earlier page ended
   * @returns null for a cursor that no page gave
   */
  readonly list: (
    cursor: string | undefined,
  ) => Promise<{ readonly resources: readonly McpResource[]; readonly nextCursor?: string } | null>;
  /** @throws Failure with the reason why there is no such resource */
  readonly read: (uri: string) => Promise<{ readonly text: string; readonly _meta: object }>;
};

export type McpPrompt = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description: string;
    readonly required: boolean;
  }[];
  /** The words for the model, with the arguments in their places; missing ones are empty. */
  readonly write: (given: Readonly<Record<string, string>>) => string;
};
