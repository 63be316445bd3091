/**
 * Stands between Playwright and a stock Firefox: starts it, and passes on what they tell each other (WebDriver BiDi).
 * Playwright sets the colour scheme of every tab with a command that Firefox ESR 153 does not know, and gives up when
 * that is refused. Here it is granted, and the scheme comes from the preferences that Firefox was started with.
 *
 *   bun test/support/firefox-bridge-entry.ts FIREFOX ARGUMENT…
 */
import type { ServerWebSocket } from "bun";

const GRANTED = "emulation.setMediaFeaturesOverride";
const LISTENING = /^(.*WebDriver BiDi listening on )(ws:\/\/\S+)$/;

type Ends = { readonly firefox: WebSocket; readonly waiting: string[] };

const [path = "", ...words] = process.argv.slice(2);
const child = Bun.spawn([path, ...words], { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
process.on("SIGTERM", () => child.kill());

let rest = "";
const decoder = new TextDecoder();
for await (const piece of child.stderr) {
  const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const [, start, address] = LISTENING.exec(line) ?? [];
    console.error(address === undefined ? line : `${start}ws://127.0.0.1:${listen(`${address}/session`)}`);
  }
}
process.exit(await child.exited);

function listen(address: string): number | undefined {
  return Bun.serve<Ends>({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request, server) =>
      server.upgrade(request, { data: { firefox: new WebSocket(address), waiting: [] } })
        ? undefined
        : new Response(null, { status: 400 }),
    websocket: {
      maxPayloadLength: 2 ** 28,
      open: connect,
      message: (playwright, text) => forward(playwright, String(text)),
      close: ({ data }) => data.firefox.close(),
    },
  }).port;
}

function connect(playwright: ServerWebSocket<Ends>): void {
  const { firefox, waiting } = playwright.data;
  firefox.onopen = () => {
    for (const text of waiting.splice(0)) firefox.send(text);
  };
  firefox.onmessage = ({ data }) => playwright.send(String(data));
  firefox.onclose = () => playwright.close();
}

function forward(playwright: ServerWebSocket<Ends>, text: string): void {
  const { firefox, waiting } = playwright.data;
  const { id, method } = JSON.parse(text) as { id: number; method: string };
  if (method === GRANTED) playwright.send(JSON.stringify({ type: "success", id, result: {} }));
  else if (firefox.readyState === WebSocket.OPEN) firefox.send(text);
  else waiting.push(text);
}
