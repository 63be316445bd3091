import { Away, Failure, type FailureCode } from "../../base/failure.ts";
import type { ObjectOptions } from "../../base/objects.ts";

/** A request to a bucket. */
export type S3Request = ObjectOptions & {
  readonly verb: "read" | "write" | "delete" | "list";
  readonly key: string;
  readonly sentBytes?: number;
};

/** The parts of the package's errors that are looked at. Their messages can repeat what was signed. */
type S3Error = {
  readonly name?: string | undefined;
  readonly code?: string | undefined;
  readonly hostname?: string | undefined;
  readonly message?: string | undefined;
  readonly Region?: string | undefined;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string | undefined>> } | undefined;
};

/** Whether an error says that there is no such object (and not that there is no such bucket). */
export function isNotFound(error: unknown): boolean {
  const { name } = error as S3Error;
  return name === "NoSuchKey" || name === "NotFound" || name === "NoSuchUpload";
}

/** Why a bucket refused, by the codes of the S3 API. */
const REASONS: Readonly<Record<string, string>> = {
  NoSuchBucket: "there is no such bucket",
  AllAccessDisabled: "access is denied: the bucket is closed",
  InvalidAccessKeyId: "the store does not know the access key",
  SignatureDoesNotMatch: "the secret key is wrong, or something on the way changes requests",
  ExpiredToken: "the session token has expired",
  InvalidToken: "the session token is wrong",
  InvalidBucketName: "the store does not take this name of a bucket",
  EntityTooLarge: "the object is too large",
  QuotaExceeded: "the store is full",
  XMinioStorageFull: "the store is full",
  NotImplemented: "the store cannot do that; ARTICLE_EXTRACTOR_S3_ENCRYPTION may ask too much of it",
  InvalidEncryptionAlgorithmError: "the store does not know this encryption",
  "KMS.NotFoundException": "the store does not know the key of ARTICLE_EXTRACTOR_S3_ENCRYPTION",
  "KMS.DisabledException": "the key of ARTICLE_EXTRACTOR_S3_ENCRYPTION is disabled",
};

/** Reasons by status, for answers of a proxy or a firewall, and for a bucket's answers without a body. */
const REASONS_OF_STATUS: Readonly<Record<number, string>> = {
  401: "access is denied",
  507: "the store is full",
};

/** Rights that the credentials need. S3 also answers "denied" for a missing object if the caller may not list. */
const RIGHTS: Readonly<Record<S3Request["verb"], string>> = {
  read: "s3:GetObject and s3:ListBucket",
  write: "s3:PutObject",
  delete: "s3:DeleteObject",
  list: "s3:ListBucket",
};

/** Why no answer came, by the codes of the system. */
const CONNECTION_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection broke off",
  EPIPE: "the connection broke off",
  ENOTFOUND: "its host has no address",
  EAI_AGAIN: "its host has no address at the moment",
  ETIMEDOUT: "it does not answer",
  EHOSTUNREACH: "there is no way to it",
  ENETUNREACH: "there is no way to it",
};

/** Matches the error codes of untrusted certificates. */
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/;

/**
 * Explains why a request to a bucket failed: the bucket cannot be reached, unless it is known to have refused. Only short
 * codes of the answer are repeated, and the package's error is not attached as the cause, because both can contain signed
 * values.
 */
export function s3Failure(
  error: unknown,
  { bucket, request }: { readonly bucket: string; readonly request: S3Request },
): Failure {
  if (error instanceof Failure) return error;
  const { verb, key, signal } = request;
  const what = `could not ${verb} s3://${bucket}${key === "" ? "" : `/${key}`}`;
  if (signal?.aborted) return new Failure("cancelled", `${what}: it was cancelled`);
  const [code, why] = reasonOf(Object(error), verb);
  return new (code === "store_unavailable" ? Away : Failure)(code, `${what}: ${why}`);
}

type Reason = readonly [FailureCode, string];

const settings = (why: string): Reason => ["invalid_settings", why];
const away = (why: string): Reason => ["store_unavailable", why];

/** The known facts about an error that its reason is derived from. */
type Known = S3Error & {
  readonly verb: S3Request["verb"];
  readonly status: number | null;
  /** The code of a request that is refused. */
  readonly refused: FailureCode;
};

