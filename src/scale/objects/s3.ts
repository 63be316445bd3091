import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { onAbort, pause } from "../../base/abort.ts";
import { Away } from "../../base/failure.ts";
import type { Log } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import {
  type ListedObject,
  type ObjectHead,
  type ObjectOptions,
  type ObjectStore,
  type PutOptions,
  requireKey,
  type S3Encryption,
} from "../../base/objects.ts";
import { isNotFound, type S3Request, s3Failure } from "./s3-failure.ts";

/** How a bucket is reached; null leaves a choice to the package's defaults and the variables and profiles of AWS. */
export type S3Options = {
  /** Another server than Amazon's. */
  readonly endpoint: string | null;
  readonly region: string | null;
  /** Whether the bucket stands in the path or in the host's name; null: in the path of another server's URLs. */
  readonly addressing: "path" | "virtual" | null;
  readonly encryption: S3Encryption | null;
  /** The profile of AWS's files whose credentials are used; null: the usual one. */
  readonly profile: string | null;
  /** Credentials that were read already; null: those of the profile, a web identity, a container or an instance. */
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  } | null;
  /** How long a call is repeated while the store cannot be reached, in ms. */
  readonly patienceMs: number;
  /** How long the store may be silent within one request, in ms. */
  readonly silenceMs: number;
  readonly metrics: Metrics;
  /** Gets one line when the store is slow or cannot be reached, and one line when it is back. */
  readonly log: Log;
};

// S3 takes 10 000 parts of at least 5 MiB, and some servers only parts of one size: an object has at most 80 GiB.
const PART_BYTES = 8 * 1024 * 1024;

/** How long the store may take to accept a connection, in ms. */
const CONNECT_MS = 5_000;

/** The log says that the store is slow after this time without an answer, in ms. */
const SLOW_MS = 5_000;

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;

/** How long calling off an upload may take, in ms. */
const CALL_OFF_MS = 10_000;

/** A whole bucket. Each command below may safely run twice, so it is repeated while the store cannot be reached. */
export class Bucket implements ObjectStore, AsyncDisposable {
  readonly url: string;
  readonly #client: S3Client;
  readonly #place: { readonly Bucket: string };
  readonly #encryption: ReturnType<typeof encryptionOf>;
  readonly #metrics: Metrics;
  readonly #ask: ReturnType<typeof createAsking>;

  constructor(bucket: string, settings: S3Options) {
    this.url = `s3://${bucket}`;
    this.#client = new S3Client(configOf(settings));
    this.#place = { Bucket: bucket };
    this.#encryption = encryptionOf(settings.encryption);
    this.#metrics = settings.metrics;
    this.#ask = createAsking(bucket, settings);
  }

