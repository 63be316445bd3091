/**
 * The value below which this share of the values lies, by the nearest rank; 0 for no values.
 * @param share 0–1: 0.5 is the median, 0.95 the 95th percentile
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/**
 * This many items spread evenly over the list, always the same ones; the whole list when it is short enough.
 */
export function spread<Item>(items: readonly Item[], count: number): readonly Item[] {
  if (count >= items.length) return items;
  return Array.from({ length: count }, (_, index) => items[Math.floor((index * items.length) / count)]!);
}
