import { nestingOf, parseLeniently } from "./json-ld.ts";
import { MicrodataReader } from "./microdata.ts";
import type { ScannedPage } from "./page/page-model.ts";
import type { OpenGraphProperty, StructuredData } from "./types.ts";

/** Structured data, and what of the page's is left out of it. */
export type ReadStructuredData = { readonly data: StructuredData; readonly warnings: readonly string[] };

/** Characters of each of the three forms; catalogues of shops come to 300 000. */
const MAX_CHARS = 1_000_000;
const MAX_PROPERTIES = 2_000;
/** What is nested deeper describes nothing, and cannot be written by recursive programs. */
const MAX_NESTING = 64;

/** Reads what a page says about itself for machines, as it says it; what is too large or broken is left out and named. */
export function readStructuredData({ facts, model }: ScannedPage): ReadStructuredData {
  const warnings: string[] = [];
  const jsonLd = readScripts(facts, warnings);
  const openGraph = readProperties(facts.properties, warnings);
  const { items, omitted } = new MicrodataReader(MAX_CHARS).read(model.html);
  if (omitted !== null) warnings.push(`structured_data: microdata is left out ${omitted}`);
  return { data: { jsonLd, microdata: items, openGraph }, warnings };
}

function readScripts(
  { jsonLd: scripts, jsonLdCount: all }: ScannedPage["facts"],
  warnings: string[],
): unknown[] {
  const values: unknown[] = [];
  let chars = 0;
  let large = all - scripts.length;
  let broken = 0;
  for (const script of scripts) {
    if (chars + script.length > MAX_CHARS || nestingOf(script) > MAX_NESTING) {
      large++;
      continue;
    }
    chars += script.length;
    const value = parseLeniently(script);
    if (value === null) broken++;
    else values.push(value);
  }
  if (large > 0)
    warnings.push(
      `structured_data: ${large} of ${all} JSON-LD scripts left out (over ${MAX_CHARS} characters together, or nested deeper than ${MAX_NESTING})`,
    );
  if (broken > 0) warnings.push(`structured_data: ${broken} of ${all} JSON-LD scripts left out (no JSON)`);
  return values;
}

function readProperties(
  written: readonly (readonly [string, string])[],
  warnings: string[],
): OpenGraphProperty[] {
  const properties: OpenGraphProperty[] = [];
  let chars = 0;
  for (const [property, content] of written) {
    chars += property.length + content.length;
    if (properties.length === MAX_PROPERTIES || chars > MAX_CHARS) break;
    properties.push({ property, content });
  }
  const missing = written.length - properties.length;
  if (missing > 0)
    warnings.push(`structured_data: ${missing} of ${written.length} Open Graph properties left out`);
  return properties;
}
