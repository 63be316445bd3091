export {
  type App,
  type AppEnvironment,
  type AppOptions,
  type ArticleSession,
  type BrowserMachine,
  createApp,
  readAppEnvironment,
} from "./app.ts";
export { browserMachine, hasDisplay } from "./machine.ts";
export { openMetrics } from "./metrics.ts";
export { DEFAULT_NETWORK, type NetworkOptions, type Person, preferenceOf } from "./network.ts";
export { openSources, type Sources, sourceProblems } from "./sources.ts";
export { stateHome } from "./state-home.ts";
export { openStatsd } from "./statsd.ts";
