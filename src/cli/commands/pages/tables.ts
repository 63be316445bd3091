import type { FetchedArticle } from "../../../articles/index.ts";
import { Failure } from "../../../base/failure.ts";
import {
  type Block,
  inlineText,
  readInline,
  readMarkdown,
  type TableBlock,
} from "../../../markdown/index.ts";
import { formatCsv } from "./csv.ts";

/** A table in plain text. The header is empty where the page marks none. */
type Table = { readonly header: readonly string[]; readonly rows: readonly (readonly string[])[] };

/** @throws Failure `no_content` where the article has no table */
export function requireTables(fetched: FetchedArticle): void {
  if (tablesOf(fetched).length === 0)
    throw new Failure("no_content", `the article of ${fetched.url ?? "the page"} has no table`);
}

/** Formats the tables of an article, a merged cell's text in each of its places. */
export function formatTables(fetched: FetchedArticle, form: "csv" | "json"): string {
  const { url } = fetched;
  const tables = tablesOf(fetched).map(plainTable);
  if (form === "json") return `${JSON.stringify({ url, tables })}\n`;
  return tables
    .map(({ header, rows }) => formatCsv(header.length > 0 ? [header, ...rows] : rows))
    .join("\r\n");
}

const tablesOf = ({ article }: FetchedArticle): TableBlock[] =>
  tablesIn(readMarkdown(article.markdown ?? "").blocks);

function tablesIn(blocks: readonly Block[]): TableBlock[] {
  return blocks.flatMap((block) => {
    if (block.kind === "table") return [block];
    if (block.kind === "list") return block.items.flatMap((item) => tablesIn(item.blocks));
    return "blocks" in block ? tablesIn(block.blocks) : [];
  });
}

function plainTable({ header, rows }: TableBlock): Table {
  const named = header.map(plainCell);
  return {
    header: named.some((cell) => cell !== "") ? named : [],
    rows: rows.map((row) => row.map(plainCell)),
  };
}

const plainCell = (text: string): string => inlineText(readInline(text)).trim();
