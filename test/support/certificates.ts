import { generate } from "selfsigned";

export type Certificate = { readonly key: string; readonly cert: string };

/** A new self-signed certificate for one name or IPv4 address, in PEM. */
export async function makeCertificate(name: string): Promise<Certificate> {
  const isAddress = /^[0-9.]+$/.test(name);
  const made = await generate([{ name: "commonName", value: name }], {
    keyType: "ec",
    algorithm: "sha256",
    extensions: [
      { name: "basicConstraints", cA: true },
      { name: "subjectAltName", altNames: [isAddress ? { type: 7, ip: name } : { type: 2, value: name }] },
    ],
  });
  return { key: made.private, cert: made.cert };
}