  async put(key: string, content: string | Uint8Array, options: PutOptions = {}): Promise<string> {
    const Body = typeof content === "string" ? Buffer.from(content) : content;
    const command = new PutObjectCommand({ ...this.#written(requireKey(key), options), Body });
    const request = { ...requestOf("write", key, options), sentBytes: Body.length };
    const { ETag = "" } = await this.#ask(request, (abort) => this.#client.send(command, abort));
    return ETag;
  }

  async putStream(
    key: string,
    pieces: AsyncIterable<string | Uint8Array>,
    options: PutOptions = {},
  ): Promise<string> {
    const waiting = partsOf(pieces);
    const { value: first = new Uint8Array() } = await waiting.next();
    // Only the last part is short; an object of one such part needs one request instead of three.
    if (first.length < PART_BYTES) return await this.put(key, first, options);
    return await this.#upload(requireKey(key), chain(first, waiting), options);
  }

  async read(key: string, options: ObjectOptions = {}): Promise<Uint8Array<ArrayBuffer> | null> {
    const command = new GetObjectCommand({ ...this.#place, Key: requireKey(key) });
    return await this.#ask(requestOf("read", key, options), async (abort) => {
      const found = await this.#client.send(command, abort).catch(nullIfNotFound);
      if (!found?.Body) return null;
      const bytes = await found.Body.transformToByteArray();
      this.#metrics.count("store_received_bytes", {}, bytes.length);
      return new Uint8Array(bytes);
    });
  }

  async stream(key: string, options: ObjectOptions = {}): Promise<AsyncIterable<Uint8Array> | null> {
    const command = new GetObjectCommand({ ...this.#place, Key: requireKey(key) });
    const request = requestOf("read", key, options);
    const found = await this.#ask(request, (abort) =>
      this.#client.send(command, abort).catch(nullIfNotFound),
    );
    // In this runtime the package's bodies are streams of Node, which can be iterated over.
    const body = found?.Body as AsyncIterable<Uint8Array> | undefined;
    return body ? this.#received(body, request) : null;
  }

  async *#received(body: AsyncIterable<Uint8Array>, request: S3Request): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of body) {
        if (request.signal?.aborted) throw new DOMException("called off", "AbortError");
        this.#metrics.count("store_received_bytes", {}, piece.length);
        yield piece;
      }
    } catch (error) {
      throw s3Failure(error, { bucket: this.#place.Bucket, request });
    }
  }

  async head(key: string, options: ObjectOptions = {}): Promise<ObjectHead | null> {
    const command = new HeadObjectCommand({ ...this.#place, Key: requireKey(key) });
    const found = await this.#ask(requestOf("read", key, options), (abort) =>
      this.#client.send(command, abort).catch(nullIfNotFound),
    );
    return found && { size: found.ContentLength ?? 0, version: found.ETag ?? "" };
  }

  async delete(key: string, options: ObjectOptions = {}): Promise<void> {
    const command = new DeleteObjectCommand({ ...this.#place, Key: requireKey(key) });
    await this.#ask(requestOf("delete", key, options), (abort) =>
      this.#client.send(command, abort).catch(nullIfNotFound),
    );
  }

  async *list(prefix: string, options: ObjectOptions = {}): AsyncGenerator<ListedObject> {
    let ContinuationToken: string | undefined;
    do {
      const command = new ListObjectsV2Command({ ...this.#place, Prefix: prefix, ContinuationToken });
      const page = await this.#ask(requestOf("list", prefix, options), (abort) =>
        this.#client.send(command, abort),
      );
      for (const { Key, Size = 0 } of page.Contents ?? []) if (Key) yield { key: Key, size: Size };
      ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (ContinuationToken !== undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.destroy();
  }

  #written(Key: string, { contentType: ContentType }: PutOptions) {
    // Its scripts would run as the bucket's site where somebody opens it; as a picture of a page it is shown anyway.
    const isScript = ContentType === "image/svg+xml";
    const shown = isScript ? { ContentDisposition: "attachment" } : {};
    return { ...this.#place, Key, ContentType, ...shown, ...this.#encryption };
  }

  async #upload(Key: string, parts: AsyncIterable<Uint8Array>, options: PutOptions): Promise<string> {
    const request = requestOf("write", Key, options);
    const begin = new CreateMultipartUploadCommand(this.#written(Key, options));
    const { UploadId } = await this.#ask(request, (abort) => this.#client.send(begin, abort));
    const target = { ...this.#place, Key, UploadId };
    try {
      const Parts: { PartNumber: number; ETag?: string | undefined }[] = [];
      let size = 0;
      for await (const Body of parts) {
        const PartNumber = Parts.length + 1;
        const command = new UploadPartCommand({ ...target, PartNumber, Body });
        const { ETag } = await this.#ask({ ...request, sentBytes: Body.length }, (abort) =>
          this.#client.send(command, abort),
        );
        Parts.push({ PartNumber, ETag });
        size += Body.length;
      }
      const command = new CompleteMultipartUploadCommand({ ...target, MultipartUpload: { Parts } });
      return await this.#complete(command, request, size);
    } catch (error) {
      // Parts of an upload without an end are paid for and shown nowhere. The failure to report is the first.
      const callOff = new AbortMultipartUploadCommand(target);
      const inTime = AbortSignal.timeout(CALL_OFF_MS);
      await this.#client.send(callOff, { abortSignal: inTime }).catch(() => {});
      throw error;
    }
  }

  async #complete(
    command: CompleteMultipartUploadCommand,
    request: S3Request,
    size: number,
  ): Promise<string> {
    let tries = 0;
    const { ETag = "" } = await this.#ask(request, async (abort) => {
      try {
        return await this.#client.send(command, abort);
      } catch (error) {
        // A try whose answer was lost may have completed the upload, which then is unknown.
        if (tries++ === 0 || !isNotFound(error)) throw error;
        const head = new HeadObjectCommand({ ...this.#place, Key: request.key });
        const written = await this.#client.send(head, abort).catch(nullIfNotFound);
        if (written?.ContentLength !== size) throw error;
        return written;
      }
    });
    return ETag;
  }
}

const ignore = (): void => {};
/** Otherwise the package writes hints for programmers to stderr. */
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

function configOf(settings: S3Options): S3ClientConfig {
  const { endpoint, region, addressing, profile, credentials, silenceMs } = settings;
  return {
    ...(endpoint !== null && { endpoint }),
    ...(region !== null && { region }),
    ...(profile !== null && { profile }),
    ...(credentials !== null && { credentials }),
    forcePathStyle: addressing === null ? endpoint !== null : addressing === "path",
    // Repeats are ours: its own waits would hide why the last request failed.
    maxAttempts: 1,
    // Some servers and proxies never send the answer that a part would wait for.
    expectContinueHeader: false,
    logger: SILENT,
    // Its sockets use no proxy variables and follow no redirect.
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: silenceMs,
      throwOnRequestTimeout: true,
      socketTimeout: silenceMs,
    },
  };
}

// Not by spreading: whoever gives an AbortController has its signal on the prototype.
const requestOf = (
  verb: S3Request["verb"],
  key: string,
  { signal, patienceMs }: ObjectOptions,
): S3Request => ({ verb, key, signal, patienceMs });

const encryptionOf = (encryption: S3Encryption | null) =>
  encryption === null
    ? {}
    : {
        ServerSideEncryption: encryption.kind,
        ...(encryption.kind === "aws:kms" && encryption.key !== null && { SSEKMSKeyId: encryption.key }),
      };

type Abort = { readonly abortSignal: AbortSignal };

/** Sends requests: counts each, gives it a deadline, repeats it while the store cannot be reached, and explains failures. */
function createAsking(bucket: string, { patienceMs, metrics, log }: S3Options) {
  let isAway = false;
  const noteAway = (reason: string): void => {
    if (!isAway) log.warning("store away; what needs it waits", { store: `s3://${bucket}`, reason });
    isAway = true;
  };
  const noteBack = (): void => {
    if (isAway) log.warning("store back", { store: `s3://${bucket}` });
    isAway = false;
  };
  const tryOnce = async <T>(
    request: S3Request,
    { send, endsAt }: { send: (abort: Abort) => Promise<T>; endsAt: number },
  ): Promise<T> => {
    const { verb, signal, sentBytes = 0 } = request;
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), Math.max(0, endsAt - performance.now()));
    using _ = onAbort(signal, () => controller.abort());
    const slow = setTimeout(() => noteAway(`no answer for ${SLOW_MS / 1000} s`), SLOW_MS);
    const startedAt = performance.now();
    try {
      const answer = await send({ abortSignal: controller.signal });
      noteBack();
      if (sentBytes > 0) metrics.count("store_sent_bytes", {}, sentBytes);
      return answer;
    } catch (error) {
      const failure = s3Failure(error, { bucket, request });
      if (failure.code !== "cancelled") metrics.count("store_errors", {});
      throw failure;
    } finally {
      clearTimeout(timer);
      clearTimeout(slow);
      metrics.count("store_requests", { verb });
      metrics.time("store_request_duration", { verb }, performance.now() - startedAt);
    }
  };
  return async <T>(request: S3Request, send: (abort: Abort) => Promise<T>): Promise<T> => {
    const endsAt = performance.now() + (request.patienceMs ?? patienceMs);
    let before: Away | null = null;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        return await tryOnce(request, { send, endsAt });
      } catch (error) {
        if (!(error instanceof Away)) throw error;
        // The failure before our own deadline says more than the deadline does.
        if (performance.now() >= endsAt) throw before ?? error;
        // One lost connection is no news, and a call that soon gives up says why itself.
        if (before !== null && endsAt - performance.now() > SLOW_MS) noteAway(error.message);
        before = error;
        // Between half the pause and all of it, so that processes do not come back together.
        const restMs = pauseMs * (0.5 + Math.random() / 2);
        if (performance.now() + restMs >= endsAt) throw error;
        metrics.count("store_retries", {});
        await pause(restMs, request.signal ?? new AbortController().signal);
      }
    }
  };
}

function nullIfNotFound(error: unknown): null {
  if (isNotFound(error)) return null;
  throw error;
}

async function* chain<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}

/** Joins pieces to parts of the one size; the last may be smaller. */
async function* partsOf(pieces: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  let part = new Uint8Array(PART_BYTES);
  let length = 0;
  for await (const piece of pieces) {
    const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
    for (let start = 0; start < bytes.length; ) {
      const taken = bytes.subarray(start, start + PART_BYTES - length);
      part.set(taken, length);
      length += taken.length;
      start += taken.length;
      if (length < PART_BYTES) continue;
      yield part;
      // The part before may still be on its way.
      part = new Uint8Array(PART_BYTES);
      length = 0;
    }
  }
  if (length > 0) yield part.subarray(0, length);
}