/** Rules that derive the reason; the first rule that returns one decides. */
const TELLING: readonly ((known: Known) => Reason | false | undefined)[] = [
  ({ name = "" }) =>
    /credential/i.test(name) &&
    settings(`no credentials were found, or they could not be renewed: ${NAMES_OF_CREDENTIALS}`),
  ({ message = "" }) =>
    /^Region is missing/.test(message) &&
    settings("no region is set: set ARTICLE_EXTRACTOR_S3_REGION or AWS_REGION"),
  ({ message = "" }) =>
    /^Region not accepted/.test(message) &&
    settings("no region has such a name: is ARTICLE_EXTRACTOR_S3_REGION or AWS_REGION right?"),
  ({ code = "" }) =>
    UNTRUSTED.test(code) &&
    settings(`its certificate is not trusted (${code}); NODE_EXTRA_CA_CERTS names own authorities`),
  ({ message = "" }) =>
    /SSL routines/.test(message) &&
    settings("it does not speak TLS: is the https of ARTICLE_EXTRACTOR_S3_ENDPOINT right?"),
  otherRegion,
  // The package has set its clock by the answer, so the next request may be right.
  ({ name }) =>
    name === "RequestTimeTooSkewed" && away("this machine's clock differs too much from the store's"),
  ({ name = "", refused }) => name in REASONS && [refused, REASONS[name] ?? ""],
  ({ name, status, verb, refused }) =>
    (name === "AccessDenied" || status === 403) && [
      refused,
      `access is denied: the credentials need ${RIGHTS[verb]}`,
    ],
  ({ name }) => name === "AbortError" && away("no answer in time"),
  ({ code = "", hostname = "" }) =>
    code in CONNECTION_REASONS && away(`${CONNECTION_REASONS[code]}${hostname && ` (${hostname})`}`),
  ({ name }) => name === "TimeoutError" && away("it does not answer"),
  ({ name = "", status, refused }) => status !== null && status >= 300 && refusal(status, name, refused),
  ({ code = "", status }) =>
    (code.startsWith("HPE_") || status !== null) && [
      "unreadable_input",
      "its answer is none of S3: is ARTICLE_EXTRACTOR_S3_ENDPOINT right?",
    ],
];

function reasonOf(error: S3Error, verb: S3Request["verb"]): Reason {
  const { name, code, hostname, message, Region, $metadata, $response } = error;
  const known: Known = {
    ...{ name, code, hostname, message, Region, $response },
    verb,
    status: $metadata?.httpStatusCode ?? null,
    refused: verb === "read" || verb === "list" ? "unreadable_input" : "unwritable_output",
  };
  for (const tell of TELLING) {
    const reason = tell(known);
    if (reason) return reason;
  }
  // Sockets that end while a body is read have no code in this runtime.
  return away(`the connection broke off${code === undefined ? "" : ` (${word(code)})`}`);
}

function otherRegion({ name, status, refused, Region, $response }: Known): Reason | undefined {
  if (status !== 301 && name !== "PermanentRedirect" && name !== "AuthorizationHeaderMalformed") return;
  const region = Region ?? $response?.headers?.["x-amz-bucket-region"];
  const where = region ? ` (${word(region)})` : "";
  return [refused, `the bucket is in another region${where}: set ARTICLE_EXTRACTOR_S3_REGION`];
}

const NAMES_OF_CREDENTIALS =
  "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give the machine a role";

function refusal(status: number, name: string, refused: FailureCode): Reason {
  const said = /^[A-Z][A-Za-z.]{2,60}$/.test(name) && !/^(?:Unknown|Error)/.test(name) ? ` ${name}` : "";
  if (status === 429 || (status >= 500 && status !== 501 && status !== 507))
    return away(`it answers with HTTP ${status}${said}`);
  const known = REASONS_OF_STATUS[status];
  if (known !== undefined) return [refused, known];
  const hint = said === "" ? ", and not as S3 does: is ARTICLE_EXTRACTOR_S3_ENDPOINT right?" : "";
  return [refused, `it answers with HTTP ${status}${said}${hint}`];
}

const word = (text: string): string => text.replace(/[^\w-]/g, "").slice(0, 40);
