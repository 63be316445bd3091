import { describeRobotsCache } from "./robots-cache.contract.ts";

describeRobotsCache("memory alone", async () => ({
  open: async () => undefined,
  pass: async () => {},
  [Symbol.asyncDispose]: async () => {},
}));
