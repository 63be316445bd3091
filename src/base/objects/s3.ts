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
import { onAbort, pause } from "../abort.ts";
import { Failure } from "../failure.ts";
import type { Metrics } from "../metrics.ts";
import { isNotFound, type S3Request, s3Failure } from "./s3-failure.ts";
import {
  type ObjectOptions,
  type ObjectStore,
  type PutOptions,
  requireKey,
  type S3Encryption,
  type S3Options,
} from "./store.ts";

// S3 takes 10 000 parts of at least 5 MiB, and some servers only parts of one size: an object has at most 80 GiB.
const PART_BYTES = 8 * 1024 * 1024;

/** How long the store may take to accept a connection, in ms. */
const CONNECT_MS = 5_000;

/** After this time without an answer whoever watches is told, in ms. */
const SLOW_MS = 5_000;

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;

/** How long calling off an upload may take, in ms. */
const CALL_OFF_MS = 10_000;

/** Opens a whole bucket. Each command below may run twice without harm, so it is repeated while the store is away. */
export function openBucket(bucket: string, settings: S3Options): ObjectStore & AsyncDisposable {
  const client = new S3Client(configOf(settings));
  const place = { Bucket: bucket };
  const encryption = encryptionOf(settings.encryption);
  const ask = createAsking(bucket, settings);

  const put = async (Key: string, content: string | Uint8Array, options: PutOptions) => {
    const Body = typeof content === "string" ? Buffer.from(content) : content;
    const command = new PutObjectCommand({
      ...place,
      Key,
      Body,
      ContentType: options.contentType,
      ...encryption,
    });
    const request = { ...requestOf("write", Key, options), sentBytes: Body.length };
    const { ETag = "" } = await ask(request, (abort) => client.send(command, abort));
    return ETag;
  };

  const upload = async (
    Key: string,
    parts: AsyncIterable<Uint8Array>,
    options: PutOptions,
  ): Promise<string> => {
    const request = requestOf("write", Key, options);
    const begin = new CreateMultipartUploadCommand({
      ...place,
      Key,
      ContentType: options.contentType,
      ...encryption,
    });
    const { UploadId } = await ask(request, (abort) => client.send(begin, abort));
    const target = { ...place, Key, UploadId };
    try {
      const Parts: { PartNumber: number; ETag?: string | undefined }[] = [];
      let size = 0;
      for await (const Body of parts) {
        const PartNumber = Parts.length + 1;
        const command = new UploadPartCommand({ ...target, PartNumber, Body });
        const { ETag } = await ask({ ...request, sentBytes: Body.length }, (abort) =>
          client.send(command, abort),
        );
        Parts.push({ PartNumber, ETag });
        size += Body.length;
      }
      const complete = new CompleteMultipartUploadCommand({ ...target, MultipartUpload: { Parts } });
      let tries = 0;
      const { ETag = "" } = await ask(request, async (abort) => {
        try {
          return await client.send(complete, abort);
        } catch (error) {
          // A try whose answer was lost may have completed the upload, which then is unknown.
          if (tries++ === 0 || !isNotFound(error)) throw error;
          const head = new HeadObjectCommand({ ...place, Key });
          const written = await client.send(head, abort).catch(nullIfNotFound);
          if (written?.ContentLength !== size) throw error;
          return written;
        }
      });
      return ETag;
    } catch (error) {
      // Parts of an upload without an end are paid for and shown nowhere. The failure to report is the first.
      const callOff = new AbortMultipartUploadCommand(target);
      const inTime = AbortSignal.timeout(CALL_OFF_MS);
      await client.send(callOff, { abortSignal: inTime }).catch(() => {});
      throw error;
    }
  };

  return {
    url: `s3://${bucket}`,
    put: async (key, content, parts = {}) => await put(requireKey(key), content, parts),
    async putStream(key, pieces, parts = {}) {
      const waiting = partsOf(pieces);
      const { value: first = new Uint8Array() } = await waiting.next();
      // Only the last part is short; an object of one such part needs one request instead of three.
      if (first.length < PART_BYTES) return await put(requireKey(key), first, parts);
      return await upload(requireKey(key), chain(first, waiting), parts);
    },
    async read(key, options = {}) {
      const command = new GetObjectCommand({ ...place, Key: requireKey(key) });
      return await ask(requestOf("read", key, options), async (abort) => {
        const found = await client.send(command, abort).catch(nullIfNotFound);
        if (!found?.Body) return null;
        const bytes = await found.Body.transformToByteArray();
        settings.metrics.count("store_received_bytes", {}, bytes.length);
        return new Uint8Array(bytes);
      });
    },
    async stream(key, options = {}) {
      const command = new GetObjectCommand({ ...place, Key: requireKey(key) });
      const request = requestOf("read", key, options);
      const found = await ask(request, (abort) => client.send(command, abort).catch(nullIfNotFound));
      // In this runtime the package's bodies are streams of Node, which can be iterated over.
      const body = found?.Body as AsyncIterable<Uint8Array> | undefined;
      return body ? translated(body, { bucket, request, metrics: settings.metrics }) : null;
    },
    async head(key, options = {}) {
      const command = new HeadObjectCommand({ ...place, Key: requireKey(key) });
      const found = await ask(requestOf("read", key, options), (abort) =>
        client.send(command, abort).catch(nullIfNotFound),
      );
      return found && { size: found.ContentLength ?? 0, version: found.ETag ?? "" };
    },
    async delete(key, options = {}) {
      const command = new DeleteObjectCommand({ ...place, Key: requireKey(key) });
      await ask(requestOf("delete", key, options), (abort) =>
        client.send(command, abort).catch(nullIfNotFound),
      );
    },
    async *list(prefix, options: ObjectOptions = {}) {
      let ContinuationToken: string | undefined;
      do {
        const command = new ListObjectsV2Command({ ...place, Prefix: prefix, ContinuationToken });
        const page = await ask(requestOf("list", prefix, options), (abort) => client.send(command, abort));
        for (const { Key, Size = 0 } of page.Contents ?? []) if (Key) yield { key: Key, size: Size };
        ContinuationToken = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (ContinuationToken !== undefined);
    },
    [Symbol.asyncDispose]: async () => client.destroy(),
  };
}

const ignore = (): void => {};
/** Otherwise the package writes hints for programmers to stderr. */
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

function configOf({
  endpoint,
  region,
  addressing,
  profile,
  credentials,
  silenceMs,
}: S3Options): S3ClientConfig {
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
): S3Request => ({
  verb,
  key,
  signal,
  patienceMs,
});

const encryptionOf = (encryption: S3Encryption | null) =>
  encryption === null
    ? {}
    : {
        ServerSideEncryption: encryption.kind,
        ...(encryption.kind === "aws:kms" && encryption.key !== null && { SSEKMSKeyId: encryption.key }),
      };

type Abort = { readonly abortSignal: AbortSignal };

/**
 * Makes what sends a request: it counts it, gives it a deadline, repeats it while the store is away, and says in
 * words why it failed.
 */
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
      if (failure instanceof Failure && failure.code !== "cancelled") metrics.count("store_errors", {});
      if (failure instanceof Failure && failure.code === "store_unavailable") noteAway(failure.message);
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
    let before: Failure | null = null;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        return await tryOnce(request, { send, endsAt });
      } catch (error) {
        if (!(error instanceof Failure) || error.code !== "store_unavailable") throw error;
        // What our own deadline cut off says less than the failure before it.
        if (performance.now() >= endsAt) throw before ?? error;
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

type Translating = { readonly bucket: string; readonly request: S3Request; readonly metrics: Metrics };

async function* translated(
  body: AsyncIterable<Uint8Array>,
  { bucket, request, metrics }: Translating,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body) {
      if (request.signal?.aborted) throw new DOMException("called off", "AbortError");
      metrics.count("store_received_bytes", {}, piece.length);
      yield piece;
    }
  } catch (error) {
    throw s3Failure(error, { bucket, request });
  }
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
