import type { Connect, ConnectOptions } from "./connect.ts";
import { createBunConnect } from "./connect-bun.ts";

/** Opens connections with the client of the present runtime. */
export async function openConnect(options: ConnectOptions): Promise<Connect> {
  if (process.versions.bun !== undefined) return createBunConnect(options);
  const { createNodeConnect } = await import("./connect-node.ts");
  return createNodeConnect(options);
}
