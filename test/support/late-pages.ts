import { type FaultySite, type Route, reply, startFaultySite } from "./faulty-site.ts";

/** How a page that comes without words gets them, each with the last words that it writes. */
export const LATE_KINDS = [
  "timer",
  "fetch",
  "slow-body",
  "frame",
  "frame-timer",
  "menu",
  "placeholder",
  "noscript",
  "refresh",
] as const;
export type LateKind = (typeof LATE_KINDS)[number];

/** How a page writes piece by piece. */
export const GROWING_KINDS = ["timers", "fetches", "stream"] as const;
export type GrowingKind = (typeof GROWING_KINDS)[number];

const LAST_WORDS = "the last lantern of the harbour";
const TEXT = `<article><h1>Harbour</h1><p>The barge waits.</p><p>And so does ${LAST_WORDS}.</p></article>`;

/** Whether the page shows its last words, which its scripts hold from the start. */
export const hasLastWords = ({ html }: { readonly html: string }): boolean =>
  html.replace(/<script>[\s\S]*?<\/script>/g, "").includes(LAST_WORDS);

const write = (ms: string): string =>
  `setTimeout(() => { document.body.insertAdjacentHTML("beforeend", ${JSON.stringify(TEXT)}); }, ${ms})`;
const page = (body: string, code: string): string =>
  `<!doctype html><title>Harbour app</title><body>${body}<script>${code}</script>`;
const take = (path: string): string =>
  `fetch(${JSON.stringify(path)}).then(async (answer) => { document.body.insertAdjacentHTML("beforeend", await answer.text()); })`;

const LATE: Readonly<Record<LateKind, (ms: string) => string>> = {
  timer: (ms) => page("<div id=root></div>", write(ms)),
  fetch: (ms) => page("<div id=root></div>", take(`/late-text?ms=${ms}`)),
  "slow-body": (ms) => page("<div id=root></div>", take(`/slow-text?ms=${ms}`)),
  frame: (ms) => page(`<iframe src="/late-text?ms=${ms}"></iframe>`, ""),
  "frame-timer": (ms) => page(`<iframe src="/late/timer?ms=${ms}"></iframe>`, ""),
  menu: (ms) =>
    page(
      "<header>Harbour</header><nav><a href=/>Home page</a></nav><main></main><footer>2026</footer>",
      write(ms),
    ),
  placeholder: (ms) => page("<div id=root>Wird geladen …</div>", write(ms)),
  noscript: (ms) => page("<noscript>You need to enable JavaScript to run this app.</noscript>", write(ms)),
  refresh: (ms) =>
    page(
      `<meta http-equiv="Refresh" content="${Math.ceil(Number(ms) / 1000)}; URL='/late-text?ms=0'"><p>You are moved on.`,
      "",
    ),
};

const GROWING: Readonly<Record<GrowingKind, (gapMs: string, pieces: string) => string>> = {
  timers: (gapMs, pieces) =>
    page(
      "",
      `let n = 0; const step = () => { document.body.insertAdjacentHTML("beforeend", "<p>Piece " + ++n + "</p>");
      if (n < ${pieces}) setTimeout(step, ${gapMs}); else ${write("0")}; }; setTimeout(step, ${gapMs});`,
    ),
  fetches: (gapMs, pieces) =>
    page(
      "",
      `let n = 0; const step = async () => { await (await fetch("/late-text?ms=50")).text();
      document.body.insertAdjacentHTML("beforeend", "<p>Piece " + ++n + "</p>");
      if (n < ${pieces}) setTimeout(step, ${gapMs}); else ${write("0")}; }; setTimeout(step, ${gapMs});`,
    ),
  stream: (gapMs, pieces) =>
    page(
      "",
      `(async () => { const answer = await fetch("/stream?ms=${gapMs}&pieces=${pieces}");
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) { const { done, value } = await reader.read(); if (done) return;
        document.body.insertAdjacentHTML("beforeend", value); } })()`,
    ),
};

const textAfter = async (socket: Parameters<Route>[0]["socket"], ms: number): Promise<void> => {
  await Bun.sleep(ms);
  reply(socket, { body: TEXT });
};

const ROUTES: Readonly<Record<string, Route>> = {
  ...Object.fromEntries(
    LATE_KINDS.map((kind): [string, Route] => [
      `/late/${kind}`,
      ({ socket, url }) => reply(socket, { body: LATE[kind](url.searchParams.get("ms") ?? "0") }),
    ]),
  ),
  ...Object.fromEntries(
    GROWING_KINDS.map((kind): [string, Route] => [
      `/growing/${kind}`,
      ({ socket, url }) =>
        reply(socket, {
          body: GROWING[kind](url.searchParams.get("gap") ?? "0", url.searchParams.get("pieces") ?? "1"),
        }),
    ]),
  ),
  "/late-text": ({ socket, url }) => textAfter(socket, Number(url.searchParams.get("ms"))),
  "/slow-text": async ({ socket, url }) => {
    socket.write(
      `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: ${TEXT.length}\r\n\r\n${TEXT.slice(0, 9)}`,
    );
    await Bun.sleep(Number(url.searchParams.get("ms")));
    socket.write(TEXT.slice(9));
  },
  "/stream": async ({ socket, url }) => {
    const pieces = Number(url.searchParams.get("pieces"));
    const chunk = (text: string): boolean => socket.write(`${text.length.toString(16)}\r\n${text}\r\n`);
    socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n");
    for (let piece = 1; piece <= pieces; piece++) {
      await Bun.sleep(Number(url.searchParams.get("ms")));
      chunk(piece < pieces ? `<p>Piece ${piece} of the whole</p>` : TEXT);
    }
    socket.write("0\r\n\r\n");
  },
  "/wordless": ({ socket }) =>
    reply(socket, { body: page("<div id=root></div>", "document.title = 'Nothing'") }),
  "/plain": ({ socket }) => reply(socket, { body: page(TEXT, "document.title = 'Here'") }),
  "/growing-for-ever": ({ socket }) =>
    reply(socket, {
      body: page(
        "",
        `setInterval(() => document.body.insertAdjacentHTML("beforeend", "<p>One more piece</p>"), 200)`,
      ),
    }),
};

/** A site of pages whose words come late: `/late/KIND?ms=`, `/growing/KIND?gap=&pieces=`, `/wordless`, `/plain`, `/growing-for-ever`. */
export const startLateSite = (): Promise<FaultySite> => startFaultySite({ routes: ROUTES });
