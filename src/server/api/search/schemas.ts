import { failure, z } from "../openapi.ts";

// These schemas describe the answers of serve search in its OpenAPI document.

const count = z.int().min(0);
const time = z.string().nullable().openapi({ format: "date-time", example: "2026-11-21T12:00:00.000Z" });

export const About = z
  .object({ service: z.string(), version: z.string(), status: z.string() })
  .openapi("About");

export const Health = z
  .object({
    status: z.enum(["healthy", "degraded"]),
    problems: z.array(z.string()).openapi({
      description: "What does not work now beside tenants: a full disk, a damaged file that was put aside",
    }),
    tenant_count: count.optional().openapi({ description: "Not for callers without the key" }),
    tenants: z
      .record(
        z.string(),
        z.object({
          status: z.enum(["healthy", "degraded"]),
          source_type: z.string(),
          doc_count: count.nullable(),
          built_at: time,
          error: failure,
        }),
      )
      .openapi({ description: "By codename; empty for callers without the key" }),
    infrastructure: z.object({
      operation_mode: z.enum(["online", "offline"]),
      version: z.string(),
      processes: z.object({ configured: count, alive: count }),
      deployment: z
        .object({ taken_at: z.string(), error: failure, needs_restart: z.array(z.string()) })
        .optional()
        .openapi({ description: "How far the deployment file is in force; for callers who see all tenants" }),
      query_log_days: count
        .optional()
        .openapi({ description: "For how many days queries are counted; for callers who see all tenants" }),
    }),
  })
  .openapi("Health");

const preview = z
  .enum(["true", "false"])
  .optional()
  .openapi({ description: "`true` does not count in `/analytics`" });

export const SearchQuery = z.object({
  q: z.string().openapi({ description: "The query", example: "retry a request" }),
  tenant: z.string().optional().openapi({ description: "Codenames, with commas between; by default all" }),
  library: z.string().optional().openapi({ description: "In place of `tenant`: what these document" }),
  version: z.string().optional().openapi({ description: "Of the library; the nearest not above it" }),
  filter: z
    .string()
    .optional()
    .openapi({ description: "What documents must meet", example: "kind:guide,reference path:api/**" }),
  size: z.int().min(1).max(100).optional().openapi({ description: "The most hits; by default 10" }),
  offset: z.int().min(0).max(900).optional().openapi({ description: "Hits to leave out; by default none" }),
  per_tenant: z.int().min(1).max(100).optional().openapi({
    description:
      "The most hits of each tenant, so that one with many leaves room for others; by default any number",
  }),
  facets: z
    .string()
    .optional()
    .openapi({ description: "What to count: kind, language, version, tenant, group, or * for all" }),
  group_by: z
    .enum(["document"])
    .optional()
    .openapi({ description: "Gives each hit the best sections of its document, at most three" }),
  word_match: z.enum(["true", "false"]).optional().openapi({ description: "Only words as typed" }),
  snippet_style: z.enum(["plain", "html", "rich"]).optional().openapi({
    description:
      "`html` is escaped, with matches in `<mark>`; `rich` has code in `<code>` besides; by default the tenant's",
  }),
  preview,
});

const DOCS_NAME = z.string().openapi({ description: "What people call the tenant" });

const section = z.object({
  anchor: z.string().nullable(),
  headings: z.array(z.string()),
  snippet: z.string(),
});

export const SearchAnswer = z
  .object({
    query: z.string(),
    hits: z.array(
      section.extend({
        tenant: z.string(),
        docs_name: DOCS_NAME,
        url: z.string(),
        title: z.string(),
        heading: z.string().openapi({ description: "`headings` in one line, without the title" }),
        score: z.number(),
        kind: z.enum(["guide", "reference", "changelog", "blog", "archive"]),
        language: z.string().nullable(),
        version: z.string().nullable(),
        date: z.string().nullable().openapi({ format: "date" }),
        sections: z.array(section).optional().openapi({ description: "With `group_by`" }),
      }),
    ),
    offset: count,
    size: count,
    total: count.openapi({ description: "How many documents the query finds" }),
    is_total_exact: z.boolean().openapi({ description: "False when `total` may be too high" }),
    facets: z.record(z.string(), z.record(z.string(), count)),
    resolved: z.string().optional(),
    skipped: z.array(z.string()).optional().openapi({ description: "Why tenants could not be searched" }),
    note: z.string().optional().openapi({ description: "That quoted words were found apart only" }),
    failures: z
      .array(z.object({ tenant: z.string(), docs_name: DOCS_NAME, code: z.string(), message: z.string() }))
      .optional()
      .openapi({ description: "The same, with the tenant of each" }),
    processing_time_ms: z.number(),
  })
  .openapi("SearchAnswer");

