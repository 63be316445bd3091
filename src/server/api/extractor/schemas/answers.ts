import { JOB_STATES } from "../../../../crawler/index.ts";
import { BLOCK_REASONS, MARKDOWN_SIGNS, PAGE_TYPES } from "../../../../extraction/index.ts";
import { failure, z } from "../../openapi.ts";

const timestamp = (description: string) =>
  z.string().openapi({ description, format: "date-time", example: "2026-11-21T12:00:00.000Z" });
const text = z.string().nullable();
const count = z.int().min(0);
const pixels = z.int().min(1).nullable();
const warnings = z.array(z.string()).nullable().openapi({ description: "Null when there are none" });

export const ExtractionResult = z
  .object({
    url: text.openapi({ description: "As it was asked for" }),
    final_url: text.openapi({ description: "The URL that answered, after redirects" }),
    canonical_url: text,
    status_code: z.int().nullable(),
    http_status: z.int().nullable().openapi({
      description: "The same as status_code, under the name that manifests and problems have for it",
    }),
    fetcher: z.enum(["http", "browser", "file"]),
    title: text,
    byline: text,
    siteName: text,
    published_date: text,
    modified_date: text,
    lang: text.openapi({ description: "BCP 47 tag that the page gives itself" }),
    language: text.openapi({
      description:
        "BCP 47 tag of the content: lang, or what the text tells where the page names none or a wrong one",
    }),
    dir: z.enum(["ltr", "rtl"]).nullable(),
    excerpt: text,
    image: text,
    image_width: pixels.openapi({ description: "Pixels, where the page says them" }),
    image_height: pixels,
    keywords: z.array(z.string()).openapi({ description: "Empty when the page names none" }),
    section: text.openapi({ description: "The part of its site that the page names" }),
    page_type: z.enum(PAGE_TYPES).nullable(),
    confidence: z.number().min(0).max(1).nullable(),
    sources: z
      .object({
        title: text,
        byline: text,
        published_date: text,
        modified_date: text,
        language: text,
        keywords: text,
        section: text,
        markdown: z
          .object({ url: z.string(), sign: z.enum(MARKDOWN_SIGNS) })
          .nullable()
          .openapi({ description: "The site's own Markdown, where that was taken, and what names it" }),
      })
      .openapi({ description: "Where the values were found" }),
    content: text.openapi({ description: "Sanitised HTML" }),
    markdown: text,
    text: z.string().openapi({ description: "Plain text without the title" }),
    length: count.openapi({ description: "Characters of text" }),
    word_count: count,
    success: z.literal(true),
    warnings,
  })
  .openapi("ExtractionResult");

const image = z.object({ url: z.string(), alt: z.string(), width: pixels, height: pixels });

const PageBlock = z
  .object({
    text: z.string().openapi({ description: "Its beginning as a reader sees it, 300 characters at most" }),
    tag: z.string().openapi({ description: "The name of the element around it" }),
    landmark: text.openapi({ description: "The innermost part of the page around it: header, nav, main …" }),
    selector: z.string().openapi({
      description: "Matches its element, and others like it; for options.select and options.exclude",
    }),
    word_count: count,
    hidden: z.boolean().openapi({ description: "Whether the page hides it at first" }),
    kept: z.boolean().openapi({ description: "Whether it is in the content, or its title" }),
    unsure: z.boolean().openapi({ description: "Whether another way with unsure blocks decides otherwise" }),
    probability: z.number().min(0).max(1).nullable(),
    reason: z.enum(BLOCK_REASONS),
    step: text.openapi({
      description: "The step of the selection that decided; null where it was the trees",
    }),
  })
  .openapi("PageBlock");

const Chunk = z
  .object({
    id: z.string().openapi({ description: "Of address, headings and text: it stays while these do" }),
    url: z.string().nullable(),
    title: z.string().nullable(),
    lang: z.string().nullable(),
    index: z.int(),
    heading_path: z.array(z.string()),
    anchor: z.string().nullable().openapi({ description: "Leads to its section" }),
    page: z.int().nullable().openapi({ description: "Of a printed document" }),
    text: z.string().openapi({ description: "Markdown" }),
    tokens: z.int(),
    hash: z.string().openapi({ description: "Of the text" }),
  })
  .openapi("Chunk");

/** The fields that a request names. */
export const AskedFields = ExtractionResult.partial()
  .extend({
    links: z
      .array(z.object({ url: z.string(), text: z.string() }))
      .optional()
      .openapi({ description: "Links of the content, in its order, as often as they stand there" }),
    images: z.array(image).optional().openapi({ description: "Images of the content, in its order" }),
    structured_data: z
      .object({
        json_ld: z.array(z.unknown()).openapi({ description: "The value of each script" }),
        microdata: z.array(z.unknown()).openapi({
          description: "Items {type, id, properties}; properties have lists of texts and items",
        }),
        open_graph: z.array(z.object({ property: z.string(), content: z.string() })),
      })
      .optional()
      .openapi({ description: "What the page says about itself for machines, as parsed" }),
    chunks: z
      .array(Chunk)
      .optional()
      .openapi({ description: "The text in pieces of chunk_tokens at most, for an index" }),
    blocks: z.array(PageBlock).nullable().optional().openapi({
      description:
        "The page's runs of text in its order, what became of each and why; 10 000 at most. Null where none were chosen: with options.select, by the engine readability, in Markdown and plain text",
    }),
  })
  .openapi("AskedFields", {
    description: "ExtractionResult, or the fields of it and beside it that the request names",
  });

