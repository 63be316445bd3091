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

type NumberWriter<Numbers> = {
  readonly write: (rows: Numbers) => void;
  readonly end: () => Promise<void>;
};

/** Appends rows of floats to a file as they come, little-endian. */
export const floatWriter: (path: string) => NumberWriter<Float32Array> = numberWriter;

/** The same of any numbers. */
export function numberWriter(path: string): NumberWriter<Float32Array | Uint16Array> {
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
