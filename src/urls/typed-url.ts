/** Text that begins as an address without its scheme does: `localhost`, or a host with a dot or in brackets, then a path. */
const HOST = /^(?:localhost|[\w-]+(?:\.[\w-]+)+|\[[\da-f:.]+\])(?::\d+)?(?:[/?#]|$)/i;
const FILE = /^[^/]*\.(?:html?|md|txt|xml)$/i;

/** Ports of their own that are nevertheless those of https. */
const TLS_PORTS = new Set(["443", "8443"]);

/**
 * Completes an address whose scheme was left out, as browsers complete what is typed: with `http` for numbered hosts, names
 * without a dot, `*.localhost` and ports of their own, as programs under development have; else with `https`.
 * @param written begins with the host
 */
export function withScheme(written: string): string {
  const [, host = "", port = ""] = /^(\[[^\]]*\]|[^/?#:]*)(?::(\d*))?/.exec(written) ?? [];
  if (TLS_PORTS.has(port)) return `https://${written}`;
  const isNumbered = /^(?:\[.*|[\d.]+)$/.test(host);
  const isLocal = !host.includes(".") || /\.localhost$/i.test(host);
  return `${isNumbered || isLocal || port !== "" ? "http" : "https"}://${written}`;
}

/** The address that a person may have meant by text without a scheme; null when it does not look like one. */
export const meantUrl = (written: string): string | null =>
  HOST.test(written) && !FILE.test(written) ? withScheme(written) : null;
