import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { installPython, preparePeer } from "./contenders.ts";

/** The programs whose Markdown is compared with ours; the first one writes Readability's output. */
export const MARKDOWN_PEERS = ["node-html-markdown", "defuddle", "trafilatura", "crawl4ai"] as const;
export type MarkdownPeer = (typeof MARKDOWN_PEERS)[number];

export type PeerPage = { readonly id: string; readonly path: string; readonly url: string };

/** The outcome of a peer on one page: `ok`, `timeout`, `exit`, or the name of what it threw. */
export type PeerResult = { readonly markdown: string; readonly outcome: string; readonly wallMs: number };

type Start = {
  readonly peer: MarkdownPeer;
  readonly scratch: string;
  /** The milliseconds that a page may take; then the process is ended, and the next page gets a new one. */
  readonly limitMs: number;
};

type Child = Bun.Subprocess<"pipe", "pipe", "inherit">;

/** A program that writes pages as Markdown, in a process of its own that any page may end. */
export class PeerProcess implements Disposable {
  readonly name: MarkdownPeer;
  readonly #command: readonly string[];
  readonly #directory: string;
  readonly #limitMs: number;
  #child: Child | null = null;
  #answers: ReadableStreamDefaultReader<string> | null = null;

  private constructor({ peer, scratch, limitMs }: Start, command: readonly string[]) {
    this.name = peer;
    this.#command = command;
    this.#directory = join(scratch, `markdown-${peer}`);
    this.#limitMs = limitMs;
  }

  /** Installs what the peer needs; its process starts with the first page. */
  static async prepare(start: Start): Promise<PeerProcess> {
    const { peer, scratch } = start;
    await mkdir(join(scratch, `markdown-${peer}`), { recursive: true });
    const peers = join(import.meta.dir, "peers");
    if (peer === "trafilatura" || peer === "crawl4ai") {
      const python = await installPython(peer, scratch);
      return new PeerProcess(start, [python, join(peers, "markdown_peer.py"), peer]);
    }
    if (peer === "defuddle") await preparePeer("defuddle", scratch);
    return new PeerProcess(start, [process.execPath, join(peers, "markdown-peer.ts"), peer, scratch]);
  }

  async write({ id, path, url }: PeerPage): Promise<PeerResult> {
    const out = join(this.#directory, `${id}.md`);
    const child = this.#start();
    const start = performance.now();
    child.stdin.write(`${JSON.stringify({ path, url, out })}\n`);
    await child.stdin.flush();
    const outcome = await this.#answer();
    if (outcome === "timeout" || outcome === "exit") {
      this[Symbol.dispose]();
      await Bun.write(out, "");
    }
    return { markdown: await Bun.file(out).text(), outcome, wallMs: performance.now() - start };
  }

  [Symbol.dispose](): void {
    this.#child?.kill("SIGKILL");
    this.#child = null;
    this.#answers = null;
  }

  #start(): Child {
    if (this.#child) return this.#child;
    const child = Bun.spawn({ cmd: [...this.#command], stdin: "pipe", stdout: "pipe", stderr: "inherit" });
    this.#child = child;
    this.#answers = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    return child;
  }

  async #answer(): Promise<string> {
    let timer: Timer | undefined;
    const late = new Promise<"timeout">((resolve) => {
      timer = setTimeout(() => resolve("timeout"), this.#limitMs);
    });
    const answer = await Promise.race([this.#line(), late]);
    clearTimeout(timer);
    return answer;
  }

  async #line(): Promise<string> {
    let line = "";
    while (!line.endsWith("\n")) {
      const { done, value } = (await this.#answers?.read()) ?? { done: true, value: undefined };
      if (done) return "exit";
      line += value;
    }
    return line.trim();
  }
}
