/** The same values with room for `length` of them, which is doubled where it is too small. */
export function withRoom<Values extends Uint8Array | Uint16Array | Uint32Array>(
  values: Values,
  length: number,
): Values {
  if (length <= values.length) return values;
  const Grown = values.constructor as new (length: number) => Values; // arrays make arrays of their kind
  const grown = new Grown(Math.max(length, values.length * 2));
  grown.set(values);
  return grown;
}

/** A growing list of unsigned 32-bit numbers. */
export class NumberList {
  values: Uint32Array<ArrayBuffer>;
  length = 0;

  constructor(capacity = 1024) {
    this.values = new Uint32Array(capacity);
  }

  push(value: number): void {
    if (this.length === this.values.length) this.values = withRoom(this.values, this.length + 1);
    this.values[this.length++] = value;
  }

  clear(): void {
    this.length = 0;
  }

  used(): Uint32Array {
    return this.values.subarray(0, this.length);
  }
}
