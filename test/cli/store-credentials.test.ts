import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runBinary } from "../support/binary.ts";
import { type RawRequest, startRawServer } from "../support/raw-server.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const EXPIRES = "2099-01-01T00:00:00Z";
const ROLE = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>
<AccessKeyId>web-key</AccessKeyId><SecretAccessKey>verysecret</SecretAccessKey><SessionToken>web-token</SessionToken>
<Expiration>${EXPIRES}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
const CONTAINER = JSON.stringify({
  AccessKeyId: "container-key",
  SecretAccessKey: "verysecret",
  Token: "container-token",
  Expiration: EXPIRES,
});

/** What a bucket, a token service and a container's agent on loopback receive from the built program. */
async function requestsWith(
  envOf: (parts: { readonly origin: string; readonly home: string }) => Record<string, string>,
): Promise<readonly RawRequest[]> {
  using home = temporaryDirectory();
  await using server = await startRawServer({
    answer({ target, headers }, socket) {
      const isToken = !target.startsWith("/books");
      const body = !isToken ? "" : target.startsWith("/agent") ? CONTAINER : ROLE;
      const status = isToken ? "200 OK" : "403 Forbidden";
      const type = headers.accept === "application/json" ? "application/json" : "text/xml";
      socket.write(
        `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    },
  });
  const origin = `http://127.0.0.1:${server.port}`;
  const { stdout, stderr } = await runBinary(["doctor", "--json"], {
    env: {
      HOME: home.path,
      ARTICLE_EXTRACTOR_BROWSER_PATH: "none",
      ARTICLE_EXTRACTOR_STORE_URL: "s3://books",
      ARTICLE_EXTRACTOR_S3_ENDPOINT: origin,
      AWS_EC2_METADATA_DISABLED: "true",
      AWS_REGION: "eu-north-1",
      ...envOf({ origin, home: home.path }),
    },
  });
  expect(stdout).toContain("access is denied");
  expect(stdout + stderr).not.toContain("verysecret");
  return server.requests.filter(({ target }) => target.startsWith("/books"));
}

const signedBy = (request: RawRequest | undefined): string =>
  /Credential=([^/]+\/)\d+(\/[^/]+)/
    .exec(request?.headers.authorization ?? "")
    ?.slice(1)
    .join("") ?? "nobody";

test("a bucket is asked with the credentials of a profile", async () => {
  using files = temporaryDirectory();
  await writeFile(
    join(files.path, "credentials"),
    "[default]\naws_access_key_id = other-key\naws_secret_access_key = x\n[docs]\naws_access_key_id = profile-key\naws_secret_access_key = verysecret\n",
  );
  const [request] = await requestsWith(() => ({
    AWS_SHARED_CREDENTIALS_FILE: join(files.path, "credentials"),
    AWS_PROFILE: "docs",
  }));
  expect(signedBy(request)).toBe("profile-key//eu-north-1");
});

test("a bucket is asked with the credentials of a container", async () => {
  const [request] = await requestsWith(({ origin }) => ({
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${origin}/agent`,
  }));
  expect(signedBy(request)).toBe("container-key//eu-north-1");
  expect(request?.headers["x-amz-security-token"]).toBe("container-token");
});

test("a bucket is asked with the credentials of a web identity", async () => {
  using files = temporaryDirectory();
  await writeFile(join(files.path, "token"), "a.b.c");
  const [request] = await requestsWith(({ origin }) => ({
    AWS_WEB_IDENTITY_TOKEN_FILE: join(files.path, "token"),
    AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/crawler",
    AWS_ENDPOINT_URL_STS: origin,
  }));
  expect(signedBy(request)).toBe("web-key//eu-north-1");
  expect(request?.headers["x-amz-security-token"]).toBe("web-token");
});

test("a bucket is asked with the credentials of a .env file", async () => {
  using files = temporaryDirectory();
  await writeFile(
    join(files.path, "settings"),
    "AWS_ACCESS_KEY_ID=env-key\nAWS_SECRET_ACCESS_KEY=verysecret\nAWS_SESSION_TOKEN=env-token\n",
  );
  await using server = await startRawServer({
    answer: (_, socket) => void socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n"),
  });
  await runBinary(["doctor", "--env-file", join(files.path, "settings")], {
    env: {
      ARTICLE_EXTRACTOR_BROWSER_PATH: "none",
      ARTICLE_EXTRACTOR_STORE_URL: "s3://books",
      ARTICLE_EXTRACTOR_S3_ENDPOINT: `http://127.0.0.1:${server.port}`,
    },
  });
  expect(signedBy(server.requests[0])).toBe("env-key//us-east-1");
  expect(server.requests[0]?.headers["x-amz-security-token"]).toBe("env-token");
});
