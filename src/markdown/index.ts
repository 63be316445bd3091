export { addressesIn, pictureAddresses } from "./addresses.ts";
export { codeBlocksOf, endOfCodeSpan, FenceReader } from "./code.ts";
export { readMarkdown } from "./document.ts";
export { inlineText, isPlainText, readInline } from "./inline.ts";
export type { Block, Inline, ListBlock, MarkdownDocument, TableBlock } from "./model.ts";
export { scanBlocks } from "./scan.ts";
