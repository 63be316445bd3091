/** Formats rows as RFC 4180 has them: lines end in CRLF, and values with a comma, a quote or a line break are quoted. */
export const formatCsv = (rows: readonly (readonly unknown[])[]): string =>
  rows.map((row) => `${row.map(formatCell).join(",")}\r\n`).join("");

function formatCell(value: unknown): string {
  const text =
    value === null || value === undefined
      ? ""
      : typeof value === "string"
        ? value.toWellFormed()
        : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The fields of a record as a row; empty where the record has none of them. */
export function formatRow(record: Readonly<Record<string, unknown>>, fields: readonly string[]): string {
  const row = fields.map((field) => record[field]);
  return row.some((value) => value !== undefined) ? formatCsv([row]) : "";
}
