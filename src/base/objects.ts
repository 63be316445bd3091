import { Failure } from "./failure.ts";

export type ObjectOptions = {
  /** Ends the call with `cancelled`; a store's own deadlines hold besides. */
  readonly signal?: AbortSignal | undefined;
  /** How long the call is repeated while the store cannot be reached, in ms; by default the store's own patience. */
  readonly patienceMs?: number | undefined;
};

export type PutOptions = ObjectOptions & {
  /** The media type that browsers and other readers of a bucket receive. */
  readonly contentType?: string;
};

/** An object without its content. */
export type ObjectHead = {
  /** In bytes. */
  readonly size: number;
  /** An opaque text that differs whenever the object was written anew. */
  readonly version: string;
};

/**
 * A place for whole objects under keys: a bucket, or a directory that stands for one. A reader finds the old object
 * or the new one, never half of one, and everybody sees a finished write at once. Keys are relative: parts with `/`
 * between, in the form of `requireKey`. Calls may overlap; of two writes under one key the last to finish wins. Each
 * call has a deadline and repeats what is worth repeating.
 * Every call throws `Failure`: `store_unavailable` (`Away`) when the store cannot be reached or is too slow, `cancelled`,
 * `invalid_settings` for missing credentials, and `unreadable_input` or `unwritable_output` when the store refuses.
 */
export type ObjectStore = {
  /** The place for messages and for telling places apart: `s3://bucket/prefix`, `file:///path`. */
  readonly url: string;
  /** Writes an object whose content the store checks against a checksum. @returns its version */
  put(key: string, content: string | Uint8Array, options?: PutOptions): Promise<string>;
  /**
   * Writes an object piece by piece, so that its size does not matter. Nothing is left when that fails, also when
   * `pieces` throws.
   * @returns its version
   */
  putStream(key: string, pieces: AsyncIterable<string | Uint8Array>, options?: PutOptions): Promise<string>;
  /** The whole object; null when there is none. */
  read(key: string, options?: ObjectOptions): Promise<Uint8Array<ArrayBuffer> | null>;
  /** The object as it arrives, of any size; null when there is none. Reading on fails as the call does. */
  stream(key: string, options?: ObjectOptions): Promise<AsyncIterable<Uint8Array> | null>;
  /** The object's metadata, without reading it; null when the object does not exist. */
  head(key: string, options?: ObjectOptions): Promise<ObjectHead | null>;
  /** Deletes an object; does nothing when there is none. */
  delete(key: string, options?: ObjectOptions): Promise<void>;
  /**
   * Yields every object whose key starts with the prefix, in the order of the keys' bytes, a thousand a request.
   * Objects that are written or deleted meanwhile may be missing.
   */
  list(prefix: string, options?: ObjectOptions): AsyncIterable<ListedObject>;
};

export type ListedObject = { readonly key: string; readonly size: number };

/** S3 allows 1024 bytes, of which the place's own prefix may take 500. */
const MAX_KEY_BYTES = 1024;
const MAX_PREFIX_BYTES = 500;

/**
 * Refuses a key that could lead anywhere else, or that another store would read as another key: empty, `.` and `..`
 * parts (so a leading, trailing or double slash), backslashes and control characters.
 * @throws Failure `invalid_usage`
 */
export function requireKey(key: string): string {
  const problem = problemOfPath(key, MAX_KEY_BYTES);
  if (problem === null) return key;
  throw new Failure("invalid_usage", `${show(key)} is not an object name: ${problem}`);
}

/**
 * The part of a store below a path, which nothing that is asked of it can leave.
 * @param path parts with `/` between; empty for the store itself
 * @throws Failure `invalid_usage` for a path that would lead out of the store: absolute, or with an empty, `.` or `..`
 *   part
 */
export function folderOf(store: ObjectStore, path: string): ObjectStore {
  if (path === "") return store;
  const problem = problemOfPath(path, MAX_PREFIX_BYTES);
  if (problem !== null)
    throw new Failure("invalid_usage", `${show(path)} is not a path below ${store.url}: ${problem}`);
  const below = (key: string): string => `${path}/${requireKey(key)}`;
  return {
    url: `${store.url}/${path}`,
    put: async (key, content, options) => await store.put(below(key), content, options),
    putStream: async (key, pieces, options) => await store.putStream(below(key), pieces, options),
    read: async (key, options) => await store.read(below(key), options),
    stream: async (key, options) => await store.stream(below(key), options),
    head: async (key, options) => await store.head(below(key), options),
    delete: async (key, options) => await store.delete(below(key), options),
    async *list(prefix, options) {
      for await (const { key, size } of store.list(`${path}/${prefix}`, options))
        yield { key: key.slice(path.length + 1), size };
    },
  };
}

