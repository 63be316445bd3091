import { isRecord } from "../base/json.ts";

/** A length as pages write it (`1200`, `"1200"`, `"1200px"`, a QuantitativeValue); null for any other. */
export function pixels(written: unknown): number | null {
  const value = isRecord(written) ? written.value : written;
  const text = typeof value === "number" || typeof value === "string" ? String(value) : "";
  const match = /^\s*(\d{1,6})(?:\.\d{1,6})?\s*(?:px)?\s*$/i.exec(text);
  return match && Number(match[1]) > 0 ? Number(match[1]) : null;
}
