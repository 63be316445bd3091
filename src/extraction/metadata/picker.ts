import { decodeTrees, predict, type Trees } from "../choice/trees.ts";

/** Picks one of several candidates with trees that were trained to recognise the right one. */
export class Picker {
  readonly #base64: string;
  readonly #width: number;
  #trees: Trees | null = null;

  /** @param width numbers in a candidate's row */
  constructor(base64: string, width: number) {
    this.#base64 = base64;
    this.#width = width;
  }

  /**
   * Returns the number of the likeliest candidate, or -1 when none reaches the threshold. A candidate's odds are
   * weighed against those of all others and of none being right, which are 1.
   * @param rows a row of numbers for each candidate
   * @param threshold least share of the odds, 0–1
   * @throws Error when the trees were trained on rows of another width
   */
  pick(rows: Float32Array, threshold: number): number {
    this.#trees ??= decodeTrees(this.#base64);
    if (this.#trees.width !== this.#width) {
      throw new Error(`trees of ${this.#trees.width} features, not ${this.#width}: train them anew`);
    }
    const p = predict(this.#trees, rows);
    let best = -1;
    let allOdds = 1;
    for (let index = 0; index < p.length; index++) {
      allOdds += oddsOf(p[index]!);
      if (best < 0 || p[index]! > p[best]!) best = index;
    }
    return best >= 0 && oddsOf(p[best]!) >= threshold * allOdds ? best : -1;
  }
}

/** A probability of 1 was rounded to 32 bits. */
const oddsOf = (p: number): number => p / Math.max(1 - p, 1e-7);
