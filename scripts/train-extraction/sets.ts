import { join } from "node:path";

/** One page of a set; the fields that training reads are the scorer's. */
export type TrainingPage = { readonly id: string; readonly url: string; readonly html: string };

/** The pages of a set (`pages.jsonl` and `html/ID.html`), in its order. */
export async function* readSet(directory: string): AsyncGenerator<TrainingPage> {
  const lines = (await Bun.file(join(directory, "pages.jsonl")).text()).split("\n");
  for (const line of lines) {
    if (line === "") continue;
    const { id, url } = JSON.parse(line) as { id: string; url: string };
    yield { id, url, html: await Bun.file(join(directory, "html", `${id}.html`)).text() };
  }
}

/** Appends rows of floats to a file as they come, little-endian. */
export function floatWriter(path: string): {
  readonly write: (rows: Float32Array) => void;
  readonly end: () => Promise<void>;
} {
  const writer = Bun.file(path).writer();
  return {
    write: (rows) => {
      writer.write(new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength));
      writer.flush();
    },
    end: async () => {
      await writer.end();
    },
  };
}
