/** A growing list of unsigned 32-bit numbers. */
export class NumberList {
  values: Uint32Array<ArrayBuffer>;
  length = 0;

  constructor(capacity = 1024) {
    this.values = new Uint32Array(capacity);
  }

  push(value: number): void {
    if (this.length === this.values.length) this.reserve(1);
    this.values[this.length++] = value;
  }

  /** Makes room for `count` more numbers, which start as 0. */
  reserve(count: number): void {
    if (this.length + count <= this.values.length) return;
    const grown = new Uint32Array(Math.max(this.length + count, this.values.length * 2));
    grown.set(this.values.subarray(0, this.length));
    this.values = grown;
  }

  clear(): void {
    this.length = 0;
  }

  used(): Uint32Array {
    return this.values.subarray(0, this.length);
  }
}
