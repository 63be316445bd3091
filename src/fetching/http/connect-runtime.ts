import type { Connect, ConnectOptions } from "./connect.ts";
import { createBunConnect } from "./connect-bun.ts";

/** The connections of the runtime that the program runs on. */
export async function openConnect(options: ConnectOptions): Promise<Connect> {
  if (process.versions.bun !== undefined) return createBunConnect(options);
  const { createNodeConnect } = await import("./connect-node.ts");
  return createNodeConnect(options);
}
