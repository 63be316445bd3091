/** The site of the fetch bench, in a process of its own: `/page` is HTML of about 20 KB. It prints its port. */
const paragraph = "<p>The quick brown fox jumps over the lazy dog, and the dog does not mind.</p>\n";
const html = `<!doctype html><html><head><title>Bench</title></head><body>\n${paragraph.repeat(256)}</body></html>`;
const bodies: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {
  "/page": new Uint8Array(Buffer.from(html)),
  "/gzip": new Uint8Array(Bun.gzipSync(html)),
};

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const path = new URL(request.url).pathname;
    const headers: Record<string, string> = { "content-type": "text/html; charset=utf-8" };
    if (path === "/gzip") headers["content-encoding"] = "gzip";
    return new Response(bodies[path] ?? null, { headers, status: bodies[path] ? 200 : 404 });
  },
});
console.log(JSON.stringify({ port: server.port, length: html.length }));
