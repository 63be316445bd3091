/** Splits comma-separated values: fields in double quotes may hold commas, line breaks and doubled quotes. */
export function readCsv(text: string, separator: string): string[][] {
  const rows: string[][] = [[]];
  let field = "";
  let isQuoted = false;
  for (let at = 0; at <= text.length; at++) {
    const sign = text[at] ?? "\n";
    if (isQuoted && at < text.length) {
      if (sign !== '"') field += sign;
      else if (text[at + 1] === '"') field += text[++at];
      else isQuoted = false;
    } else if (sign === '"' && field.trim() === "") isQuoted = true;
    else if (sign === separator || sign === "\n") {
      rows.at(-1)?.push(field.trim());
      field = "";
      if (sign === "\n") rows.push([]);
    } else field += sign;
  }
  return rows.filter((row) => row.some((cell) => cell !== ""));
}
