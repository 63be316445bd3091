/**
 * Normalises a host for comparison: lower case, without the brackets of IPv6 and without the trailing dot.
 */
export function normalizeHost(host: string): string {
  const bare = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  let end = bare.length;
  while (end > 0 && bare[end - 1] === ".") end--;
  return bare.slice(0, end).toLowerCase();
}

/** Whether RFC 6761 reserves the name for this machine, whatever a resolver says. */
export const isLocalhost = (host: string): boolean => host === "localhost" || host.endsWith(".localhost");

/**
 * Whether a name means this machine or an inner network, without asking a resolver. It does when it has no
 * dot, or ends in a suffix that is reserved for that (RFC 6761, 6762, 8375, 9476; ICANN 2024 for `internal`)
 * or commonly used inside networks.
 */
export function isLocalName(host: string): boolean {
  return !host.includes(".") || INNER_SUFFIXES.some((suffix) => host.endsWith(suffix));
}

const INNER_SUFFIXES = [
  ".localhost",
  ".localdomain",
  ".local",
  ".internal",
  ".intranet",
  ".private",
  ".corp",
  ".home",
  ".home.arpa",
  ".lan",
  ".alt",
];

/** Whether the name belongs to a cloud's metadata service. */
export const isMetadataName = (host: string): boolean => METADATA_NAMES.has(host);

const METADATA_NAMES = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "metadata.tencentyun.com",
  "metadata.platformequinix.com",
  "instance-data",
  "instance-data.ec2.internal",
]);
