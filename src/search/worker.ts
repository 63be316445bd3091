import { Failure } from "../base/failure.ts";
import { failureRecordOf, serveRequests, type WorkerScope } from "../base/worker-thread.ts";
import { FenceReader } from "../markdown/index.ts";
import { Analyser } from "./analysis/analyser.ts";
import type { BuildReply, BuildRequest, BuildTask } from "./builder/build-index.ts";
import { type BuildCounts, buildSegment } from "./builder/build-segment.ts";
import { DocumentAnalyser } from "./document/analyse.ts";
import type { LeftOutReason } from "./folder/read-files.ts";
import { nameOf, readDocuments, type UnreadDocument } from "./reading/read-document.ts";
import { Segment } from "./segment/segment.ts";
import { LANGUAGES, type Language, type SourceDocument } from "./types.ts";

type Scope = WorkerScope<BuildRequest, BuildReply>;

/**
 * Turns the calling worker thread into one that builds one index from the documents that it receives. A
 * document that cannot be read or analysed is left out and reported to the builder.
 * @param read replaced by tests, whose documents hang or crash it
 */
export function runIndexWorker(scope: Scope, read: BuildParts["read"] = readDocuments): void {
  const inbox = new Inbox();
  serveRequests(scope, (request) => {
    if (request.kind === "documents") inbox.put(request.documents);
    else if (request.kind === "end") inbox.put(null);
    else void new Build(request.task, { inbox, scope, read }).run().then((reply) => scope.postMessage(reply));
  });
}

type BuildParts = {
  readonly inbox: Inbox;
  readonly scope: Scope;
  readonly read: (document: UnreadDocument) => Iterable<SourceDocument>;
};

class Build {
  readonly #task: BuildTask;
  readonly #parts: BuildParts;
  #counts: BuildCounts = { documents: 0, unchanged: 0 };
  /** The name of the document in work. */
  #path = "";

  constructor(task: BuildTask, parts: BuildParts) {
    this.#task = task;
    this.#parts = parts;
  }

  async run(): Promise<BuildReply> {
    const language = this.#task.language ?? (await languageOf(await this.#parts.inbox.firstTexts()));
    const analyser = new Analyser(this.#task.profile, language);
    const documents = new DocumentAnalyser(analyser);
    // When there is no index, or it is damaged or of another version, everything is analysed anew.
    using previous = Segment.openIfWhole(this.#task.path);
    try {
      const counts = await buildSegment(this.#documents(), {
        ...this.#task,
        previous,
        analysis: {
          fingerprint: analyser.fingerprint,
          vocabulary: analyser,
          analyse: (source) => documents.analyse(source, (detail) => this.#tell(detail, null)),
        },
        onProgress: (made) => {
          this.#counts = made;
        },
        onFailed: (_, error) => this.#tell(...refusalOf(error)),
        onRepeated: ({ url }) => this.#tell(`another document has its address ${url}`, "duplicate"),
      });
      return { kind: "built", counts };
    } catch (error) {
      return { kind: "failed", failure: failureRecordOf(error, "building the search index") };
    }
  }

  async *#documents(): AsyncGenerator<SourceDocument> {
    const { inbox, scope } = this.#parts;
    let number = 0;
    for await (const batch of inbox.batches()) {
      for (const document of batch) {
        Atomics.store(this.#task.place, 0, ++number);
        this.#path = nameOf(document);
        yield* this.#tryRead(document);
      }
      scope.postMessage({ kind: "taken", counts: this.#counts });
    }
  }

  *#tryRead(document: UnreadDocument): Generator<SourceDocument> {
    let isEmpty = true;
    try {
      for (const source of this.#parts.read(document)) {
        isEmpty = false;
        yield source;
      }
      if (isEmpty) this.#tell("it holds no words", "empty");
    } catch (error) {
      this.#tell(...refusalOf(error));
    }
  }

  #tell(detail: string, reason: LeftOutReason | null): void {
    this.#parts.scope.postMessage({ kind: "notice", notice: { path: this.#path, detail, reason } });
  }
}

// A document can cause any exception; here it becomes a reason for leaving out that document.
const refusalOf = (error: unknown): [detail: string, reason: LeftOutReason] =>
  error instanceof Failure
    ? [error.message, error.code === "no_content" ? "empty" : "failed"]
    : [`reading it stopped with ${String(error).slice(0, 300)}`, "failed"];

/** Documents that have arrived and were not yet asked for. */
class Inbox {
  readonly #batches: (readonly UnreadDocument[] | null)[] = [];
  #wake: (() => void) | null = null;

  /** @param batch the next documents; null at the end */
  put(batch: readonly UnreadDocument[] | null): void {
    this.#batches.push(batch);
    this.#wake?.();
  }

  /** The texts of the first documents, which stay. */
  async firstTexts(): Promise<readonly string[]> {
    while (this.#batches.length === 0) await this.#more();
    return (this.#batches[0] ?? []).map((document) =>
      "text" in document ? document.text : document.markdown,
    );
  }

  async *batches(): AsyncGenerator<readonly UnreadDocument[]> {
    for (;;) {
      const batch = this.#batches.shift();
      if (batch === null) return;
      if (batch === undefined) await this.#more();
      else yield batch;
    }
  }

  async #more(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
  }
}

/** The language of a collection is detected from at most this many documents, and this many characters of each. */
const MAX_DOCUMENTS = 40;
const PROSE_CHARS = 1000;
const FEWEST_CHARS = 100;

/** Prose is looked for in this many characters; a document does not change its language later. */
const READ_CHARS = 20_000;

const NO_PROSE = /`[^`\n]*`|(?:https?:\/\/|www\.)\S+/g;
const SHORTEST_LINE = 30;

const ENGLISH = /\b(?:the|of|and|to|is|for|that|with|this|are|you|from|by)\b/gi;
/** English prose has at least one function word per this many characters. */
const CHARS_PER_WORD = 100;

/** The language of most documents, by a sample of their prose; English when none with its own terms shows. */
async function languageOf(texts: readonly string[]): Promise<Language> {
  const step = Math.max(1, texts.length / MAX_DOCUMENTS);
  const votes = new Map<Language, number>();
  for (let at = 0; at < texts.length; at += step) {
    const language = await languageOfProse(proseOf(texts[Math.floor(at)]!));
    if (language) votes.set(language, (votes.get(language) ?? 0) + 1);
  }
  let best: Language = "en";
  for (const language of LANGUAGES) if ((votes.get(language) ?? 0) > (votes.get(best) ?? 0)) best = language;
  return best;
}

function proseOf(text: string): string {
  let prose = "";
  const fences = new FenceReader();
  for (const line of text.slice(0, READ_CHARS).split("\n")) {
    // Front matter, tables, markup and lists of names are short or begin with a sign.
    if (!fences.isCode(line) && line.length >= SHORTEST_LINE && /^(?:[-*>] )?\p{L}/u.test(line)) {
      prose += `${line.replace(NO_PROSE, " ")} `;
      if (prose.length >= PROSE_CHARS) break;
    }
  }
  return prose.slice(0, PROSE_CHARS);
}

async function languageOfProse(prose: string): Promise<Language | null> {
  if (prose.length < FEWEST_CHARS) return null;
  if ((prose.match(ENGLISH)?.length ?? 0) >= prose.length / CHARS_PER_WORD) return "en";
  // The language tables take 60 ms and 40 MB to load, and English documents do without them.
  const { detectLanguage } = await import("../base/detect-language.ts");
  const found = detectLanguage(prose);
  return LANGUAGES.find((language) => language === found) ?? null;
}