const wholeText = (min: number, max: number) => z.coerce.number().pipe(z.int().min(min).max(max));

export const QueriesQuery = z.object({
  days: wholeText(1, 3650).optional().openapi({ description: "Only so many days back; default: all" }),
  size: wholeText(1, 1000).default(20).openapi({ description: "The most queries of each list" }),
});

const queries = z.array(
  z.object({
    query: z.string(),
    searches: count,
    without_hits: count.openapi({ description: "Searches that found nothing" }),
    followed: count.openapi({ description: "Searches of which a document was opened within ten minutes" }),
  }),
);
export const Queries = z
  .object({
    since: z.string().openapi({ format: "date", description: "The first day that counts, in UTC" }),
    searches: count,
    queries: count.openapi({ description: "The number of different queries" }),
    frequent: queries,
    /** Those that found nothing, by how often. */
    without_hits: queries,
    /** Those that found something of which nothing was opened, by how often. */
    without_click: queries,
  })
  .openapi("Queries");

export const DocumentQuery = z.object({
  uri: z.string().min(1).openapi({ description: "Its `url`, or `url#anchor` for a section" }),
  tenant: z.string().optional().openapi({ description: "Where several have the address" }),
  max_chars: wholeText(1, 10_000_000)
    .optional()
    .openapi({ description: "The most characters; default: all" }),
  preview,
});

export const Document = z
  .object({
    tenant: z.string(),
    docs_name: DOCS_NAME,
    url: z.string(),
    title: z.string(),
    markdown: z.string(),
    is_cut: z.boolean().openapi({ description: "Whether `max_chars` left something out" }),
    total_chars: count.openapi({ description: "The length of the whole document" }),
    sections: z
      .array(z.object({ anchor: z.string(), start: count }))
      .optional()
      .openapi({
        description:
          "Where each section with an anchor begins in a document that is not asked for by section",
      }),
  })
  .openapi("Document");

export const TenantParams = z.object({ codename: z.string() });

const counts = z.object({
  fetched: count,
  unchanged: count,
  removed: count,
  failed: count,
  left: count.optional().openapi({ description: "known pages that max_crawl_pages left unfetched" }),
  failures: z
    .object({
      counts: z.record(z.string(), count),
      examples: z.record(z.string(), z.string()),
      pages: z.array(z.string()),
    })
    .optional()
    .openapi({ description: "failed pages by code, a message for each code, and the first addresses" }),
  notes: z.array(z.string()).optional().openapi({ description: "what else to know of the sync" }),
});
export const Tenant = z
  .object({
    tenant: z.string(),
    docs_name: DOCS_NAME,
    description: z.string(),
    source_type: z.string(),
    state: z.string(),
    last_started_at: time,
    last_completed_at: time,
    next_run_at: time,
    last_error: failure,
    problem: failure.openapi({
      description: "why it is not well: an error, no index, or a sync that lost pages",
    }),
    counts,
    index: z.object({
      doc_count: count.nullable(),
      built_at: time,
      bytes: count.nullable().openapi({ description: "The size of the index's file" }),
      building: z.boolean(),
    }),
    left_out: z.record(z.string(), z.object({ count, examples: z.array(z.string()) })).openapi({
      description: "files that are not in the index, by reason; the first ones of each as examples",
    }),
    test_queries: z.array(z.object({ query: z.string(), hits: count })),
    history: z.array(
      z.object({
        started_at: z.string(),
        completed_at: z.string(),
        counts: counts.nullable(),
        error: failure,
      }),
    ),
  })
  .openapi("Tenant");

export const Tenants = z.object({ tenants: z.array(Tenant) }).openapi("Tenants");

export const WhyQuery = z.object({
  url: z.string().min(1).max(8192).openapi({ description: "The page's address, or the path of a file" }),
  query: z.string().max(2000).optional().openapi({ description: "A search that should find it" }),
});

export const Why = z
  .object({
    url: z.string(),
    answers: z.array(
      z.object({
        tenant: z.string(),
        state: z.string().openapi({
          description: "`indexed`, `refused`, `failed`, `skipped`, `left_out`, `not_listed` or `no_index`",
        }),
        sentence: z.string(),
        url: z.string().nullable().openapi({ description: "The address under which it is indexed" }),
        rank: count.nullable().openapi({ description: "Its place among the hits of `query`, to 1000" }),
      }),
    ),
  })
  .openapi("Why");

export const Triggered = z
  .object({ success: z.literal(true), message: z.string(), state: z.string() })
  .openapi("Triggered");
