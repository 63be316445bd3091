import type { Connect, ConnectOptions } from "./connect.ts";
export function createNodeConnect(_options: ConnectOptions): Connect {
  throw new Error("not yet");
}
