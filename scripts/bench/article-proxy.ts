/**
 * A loopback proxy that answers every plain request with the same article, whatever host it names. It serves
 * runs with made-up URLs. `--port N`
 */
const page = `<!doctype html><html lang="en"><head><title>Any page</title></head><body><article><h1>Any page</h1>
${"<p>The gate opens at low water, and whoever waits on the quay hears it before he sees it.</p>".repeat(20)}
</article></body></html>`;
const answer = `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: ${page.length}\r\nconnection: close\r\n\r\n${page}`;

Bun.listen({
  hostname: "127.0.0.1",
  port: Number(process.argv[process.argv.indexOf("--port") + 1]),
  socket: {
    data(socket, bytes) {
      const isTunnel = bytes.toString("latin1", 0, 8) === "CONNECT ";
      socket.end(isTunnel ? "HTTP/1.1 502 No Tunnel\r\ncontent-length: 0\r\n\r\n" : answer);
    },
  },
});
