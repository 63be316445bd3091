import type { Tool, ToolCall } from "./tool.ts";

/** A part of what an endpoint offers. */
export type McpOffer = {
  readonly tools: readonly Tool[];
  /** How the tools are used, for the model behind a client; at most 150 words. */
  readonly instructions: string;
};

/** The program that makes the offer. */
export type McpProgram = {
  readonly name: string;
  readonly version: string;
  /** Told of each call, for the metrics. */
  readonly onCall: (tool: string, outcome: "success" | "error", durationMs: number) => void;
};

/** The offer of an endpoint, in every revision and over every transport. */
export type McpOptions = McpOffer & McpProgram;

/** A request to the endpoint. */
export type McpRequest = {
  readonly request: Request;
  /** The body of the request, whose own has been read. */
  readonly body: string;
  readonly call: ToolCall;
};

/** Several offers as one. */
export const joinOffers = (offers: readonly McpOffer[]): McpOffer => ({
  tools: offers.flatMap(({ tools }) => tools),
  instructions: offers.map(({ instructions }) => instructions).join("\n"),
});
