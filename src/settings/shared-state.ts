import type { S3Encryption } from "../base/objects/index.ts";
import { choice, optional, optionalText, s3Encryption, setting, text } from "./values.ts";

/** What one of several servers of the same jobs does. */
export const SERVER_ROLES = ["all", "api", "worker"] as const;

/** The settings of the state that several processes share; without them each process keeps its own. */
export const SHARED_STATE = {
  role: setting<(typeof SERVER_ROLES)[number]>(
    "ARTICLE_EXTRACTOR_ROLE",
    choice(SERVER_ROLES),
    "all",
    "part of a server of pages: all, api (takes jobs and runs none) or worker (only runs them)",
  ),
  databaseUrl: optionalText(
    "ARTICLE_EXTRACTOR_DATABASE_URL",
    "PostgreSQL that several processes share: postgres://user:password@host:5432/database; unset: each process keeps its state on its own disk",
  ),
  databaseSchema: setting(
    "ARTICLE_EXTRACTOR_DATABASE_SCHEMA",
    text,
    "article_extractor",
    "schema in that database which holds our tables",
  ),
  storeUrl: optionalText(
    "ARTICLE_EXTRACTOR_STORE_URL",
    "where servers on several machines keep pages: s3://bucket/prefix, or file:///path of a shared directory",
  ),
  s3Endpoint: optionalText(
    "ARTICLE_EXTRACTOR_S3_ENDPOINT",
    "server of buckets other than Amazon's, such as https://minio.example:9000",
  ),
  s3Region: optionalText(
    "ARTICLE_EXTRACTOR_S3_REGION",
    "region of buckets; unset: AWS_REGION or the profile's, and us-east-1 with an endpoint",
  ),
  s3Addressing: optional<"path" | "virtual">(
    "ARTICLE_EXTRACTOR_S3_ADDRESSING",
    choice(["path", "virtual"]),
    "where requests name the bucket: in the path, or in the host's name; unset: path with an endpoint, else virtual",
  ),
  s3Encryption: optional<S3Encryption>(
    "ARTICLE_EXTRACTOR_S3_ENCRYPTION",
    s3Encryption,
    "encryption that is asked of buckets: AES256, aws:kms or aws:kms:KEY; unset: the bucket's own",
  ),
} as const;
