import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Tab } from "../page-browser.ts";

/** Pictures are kept and compared at this part of their size, at which the edges of letters are no matter. */
const SCALE = 4;
/** A pixel differs when one of its colours does by more than this, of 255. */
const COLOUR_TOLERANCE = 40;
/** The share of pixels that may differ: about what a word in another place makes. */
const SHARE_TOLERANCE = 0.004;

type Compared = { readonly picture: string; readonly differing: number };

/**
 * Compares what the window shows with the picture of this name. A picture that is not there yet is made, and
 * `UPDATE_PICTURES` makes all anew.
 * @param bench a tab with an empty page, whose canvas does the arithmetic
 * @returns what differs, in words; null for nothing
 */
export async function comparePicture(page: Tab, bench: Tab, path: string): Promise<string | null> {
  const taken = (await page.screenshot()).toString("base64");
  const isNew = process.env.UPDATE_PICTURES !== undefined || !existsSync(path);
  const kept = isNew ? null : readFileSync(path).toString("base64");
  const { picture, differing } = await bench.evaluate(compare, {
    taken,
    kept,
    scale: SCALE,
    tolerance: COLOUR_TOLERANCE,
  });
  const png = Buffer.from(picture, "base64");
  if (isNew) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, png);
    return null;
  }
  if (differing <= SHARE_TOLERANCE) return null;
  const now = path.replace(/\.png$/, ".now.png");
  writeFileSync(now, png);
  const share = `${(differing * 100).toFixed(1)} %`;
  return `${share} of ${path} is different now: look at ${now}, and set UPDATE_PICTURES=1 if that is as it should be`;
}

/** Runs in the browser. */
async function compare(wish: {
  readonly taken: string;
  readonly kept: string | null;
  readonly scale: number;
  readonly tolerance: number;
}): Promise<Compared> {
  const decode = async (base64: string): Promise<ImageBitmap> =>
    createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob());
  const draw = (image: ImageBitmap, width: number, height: number): OffscreenCanvas => {
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext("2d")!;
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, width, height);
    return canvas;
  };
  const pixelsOf = (canvas: OffscreenCanvas): Uint8ClampedArray =>
    canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height).data;
  const image = await decode(wish.taken);
  const width = Math.round(image.width / wish.scale);
  const height = Math.round(image.height / wish.scale);
  const canvas = draw(image, width, height);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/png" })).arrayBuffer());
  const picture = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  if (wish.kept === null) return { picture, differing: 0 };
  const kept = await decode(wish.kept);
  if (kept.width !== width || kept.height !== height) return { picture, differing: 1 };
  const one = pixelsOf(canvas);
  const other = pixelsOf(draw(kept, width, height));
  let differing = 0;
  for (let at = 0; at < one.length; at += 4) {
    const difference = Math.max(
      Math.abs(one[at]! - other[at]!),
      Math.abs(one[at + 1]! - other[at + 1]!),
      Math.abs(one[at + 2]! - other[at + 2]!),
    );
    if (difference > wish.tolerance) differing++;
  }
  return { picture, differing: differing / (one.length / 4) };
}
