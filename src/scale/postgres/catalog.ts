import { createHash } from "node:crypto";
import type { Queries } from "./postgres.ts";

/**
 * Lists the objects that SQL creates, in the form of `CATALOG`: tables, columns, sequences, named indexes, and functions,
 * each with the digest of its body. The SQL is ours, so a few expressions can read it; a test compares the result with a
 * database.
 */
export function madeBy(sql: string): ReadonlySet<string> {
  const made = new Set<string>();
  // Of a function that is replaced the last form counts.
  const functions = new Map<string, string>();
  const rest = sql.replace(FUNCTION, (_, name: string, body: string) => {
    functions.set(name, createHash("md5").update(body).digest("hex"));
    return "";
  });
  for (const [name, digest] of functions) made.add(`function ${name} ${digest}`);
  const bare = rest.replace(/--.*/g, "");
  for (const [, kind, name] of bare.matchAll(/^CREATE (TABLE|SEQUENCE|INDEX) (\w+)/gm))
    made.add(`${kind?.toLowerCase()} ${name}`);
  for (const [, table, inside = ""] of bare.matchAll(/^CREATE TABLE (\w+) \(([^;]*);/gm))
    for (const column of columnsOf(inside)) made.add(`column ${table}.${column}`);
  for (const [, table, column] of bare.matchAll(/^ALTER TABLE (\w+) ADD COLUMN (\w+)/gm))
    made.add(`column ${table}.${column}`);
  return made;
}

const FUNCTION = /^CREATE (?:OR REPLACE )?FUNCTION (\w+)[^$]*\$\$(.*?)\$\$/gms;

/** The names before the types; constraints of a table begin with a word in capitals. */
function columnsOf(inside: string): readonly string[] {
  const flat = inside.replace(/\([^()]*\)/g, "");
  if (flat !== inside) return columnsOf(flat);
  const columns = flat.slice(0, flat.indexOf(")")).split(",");
  return columns.flatMap((column) => /^\s*([a-z]\w*)/.exec(column)?.[1] ?? []);
}

/** $1 is the schema. */
const CATALOG = `WITH held AS (SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1)
  SELECT CASE relkind WHEN 'r' THEN 'table ' WHEN 'S' THEN 'sequence ' ELSE 'index ' END || relname AS thing FROM held
    WHERE relkind IN ('r', 'S', 'i')
  UNION ALL SELECT 'column ' || relname || '.' || attname FROM held JOIN pg_attribute ON attrelid = held.oid
    WHERE relkind = 'r' AND attnum > 0 AND NOT attisdropped
  UNION ALL SELECT 'function ' || proname || ' ' || md5(prosrc) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE n.nspname = $1`;

/** Names those of the wanted things that a schema lacks; a function with another body is lacking. Throws as `query`. */
export async function lackedBy(
  queries: Queries,
  schema: string,
  wanted: ReadonlySet<string>,
): Promise<readonly string[]> {
  const rows = await queries.query<{ thing: string }>(CATALOG, [schema]);
  const held = new Set(rows.map(({ thing }) => thing));
  return [...wanted].flatMap((thing) => (held.has(thing) ? [] : thing.split(" ", 2).join(" ")));
}
