/** How this machine reaches its package registry, for programs that see none of the tests' variables else. */
export const registrySettings = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      /^(?:npm_config_|bun_config_|https?_proxy$|node_extra_ca_certs$|ssl_cert_)/i.test(name),
    ),
  ) as Record<string, string>;
