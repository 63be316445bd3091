import type { DocumentUrl } from "../../urls/index.ts";
import { attributeTable, type DocumentAttributes } from "../attributes/attributes.ts";
import { NumberList } from "../number-list.ts";
import { byCodeUnits } from "../segment/term-dictionary.ts";
import { type AttributeTable, FIELDS } from "../types.ts";

/** The position of a document's bytes in the temporary files. */
export type DocumentPlace = {
  readonly storedStart: number;
  readonly storedEnd: number;
  readonly layoutStart: number;
  readonly layoutEnd: number;
};

export type DocumentRow = {
  readonly url: DocumentUrl;
  readonly contentHash: readonly [low: number, high: number];
  /** The number of tokens by field number. */
  readonly fieldLengths: ArrayLike<number>;
  readonly place: DocumentPlace;
  readonly attributes: DocumentAttributes;
};

/**
 * What a build keeps in memory about every document until its end: address, hash, field lengths and
 * positions, about 400 bytes. Rows are numbered in the order in which the documents come.
 */
export class DocumentTable {
  readonly urls: DocumentUrl[] = [];
  readonly #known = new Set<DocumentUrl>();
  readonly #hashes = new NumberList();
  readonly #lengths = new NumberList();
  readonly #places: number[] = [];
  readonly #attributes: DocumentAttributes[] = [];

  get length(): number {
    return this.urls.length;
  }

  has(url: DocumentUrl): boolean {
    return this.#known.has(url);
  }

  /** @param row a row whose address the table does not have yet */
  add(row: DocumentRow): number {
    this.#known.add(row.url);
    this.#hashes.push(row.contentHash[0]);
    this.#hashes.push(row.contentHash[1]);
    for (let field = 0; field < FIELDS.length; field++) this.#lengths.push(row.fieldLengths[field]!);
    const { storedStart, storedEnd, layoutStart, layoutEnd } = row.place;
    this.#places.push(storedStart, storedEnd, layoutStart, layoutEnd);
    this.#attributes.push(row.attributes);
    return this.urls.push(row.url) - 1;
  }

  place(row: number): DocumentPlace {
    const places = this.#places;
    return {
      storedStart: places[row * 4]!,
      storedEnd: places[row * 4 + 1]!,
      layoutStart: places[row * 4 + 2]!,
      layoutEnd: places[row * 4 + 3]!,
    };
  }

  /** The rows in the order of their addresses. */
  sorted(): Uint32Array {
    return this.orderOf(Uint32Array.from(this.urls.keys()));
  }

  /** Indexes into a list of rows, in the order of the rows' addresses. */
  orderOf(rows: Uint32Array): Uint32Array {
    const { urls } = this;
    const places = Uint32Array.from(rows.keys());
    const byUrl = (a: number, b: number): number => byCodeUnits(urls[rows[a]!]!, urls[rows[b]!]!);
    // Stores often list their pages in this order already.
    const isSorted = places.every((place) => place === 0 || byUrl(place - 1, place) <= 0);
    return isSorted ? places : places.sort(byUrl);
  }

  /**
   * The document number in the index of each row.
   * @param order the rows in the order of the index
   */
  finalNumbers(order: Uint32Array): Uint32Array {
    const numbers = new Uint32Array(this.length);
    order.forEach((row, number) => {
      numbers[row] = number;
    });
    return numbers;
  }

  /** Field lengths by field, then by document number. */
  lengths(order: Uint32Array): Uint32Array[] {
    const values = this.#lengths.values;
    return FIELDS.map((_, field) => Uint32Array.from(order, (row) => values[row * FIELDS.length + field]!));
  }

  /** Attributes by document number. */
  attributes(order: Uint32Array): AttributeTable {
    return attributeTable(Array.from(order, (row) => this.#attributes[row]!));
  }

  /** Hashes by document number, two halves each. */
  hashes(order: Uint32Array): Uint32Array {
    const hashes = new Uint32Array(order.length * 2);
    order.forEach((row, number) => {
      hashes[number * 2] = this.#hashes.values[row * 2]!;
      hashes[number * 2 + 1] = this.#hashes.values[row * 2 + 1]!;
    });
    return hashes;
  }
}
