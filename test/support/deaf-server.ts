import { dlopen, FFIType, ptr } from "bun:ffi";
import { connect, type Socket } from "node:net";

/**
 * Listens on an address of loopback, accepts nothing, and has its queue filled: connecting to it takes for ever, as
 * where a firewall swallows packets. For Linux, which has all of 127/8.
 * @param address as 127.0.0.N
 */
export async function listenDeafly(address: string, port: number): Promise<AsyncDisposable> {
  const { i32 } = FFIType;
  const { symbols, close } = dlopen("libc.so.6", {
    socket: { args: [i32, i32, i32], returns: i32 },
    bind: { args: [i32, FFIType.ptr, i32], returns: i32 },
    listen: { args: [i32, i32], returns: i32 },
    close: { args: [i32], returns: i32 },
  });
  const fd = symbols.socket(2, 1, 0);
  const end = Uint8Array.from([
    2,
    0,
    port >> 8,
    port & 255,
    ...address.split(".").map(Number),
    ...Array(8).fill(0),
  ]);
  if (symbols.bind(fd, ptr(end), end.length) !== 0 || symbols.listen(fd, 0) !== 0)
    throw new Error(`nothing can listen on ${address}:${port}`);
  const filling: Socket[] = [];
  for (let isOpen = true; isOpen; ) {
    const socket = connect({ host: address, port }).on("error", () => {});
    filling.push(socket);
    const opened = new Promise<boolean>((resolve) => socket.once("connect", () => resolve(true)));
    isOpen = await Promise.race([opened, Bun.sleep(300).then(() => false)]);
  }
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of filling) socket.destroy();
      symbols.close(fd);
      close();
    },
  };
}
