// What tests and benches use of this room besides its door; nothing of the product does.
export { ClientConnection } from "./api/mcp/connection.ts";
export { connectClient } from "./api/mcp/modern.ts";
export { pageOfText } from "./api/mcp/pages.ts";
export { createMcpEndpoint } from "./api/mcp/protocol.ts";
export { DOCUMENT_INSTRUCTIONS } from "./api/mcp/tools.ts";
export { openQueryLog, type QueriesRecord, type QueryCounts } from "./api/search/query-log.ts";
export { type Listener, listen, reservePort } from "./listen.ts";
export { createAccess, requireGrant } from "./middleware/access.ts";
export { type BodyLimits, MAX_BODY_BYTES, readJsonBody, receiveBodies } from "./middleware/body.ts";
export { type Exchange, type Handler, inLayers, type Layer } from "./middleware/exchange.ts";
export { limitClients, limitConcurrency, refuseWhileDraining } from "./middleware/limits.ts";
export { observe, shownPath } from "./middleware/observe.ts";
export { guardOrigin } from "./middleware/origin.ts";
export { createPrometheusSink } from "./processes/prometheus.ts";
export type { Article, CrawledPage, Job, JobOutcomes, PageBlock } from "./web/page/extractor/api.ts";
export { mayBeKept } from "./web/page/extractor/recent.ts";
export { pythonValue, quote } from "./web/page/extractor/request-code.ts";
export { estimateTokens } from "./web/page/format.ts";
