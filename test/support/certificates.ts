import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A self-signed certificate for one name or IPv4 address, made now by the machine's openssl. */
export function makeCertificate(name: string): { readonly key: string; readonly cert: string } {
  const directory = mkdtempSync(join(tmpdir(), "certificate-"));
  const key = join(directory, "key.pem");
  const cert = join(directory, "cert.pem");
  try {
    const request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    const names = [
      "-days",
      "2",
      "-subj",
      `/CN=${name}`,
      "-addext",
      `subjectAltName=${/^[0-9.]+$/.test(name) ? "IP" : "DNS"}:${name}`,
    ];
    execFileSync("openssl", [...request, ...names, "-keyout", key, "-out", cert], { stdio: "ignore" });
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
