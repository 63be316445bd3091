/**
 * Addresses of this machine and of inner networks, in every spelling that some parser takes. A test puts its
 * server's port for PORT, so that a check that is missing really arrives somewhere.
 */
export const LOCAL_ADDRESSES = [
  "http://127.0.0.1:PORT/",
  "http://127.1:PORT/",
  "http://127.0.1:PORT/",
  "http://2130706433:PORT/",
  "http://0x7f000001:PORT/",
  "http://0x7f.0.0.1:PORT/",
  "http://0177.0.0.1:PORT/",
  "http://017700000001:PORT/",
  "http://00000177.0x0.1:PORT/",
  "http://127.0.0.1.:PORT/",
  "http://127.8.9.10:PORT/",
  "http://%31%32%37.0.0.1:PORT/",
  "http://①②⑦.⓪.⓪.①:PORT/",
  "http://127。0。0。1:PORT/",
  "http://0.0.0.0:PORT/",
  "http://0:PORT/",
  "http://localhost:PORT/",
  "http://LOCALHOST.:PORT/",
  "http://a.localhost:PORT/",
  "http://user:pw@127.0.0.1:PORT/",
  "http://[::1]:PORT/",
  "http://[::]:PORT/",
  "http://[0:0:0:0:0:0:0:1]:PORT/",
  "http://[::ffff:127.0.0.1]:PORT/",
  "http://[::ffff:7f00:1]:PORT/",
  "http://[::127.0.0.1]:PORT/",
  "http://[::ffff:0:127.0.0.1]:PORT/",
  "http://[64:ff9b::127.0.0.1]:PORT/",
  "http://[64:ff9b:1::10.0.0.1]:PORT/",
  "http://[2002:7f00:1::]:PORT/",
  "http://[2002:c0a8:101::1]:PORT/",
  "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]:PORT/",
  "http://[2606:4700::5efe:10.0.0.1]:PORT/",
  "http://[2606:4700::200:5efe:c0a8:1]:PORT/",
  "http://10.0.0.1/",
  "http://172.16.0.1/",
  "http://172.31.255.254/",
  "http://192.168.1.1/",
  "http://100.64.0.1/",
  "http://192.0.0.8/",
  "http://192.0.2.1/",
  "http://192.88.99.1/",
  "http://198.18.0.1/",
  "http://198.51.100.1/",
  "http://203.0.113.1/",
  "http://[fd12:3456:789a::1]/",
  "http://[fec0::1]/",
  "http://[2001:db8::1]/",
  "http://[2001:2::1]/",
  "http://[3fff::1]/",
  "http://[100::1]/",
];

/** Addresses and names that no policy opens. */
export const FORBIDDEN_ADDRESSES = [
  "http://169.254.169.254/latest/meta-data/", // AWS, Azure, Google Cloud, Oracle, DigitalOcean
  "http://2852039166/",
  "http://0xa9fea9fe/",
  "http://0251.0376.0251.0376/",
  "http://[::ffff:169.254.169.254]/",
  "http://[::ffff:a9fe:a9fe]/",
  "http://[::169.254.169.254]/",
  "http://[64:ff9b::169.254.169.254]/",
  "http://[2002:a9fe:a9fe::]/",
  "http://[::ffff:0:169.254.169.254]/",
  "http://[64:ff9b:1::169.254.169.254]/",
  "http://[2001:0:a9fe:a9fe:8000:63bf:3fff:fdd2]/", // as Teredo's server
  "http://[2001:0:4136:e378:8000:63bf:5601:5601]/", // as Teredo's client
  "http://[2606:4700::5efe:169.254.169.254]/",
  "http://[fd00:ec2::254]/", // AWS over IPv6
  "http://[fd00:ec2::253]/", // AWS's resolver
  "http://[fd00:42::42]/", // Scaleway over IPv6
  "http://[fd20:ce::254]/", // Google Cloud over IPv6
  "http://100.100.100.200/latest/meta-data/", // Alibaba Cloud
  "http://192.0.0.192/opc/v2/instance/", // Oracle Cloud, classic
  "http://168.63.129.16/metadata", // Azure's host agent
  "http://169.254.170.2/v2/credentials", // AWS container credentials
  "http://169.254.0.1/",
  "http://[fe80::1]/",
  "http://[fe80::a9fe:a9fe]/",
  "http://224.0.0.1/",
  "http://239.255.255.250:1900/",
  "http://240.0.0.1/",
  "http://255.255.255.255/",
  "http://0.1.2.3/",
  "http://[ff02::1]/",
  "http://metadata.google.internal/computeMetadata/v1/",
  "http://METADATA.google.internal./",
  "http://metadata.goog/",
  "http://metadata/computeMetadata/v1/",
  "http://instance-data/latest/",
  "http://instance-data.ec2.internal/latest/",
  "http://metadata.tencentyun.com/latest/meta-data/",
  "http://metadata.platformequinix.com/metadata",
];

/** Names of inner networks, whatever a resolver says about them. */
export const INNER_NAMES: readonly string[] = [
  "intranet",
  "printer.local",
  "kubernetes.default.svc.cluster.local",
  "vault.corp.internal",
  "a.localhost",
  "host.localdomain",
  "wiki.intranet",
  "db.private",
  "mail.corp",
  "nas.home",
  "router.home.arpa",
  "box.lan",
  "x.alt",
];

/** As their own resolvers would not say: public, so that only the check of the name refuses them. */
const METADATA_NAMES = FORBIDDEN_ADDRESSES.map((url) => new URL(url).hostname.replace(/\.$/, "")).filter(
  (host) => /[a-z]$/.test(host),
);

/** A resolver's table with every answer that has fooled somebody. */
export const HOSTILE_DNS: Record<string, readonly string[]> = {
  "site.test": ["127.0.0.1"],
  "inner.test": ["127.0.0.1"],
  "inner6.test": ["::1"],
  "mapped.test": ["::ffff:127.0.0.1"],
  "nat64.test": ["64:ff9b::7f00:1"],
  "mixed.test": ["93.184.215.14", "127.0.0.1"],
  "mixed-last.test": ["2606:2800:21f:cb07:6820:80da:af6b:8b2c", "93.184.215.14", "10.0.0.1"],
  "meta.test": ["169.254.169.254"],
  "zone.test": ["fe80::1%eth0"],
  "unspecified.test": ["0.0.0.0"],
  "garbage.test": ["not-an-address"],
  "empty.test": [],
  "127.0.0.1.nip.test": ["127.0.0.1"],
  "public.test": ["93.184.215.14"],
  ...Object.fromEntries([...INNER_NAMES, ...METADATA_NAMES].map((name) => [name, ["93.184.215.14"]])),
};
