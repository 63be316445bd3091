/** True for texts that show nothing. */
export function isBlank(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 32 && code !== 160 && code !== 0x200b && code !== 0xfeff) return false;
  }
  return true;
}

/** True when a list of words in an attribute holds this one, in any case. */
export const hasToken = (list: string | null, token: string): boolean =>
  list?.toLowerCase().split(/\s+/).includes(token.toLowerCase()) ?? false;
