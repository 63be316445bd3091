import { deflateSync } from "node:zlib";

/** A text at a place of its page, in points from the lower left; `font` 1 is Helvetica, 2 Courier. */
export type PdfText = {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly size?: number;
  readonly font?: 1 | 2;
};

type PdfOptions = {
  readonly info?: Readonly<Record<string, string>>;
  readonly outline?: readonly { readonly title: string; readonly page: number }[];
  readonly link?: { readonly url: string; readonly rect: readonly [number, number, number, number] };
  /** Paths that the first page draws besides its texts, in the language of PDF. */
  readonly rules?: string;
  /** The content of the first page instead of its texts, deflated. */
  readonly content?: Uint8Array;
  readonly isEncrypted?: boolean;
};

const escaped = (text: string): string => text.replace(/[\\()]/g, "\\$&");

/** Writes a PDF of the given texts. */
export function writePdf(
  pages: readonly (readonly PdfText[])[],
  options: PdfOptions = {},
): Uint8Array<ArrayBuffer> {
  const objects: (string | Buffer)[] = [];
  const add = (body: string | Buffer): number => objects.push(body);
  const reserve = (): number => add("");
  const [catalog, tree] = [reserve(), reserve()];
  const fonts = ["Helvetica", "Courier"].map((name) =>
    add(`<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`),
  );
  const numbers = pages.map((texts, index) => {
    const drawn = texts.map(
      ({ text, x, y, size = 10, font = 1 }) =>
        `BT /F${font} ${size} Tf ${x} ${y} Td (${escaped(text)}) Tj ET`,
    );
    if (options.rules && index === 0) drawn.push(options.rules);
    const packed = deflateSync(
      index === 0 && options.content ? options.content : Buffer.from(drawn.join("\n"), "latin1"),
    );
    const head = `<< /Filter /FlateDecode /Length ${packed.length} >>\nstream\n`;
    const content = add(Buffer.concat([Buffer.from(head), packed, Buffer.from("\nendstream")]));
    const link =
      options.link && index === 0
        ? `/Annots [<< /Type /Annot /Subtype /Link /Rect [${options.link.rect.join(" ")}] /A << /S /URI /URI (${options.link.url}) >> >>]`
        : "";
    return add(
      `<< /Type /Page /Parent ${tree} 0 R /MediaBox [0 0 600 800] /Contents ${content} 0 R ${link}
         /Resources << /Font << /F1 ${fonts[0]} 0 R /F2 ${fonts[1]} 0 R >> >> >>`,
    );
  });
  const outline = writeOutline(options.outline ?? [], numbers, reserve, objects);
  const info = Object.entries(options.info ?? {}).map(([key, value]) => `/${key} (${escaped(value)})`);
  const about = add(`<< ${info.join(" ")} >>`);
  objects[catalog - 1] = `<< /Type /Catalog /Pages ${tree} 0 R ${outline} >>`;
  objects[tree - 1] =
    `<< /Type /Pages /Kids [${numbers.map((number) => `${number} 0 R`).join(" ")}] /Count ${numbers.length} >>`;
  return join(objects, `/Root ${catalog} 0 R /Info ${about} 0 R ${options.isEncrypted ? ENCRYPTED : ""}`);
}

/** Nobody knows the password of these sums. */
const ENCRYPTED = `/ID [<${"ab".repeat(16)}> <${"ab".repeat(16)}>]
  /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <${"11".repeat(32)}> /U <${"22".repeat(32)}> >>`;

function writeOutline(
  entries: NonNullable<PdfOptions["outline"]>,
  pages: readonly number[],
  reserve: () => number,
  objects: (string | Buffer)[],
): string {
  if (entries.length === 0) return "";
  const root = reserve();
  const items = entries.map(reserve);
  objects[root - 1] =
    `<< /Type /Outlines /First ${items[0]} 0 R /Last ${items.at(-1)} 0 R /Count ${items.length} >>`;
  entries.forEach(({ title, page }, index) => {
    const next = items[index + 1] === undefined ? "" : `/Next ${items[index + 1]} 0 R`;
    objects[items[index]! - 1] =
      `<< /Title (${escaped(title)}) /Parent ${root} 0 R ${next} /Dest [${pages[page - 1]} 0 R /Fit] >>`;
  });
  return `/Outlines ${root} 0 R`;
}

function join(objects: readonly (string | Buffer)[], trailer: string): Uint8Array<ArrayBuffer> {
  let file = Buffer.from("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "latin1");
  const places = objects.map((body, index) => {
    const at = file.length;
    file = Buffer.concat([
      file,
      Buffer.from(`${index + 1} 0 obj\n`),
      Buffer.from(body),
      Buffer.from("\nendobj\n"),
    ]);
    return at;
  });
  const rows = places.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  const end = `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${size} ${trailer} >>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.concat([file, Buffer.from(end)]);
}
