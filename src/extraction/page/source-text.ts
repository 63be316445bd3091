/** True for texts that show nothing. */
export function isBlank(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (isInk(text.charCodeAt(index))) return false;
  return true;
}

/** The same for the text at these UTF-16 units. */
export function isBlankAt(codes: Uint16Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (isInk(codes[at]!)) return false;
  return true;
}

const isInk = (code: number): boolean => code > 32 && code !== 160 && code !== 0x200b && code !== 0xfeff;

/**
 * True when a list of words in an attribute holds this one, in any case.
 * @param token in lower case
 */
export function hasToken(list: string | null, token: string): boolean {
  if (list === null || list.length < token.length) return false;
  const words = list.toLowerCase();
  // Nearly all lists lack the word, and looking for it costs a tenth of taking the list apart.
  return words.includes(token) && words.split(/\s+/).includes(token);
}

export function containsAmpersand(codes: Uint16Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (codes[at]! === AMPERSAND) return true;
  return false;
}

const AMPERSAND = 38;
