// Names that people write in the text of documents. A name that is not among them, and has neither an attribute nor a slash, is
// a placeholder (`cp <source> <target>`): it is text.
const NAMES =
  "a|abbr|b|blockquote|br|center|cite|code|dd|del|details|div|dl|dt|em|figure|figcaption|font|h[1-6]|hr|i|iframe|img|ins|kbd|li|mark|ol|p|pre|q|s|samp|script|section|small|span|strong|style|sub|summary|sup|svg|table|tbody|td|template|th|thead|tr|u|ul|var";

/** A tag of HTML or a component, with its slash and its name; sticky. */
const TAG = new RegExp(
  `<(?:(/)([a-zA-Z][\\w.:-]{0,60})\\s?|([a-zA-Z][\\w.:-]{0,60})(?:\\s(?=[^<>=]{0,200}=)[^<>]{0,1900}|\\s?/)|(${NAMES}|${NAMES.toUpperCase()}|[A-Z][\\w.]{1,60})\\s?)>`,
  "y",
);

export type Tag = { readonly name: string; readonly isClosing: boolean; readonly end: number };

/** The tag that begins at a `<`; null where the `<` is text. */
export function readTag(text: string, at: number): Tag | null {
  TAG.lastIndex = at;
  const found = TAG.exec(text);
  if (!found) return null;
  const name = found[2] ?? found[3] ?? found[4] ?? "";
  return { name: name.toLowerCase(), isClosing: found[1] !== undefined, end: TAG.lastIndex };
}
