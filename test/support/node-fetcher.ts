import { join } from "node:path";
import { Failure, type FailureRecord } from "../../src/base/failure.ts";
import type { FetchedPage, Fetcher } from "../../src/fetching/index.ts";
import { temporaryDirectory } from "./temporary.ts";

export type NodeFetcherOptions = {
  readonly names?: Readonly<Record<string, readonly string[]>>;
  readonly proxy?: string;
  readonly extraCertificates?: readonly string[];
  /** Stands for one of the authorities that Node brings along. */
  readonly builtIn?: string;
  readonly requestTimeoutMs?: number;
};

export type NodeRequest = { readonly id: number; readonly url: string; readonly cancel?: true };
export type NodeResponse =
  | {
      readonly id: number;
      readonly page: FetchedPage;
      readonly failure?: undefined;
      readonly targetStatus?: undefined;
    }
  | {
      readonly id: number;
      readonly page?: undefined;
      readonly failure: FailureRecord;
      readonly targetStatus: number | null;
    };

/** The fetcher inside a process of the machine's Node, as a Fetcher of this one. */
export async function startNodeFetcher(options: NodeFetcherOptions = {}): Promise<Fetcher> {
  const { path: directory, ...place } = temporaryDirectory();
  const built = await Bun.build({
    entrypoints: [new URL("node-fetcher-entry.ts", import.meta.url).pathname],
    outdir: directory,
    target: "node",
    naming: "[name].mjs",
  });
  if (!built.success) throw new Error(String(built.logs));
  const entry = join(directory, "node-fetcher-entry.mjs");
  const { builtIn } = options;
  const replaced = builtIn
    ? ["--import", `data:text/javascript,${encodeURIComponent(withRoot(builtIn))}`]
    : [];
  const child = Bun.spawn(["node", ...replaced, entry, JSON.stringify(options)], {
    stdin: "pipe",
    stdout: "pipe",
  });
  const waiting = new Map<number, (response: NodeResponse) => void>();
  const reading = readResponses(child.stdout, waiting);
  let lastId = 0;
  const write = (request: NodeRequest): void => {
    child.stdin.write(`${JSON.stringify(request)}\n`);
    child.stdin.flush();
  };
  return {
    async fetch(url, fetchOptions = {}) {
      const id = ++lastId;
      const response = new Promise<NodeResponse>((resolve) => waiting.set(id, resolve));
      write({ id, url });
      fetchOptions.signal?.addEventListener("abort", () => write({ id, url, cancel: true }));
      // A process that has ended answers nothing more.
      const ended = child.exited.then((code) =>
        Promise.reject(new Error(`Node ended with exit code ${code}`)),
      );
      const { page, failure, targetStatus } = await Promise.race([response, ended]);
      if (page) return page;
      const failed = new Failure(failure?.code ?? "internal", failure?.message ?? "");
      throw failed.aboutStatus(targetStatus ?? null);
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
      await reading;
      place[Symbol.dispose]();
    },
  };
}

/** Node's list of authorities cannot be changed, so the first of them is exchanged where a connection names them. */
const withRoot = (certificate: string): string => `
  import tls from "node:tls";
  const { createSecureContext } = tls;
  const exchange = (one) => (one === tls.rootCertificates[0] ? ${JSON.stringify(certificate)} : one);
  tls.createSecureContext = ({ ca, ...options }) =>
    createSecureContext({ ...options, ...(ca && { ca: ca.map(exchange) }) });`;

async function readResponses(
  stdout: ReadableStream<Uint8Array>,
  waiting: Map<number, (response: NodeResponse) => void>,
): Promise<void> {
  let pending = "";
  const decoder = new TextDecoder();
  for await (const bytes of stdout) {
    pending += decoder.decode(bytes, { stream: true });
    const lines = pending.split("\n");
    pending = lines.pop() ?? "";
    for (const line of lines) {
      const response: NodeResponse = JSON.parse(line);
      waiting.get(response.id)?.(response);
      waiting.delete(response.id);
    }
  }
}
