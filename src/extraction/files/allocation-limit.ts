import { Failure } from "../../base/failure.ts";

/**
 * Runs work of a library that unpacks foreign streams into one array each, however long. While it runs, asking for a
 * longer array fails. It changes globals of the thread, so it is for workers, which do one thing at a time.
 * @throws Failure `too_large`, also where the library goes on without the stream
 */
export async function withAllocationLimit<T>(maxBytes: number, work: () => Promise<T>): Promise<T> {
  const { Uint8Array: Whole, DecompressionStream: Streaming } = globalThis;
  let isOver = false;
  const tooLarge = (): Failure =>
    new Failure("too_large", `a part of the document unpacks to more than ${maxBytes} bytes`);
  globalThis.Uint8Array = new Proxy(Whole, {
    construct(target, args, self) {
      if (typeof args[0] === "number" && args[0] > maxBytes) {
        isOver = true;
        throw tooLarge();
      }
      return Reflect.construct(target, args, self);
    },
  });
  // Without it the library unpacks by itself, into arrays.
  Reflect.deleteProperty(globalThis, "DecompressionStream");
  try {
    const result = await work();
    if (isOver) throw tooLarge();
    return result;
  } catch (error) {
    throw isOver ? tooLarge() : error;
  } finally {
    globalThis.Uint8Array = Whole;
    globalThis.DecompressionStream = Streaming;
  }
}
