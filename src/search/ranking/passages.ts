import { checkDeadlineAt } from "../deadline.ts";
import type { DocumentLayout } from "../types.ts";
import { RANKING } from "./constants.ts";
import { lowerBound, type TermPositions } from "./proximity.ts";

export type PassageScores = {
  /** The score of the best passage, and the mean of the best three (missing ones count 0). */
  readonly best: number;
  readonly mean: number;
  /** The sections with the best three passages, the best first; each once. */
  readonly sections: readonly number[];
};

/**
 * Scores the passages of a document: BM25 over the terms in the passage, with one more occurrence for a term
 * in a heading above it, and one for a term in the title, so that a passage is judged in its context.
 */
export class PassageScorer {
  #scores = new Float64Array(64);
  #frequencies = new Uint32Array(64);
  #sections = new Uint32Array(64);
  #isInContext = new Uint8Array(64);
  readonly #deadline: number;

  /** @param deadline in the time of performance.now(), ms */
  constructor(deadline: number) {
    this.#deadline = deadline;
  }

  /** @throws Failure `timeout` */
  score(layout: DocumentLayout, places: TermPositions, weights: Float64Array): PassageScores {
    const passageCount = layout.passageStarts.length;
    if (passageCount === 0) return { best: 0, mean: 0, sections: [0] };
    this.#reserve(Math.max(passageCount, layout.sectionStarts.length));
    this.#scores.fill(0, 0, passageCount);
    this.#findSections(layout);
    for (let term = 0; term < weights.length; term++) {
      if (places.count(term) > 0) this.#addTerm(layout, places, term, weights[term]!);
    }
    return this.#best(passageCount);
  }

  #addTerm(layout: DocumentLayout, places: TermPositions, term: number, weight: number): void {
    const { passageStarts, contentStart, titleEnd, end } = layout;
    const passageCount = passageStarts.length;
    const positions = places.positions(term);
    const count = places.count(term);
    this.#frequencies.fill(0, 0, passageCount);
    let passage = 0;
    const first = lowerBound(positions, count, contentStart);
    for (let i = first; i < count; i++) {
      checkDeadlineAt(i, this.#deadline);
      while (passage + 1 < passageCount && passageStarts[passage + 1]! <= positions[i]!) passage++;
      this.#frequencies[passage]!++;
    }
    const inTitle = positions[0]! < titleEnd ? 1 : 0;
    const hasContext = this.#markHeadings(layout, positions, first, count);
    const base = RANKING.passageK1 * (1 - RANKING.passageB);
    const slope = (RANKING.passageK1 * RANKING.passageB) / RANKING.passageTokens;
    for (let i = 0; i < passageCount; i++) {
      const inHeading = hasContext ? this.#isInContext[this.#sections[i]!]! : 0;
      const frequency = this.#frequencies[i]! + inTitle + inHeading;
      if (frequency === 0) continue;
      const length = (i + 1 < passageCount ? passageStarts[i + 1]! : end) - passageStarts[i]!;
      this.#scores[i]! +=
        (weight * frequency * (RANKING.passageK1 + 1)) / (frequency + base + slope * length);
    }
  }

  /**
   * Marks the sections that have the term in their own heading or one above.
   * @returns false when there are none
   */
  #markHeadings(layout: DocumentLayout, positions: Uint32Array, first: number, count: number): boolean {
    const { sectionStarts, headingEnds, sectionParents } = layout;
    const sectionCount = sectionStarts.length;
    const marks = this.#isInContext;
    marks.fill(0, 0, sectionCount);
    let section = 0;
    let isAny = false;
    for (let i = first; i < count; i++) {
      checkDeadlineAt(i, this.#deadline);
      while (section + 1 < sectionCount && sectionStarts[section + 1]! <= positions[i]!) section++;
      if (positions[i]! >= headingEnds[section]!) continue;
      marks[section] = 1;
      isAny = true;
    }
    // A section's parent comes before it.
    if (isAny) for (let i = 1; i < sectionCount; i++) marks[i]! |= marks[sectionParents[i]!]!;
    return isAny;
  }

  // Headings without text of their own share a passage with what follows; the last of them owns it.
  #findSections({ passageStarts, sectionStarts, end }: DocumentLayout): void {
    let section = 0;
    for (let i = 0; i < passageStarts.length; i++) {
      const passageEnd = i + 1 < passageStarts.length ? passageStarts[i + 1]! : end;
      while (section + 1 < sectionStarts.length && sectionStarts[section + 1]! < passageEnd) section++;
      this.#sections[i] = section;
    }
  }

  #best(passageCount: number): PassageScores {
    const found: number[] = [];
    let sum = 0;
    for (let rank = 0; rank < 3; rank++) {
      let next = -1;
      let most = 0;
      for (let i = 0; i < passageCount; i++) {
        if (this.#scores[i]! <= most || found.includes(i)) continue;
        next = i;
        most = this.#scores[i]!;
      }
      if (next < 0) break;
      found.push(next);
      sum += most;
    }
    const [first = 0, ...others] = found;
    const sections = new Set([first, ...others].map((passage) => this.#sections[passage]!));
    return { best: this.#scores[first]!, mean: sum / 3, sections: [...sections] };
  }

  #reserve(count: number): void {
    if (count <= this.#scores.length) return;
    this.#scores = new Float64Array(count * 2);
    this.#frequencies = new Uint32Array(count * 2);
    this.#sections = new Uint32Array(count * 2);
    this.#isInContext = new Uint8Array(count * 2);
  }
}
