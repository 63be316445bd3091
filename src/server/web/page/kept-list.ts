/** A short list in the browser's store, the newest first; it is empty where the browser keeps nothing. */
export function keptList<T>(key: string, most: number, isEntry: (value: unknown) => value is T) {
  const read = (): readonly T[] => {
    try {
      const kept: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
      return Array.isArray(kept) ? kept.filter(isEntry).slice(0, most) : [];
    } catch {
      // The store is off, or something else has written there.
      return [];
    }
  };
  const write = (entries: readonly T[]): void => {
    try {
      if (entries.length === 0) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(entries.slice(0, most)));
    } catch {
      // Some browsers forbid it; then nothing is kept.
    }
  };
  return { read, write };
}