/** Describes the fault of a relative path; null when it has none. */
function problemOfPath(path: string, maxBytes: number): string | null {
  if (path === "") return "it is empty";
  if (/[\p{Cc}\\]/u.test(path)) return "it has a control character or a backslash";
  if (!path.isWellFormed()) return "it is not Unicode text";
  if (path.startsWith("/")) return "it begins with a slash";
  for (const part of path.split("/")) {
    if (part === "") return "it has an empty part";
    if (part === "." || part === "..") return `it has the part ${part}`;
  }
  return Buffer.byteLength(path) > maxBytes ? `it has more than ${maxBytes} bytes` : null;
}

const show = (text: string): string => JSON.stringify(text.slice(0, 200));

/** The place that a store's URL names. */
export type StoreLocation =
  | { readonly kind: "s3"; readonly bucket: string; readonly prefix: string }
  | { readonly kind: "directory"; readonly path: string };

/** Names that can stand in a host name (virtual-hosted addressing) and in a path. */
const BUCKET = /^[a-zA-Z0-9][a-zA-Z0-9._-]{1,253}[a-zA-Z0-9]$/;

/** Whether a text is meant as a URL rather than as a path on this machine. */
export const isStoreUrl = (text: string): boolean =>
  /^\s*(?:[a-z][a-z0-9+.-]*:\/\/|(?:s3|file):)/i.test(text);

/**
 * Reads `s3://bucket/prefix`, where the prefix is taken as it stands (blanks and percent signs too), or
 * `file:///absolute/path`, where escapes are decoded. A slash at the end changes nothing.
 * @throws Failure `invalid_usage`; its message repeats no credentials
 */
export function parseStoreUrl(text: string): StoreLocation {
  const [, scheme = "", rest = ""] = /^(s3|file):\/\/(.*)$/is.exec(text.trim()) ?? [];
  if (scheme.toLowerCase() === "file") return { kind: "directory", path: parseFileUrl(text.trim()) };
  if (scheme === "") throw new Failure("invalid_usage", `${show(text)} is not the URL of a store: ${FORMS}`);
  const slash = rest.indexOf("/");
  const bucket = slash < 0 ? rest : rest.slice(0, slash);
  const prefix = slash < 0 ? "" : rest.slice(slash + 1).replace(/\/$/, "");
  if (bucket.includes("@"))
    throw new Failure(
      "invalid_usage",
      "the URL of a store takes no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    );
  if (!BUCKET.test(bucket))
    throw new Failure("invalid_usage", `${show(bucket)} in ${show(text)} is not a bucket name: ${FORMS}`);
  const problem = prefix === "" ? null : problemOfPath(prefix, MAX_PREFIX_BYTES);
  if (problem !== null)
    throw new Failure("invalid_usage", `the prefix in ${show(text)} cannot be used: ${problem}`);
  return { kind: "s3", bucket, prefix };
}

const FORMS = "it must be s3://bucket/prefix or file:///path";

function parseFileUrl(text: string): string {
  const refuse = (why: string): Failure => new Failure("invalid_usage", `${show(text)} ${why}: ${FORMS}`);
  const written = /^file:\/\/(?:localhost)?(\/.*)$/is.exec(text)?.[1];
  if (written === undefined) throw refuse("names no absolute path");
  try {
    const path = decodeURIComponent(written);
    if (/\p{Cc}/u.test(path)) throw refuse("has a control character");
    // Backwards, since an expression for the end of a run would look at each run in the text.
    let end = path.length;
    while (end > 1 && path[end - 1] === "/") end--;
    return path.slice(0, end);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw refuse("has escapes that are not UTF-8"); // decodeURIComponent throws only for these
  }
}

/** The service that encrypts objects at rest, and its key; null means the bucket's own key. */
export type S3Encryption =
  | { readonly kind: "AES256" }
  | { readonly kind: "aws:kms"; readonly key: string | null };
