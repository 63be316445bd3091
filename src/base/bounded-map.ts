/** Sets an entry as the newest of a map, and drops the oldest one beyond `max`. @returns the value that was dropped */
export function keepNewest<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  value: Value,
  max: number,
): Value | undefined {
  map.delete(key);
  map.set(key, value);
  const oldest = map.size > max ? map.entries().next().value : undefined;
  if (oldest === undefined) return undefined;
  map.delete(oldest[0]);
  return oldest[1];
}
