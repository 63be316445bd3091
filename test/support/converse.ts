import net from "node:net";

/** Sends bytes over a connection of its own; resolves with all that comes back before it is closed. */
export function converse(url: string, bytes: string | Uint8Array): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let answer = "";
    const socket = net.connect(Number(port), hostname, () => socket.write(bytes));
    socket.on("data", (piece) => {
      answer += piece.toString("latin1");
    });
    socket.on("error", () => resolve(answer));
    socket.on("close", () => resolve(answer));
  });
}