const jobStatus = z.enum(JOB_STATES);

export const SubmittedJob = z
  .object({ job_id: z.string(), status: jobStatus, progress: count, total: count })
  .openapi("SubmittedJob");

export const JobStatus = z
  .object({
    job_id: z.string(),
    status: jobStatus,
    progress: count.openapi({ description: "successful + failed + skipped" }),
    total: count.openapi({
      description:
        "progress + pages in flight + known pages that may still be fetched; progress once the job is over",
    }),
    successful: count,
    failed: count,
    skipped: count,
    created_at: timestamp("When the job was accepted"),
    started_at: timestamp("Null while queued").nullable(),
    completed_at: timestamp("Null until completed or failed").nullable(),
    cancel_requested: z.boolean(),
    output_dir: z.string().openapi({ description: "As it was asked for" }),
    seeds: z.array(z.string()),
    sitemaps: z.array(z.string()),
    is_batch: z.literal(true).optional().openapi({ description: "POST /batch submitted it" }),
    warnings: warnings.openapi({
      description: "Sentences for a person, as in the manifest; null when there are none",
    }),
    error: failure.openapi({ description: "Of a failed job; code cancelled when it was cancelled" }),
  })
  .openapi("JobStatus");

export const JobDetails = JobStatus.extend({
  webhook: z
    .object({
      delivered: count,
      failed: count.openapi({ description: "Events that the receiver refused, or that were given up" }),
      dropped: count.openapi({ description: "Pages that were not kept until the receiver was back" }),
      is_over: z.boolean().openapi({ description: "Whether nothing more is delivered" }),
      last_error: z
        .object({ code: z.string(), message: z.string(), time: timestamp("Of the try") })
        .nullable(),
    })
    .optional()
    .openapi({ description: "Deliveries to the job's webhook, at the machine that accepted the job" }),
}).openapi("JobDetails");

export const JobList = z
  .object({ jobs: z.array(JobStatus), queued: count, running: count })
  .openapi("JobList");

const ManifestEntry = z
  .object({
    url: z.string(),
    file_path: text,
    status: z.enum(["success", "failed", "skipped"]),
    word_count: count.nullable(),
    title: text,
    http_status: z.int().nullable(),
    final_url: text,
    depth: count,
    parent: text,
    duration_ms: z.number().nullable(),
    content_hash: text,
    warnings,
    error: failure,
    reason: text,
    unchanged: z.boolean(),
    change: z
      .enum(["new", "changed", "unchanged", "gone"])
      .nullable()
      .openapi({ description: "Since the last crawl of the directory that finished, judged by the text" }),
    transient_404: z.boolean().openapi({
      description:
        "The status was 404 or 410, and yet the body held an article; no other HTTP error is a success",
    }),
  })
  .openapi("ManifestEntry");

export const Manifest = z
  .object({
    job_id: z.string(),
    status: z.string(),
    started_at: timestamp("Job start"),
    completed_at: timestamp("Job end"),
    config: z
      .record(z.string(), z.unknown())
      .openapi({ description: "Every setting of the job but secrets" }),
    total_pages: count,
    successful: count,
    failed: count,
    skipped: count,
    duration_seconds: z.number(),
    new: count,
    changed: count,
    unchanged: count,
    gone: count,
    skipped_links: z.record(z.string(), count),
    warnings,
    error: failure,
    results: z.array(ManifestEntry),
  })
  .openapi("Manifest");

export const JobPages = z
  .object({
    pages: z.array(ManifestEntry),
    total: count.openapi({ description: "Pages that match, of which these are some" }),
  })
  .openapi("JobPages");

export const JobOutcomes = z
  .object({
    reasons: z
      .array(z.object({ status: z.string(), reason: z.string(), pages: count }))
      .openapi({ description: "Pages that were not extracted, the most frequent reason first" }),
    hosts: z
      .array(z.object({ host: z.string(), successful: count, failed: count, skipped: count }))
      .openapi({ description: "The 100 hosts with the most pages" }),
  })
  .openapi("JobOutcomes");

export const Health = z
  .object({
    status: z.enum(["healthy", "degraded"]).openapi({ description: "Degraded while there are problems" }),
    problems: z.array(z.string()).openapi({
      description:
        "What does not work now: the jobs, the store, a full disk, a damaged file that was put aside",
    }),
    service: z.string(),
    version: z.string(),
    role: z.enum(["all", "api", "worker"]),
    uptime_seconds: z.number(),
    cache: z.object({ size: count, max_size: count }),
    workers: count.openapi({ description: "Extraction worker threads of this process at most" }),
    browser: z.object({ available: z.boolean() }),
    jobs: z
      .object({ running: count, queued: count })
      .nullable()
      .openapi({ description: "Null while the database cannot be reached" }),
    job_workers: count.nullable().openapi({
      description:
        "Processes of all machines that run jobs, where servers share them; null otherwise and while the database cannot be reached",
    }),
    processes: z.object({ configured: count, alive: count }),
  })
  .openapi("Health");

export const About = z
  .object({ service: z.string(), version: z.string(), status: z.string(), docs: z.string() })
  .openapi("About");
