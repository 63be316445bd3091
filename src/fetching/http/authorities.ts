import { X509Certificate } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import tls from "node:tls";

/** A user's own authorities, in the places that curl, git, Python and Go read from SSL_CERT_FILE and SSL_CERT_DIR. */
export type AuthorityPlaces = { readonly file: string | null; readonly directory: string | null };

/** The bundles of Debian and Alpine, Red Hat (two ages), SUSE, and Alpine and macOS. */
const BUNDLES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];
const CERTIFICATE = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]+-----END (?:TRUSTED )?CERTIFICATE-----/g;
const MAX_FILES = 2000;

/** Lists the machine's files with authorities, beginning with the files that the user named. */
export function authorityFiles({ file, directory }: AuthorityPlaces): readonly string[] {
  const folders = (directory ?? "").split(":").filter((folder) => folder !== "" && existsSync(folder));
  const inFolders = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  const bundle = BUNDLES.find((path) => existsSync(path));
  return [file ?? [], inFolders.slice(0, MAX_FILES), bundle ?? []].flat();
}

/** All authorities that are trusted: the built-in ones, those of NODE_EXTRA_CA_CERTS and of the machine, in PEM. */
export function trustedAuthorities(places: AuthorityPlaces): readonly string[] {
  const found = authorityFiles(places).flatMap((path) => certificatesIn(path));
  // Older versions of Node do not have this function; the keychains of macOS and Windows are read by it.
  const known = (["extra", "system"] as const).flatMap((kind) => tls.getCACertificates?.(kind) ?? []);
  return [...new Set([...tls.rootCertificates, ...known, ...found].map((certificate) => certificate.trim()))];
}

function certificatesIn(path: string): readonly string[] {
  try {
    return (readFileSync(path, "latin1").match(CERTIFICATE) ?? []).filter(isCertificate);
  } catch {
    return []; // a folder, or a file of another user: `doctor` names the files
  }
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text) !== null;
  } catch {
    return false; // one damaged certificate must not cost all others
  }
}
