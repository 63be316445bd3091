import { makeCertificate } from "./certificates.ts";
import { type ServedSite, serveSite } from "./site.ts";

/** The ports that the documentation's examples name: HTTP, and HTTPS with a certificate that no machine knows. */
export const SAMPLE_PORTS = { http: 38000, https: 38001 };

export type SampleSite = AsyncDisposable & { readonly http: ServedSite; readonly https: ServedSite };

const html = (body: string, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(`<!doctype html><html lang="en">${body}`, {
    headers: { "content-type": "text/html; charset=utf-8", ...headers },
  });

/** An application's page: its script writes its text. */
const APP = `<title>Tides</title><div id="root"></div>
<script>document.getElementById("root").innerHTML = "<main><article><h1>Tides</h1><p>The sea rises and falls twice a day.</p></article></main>"</script>`;

const LOGIN = `<title>Log in</title><main><h1>Log in</h1><p>Any name and password will do.</p>
<form method="post" action="/members/login"><input name="name" aria-label="Name"> <input name="password" type="password" aria-label="Password"> <button>Log in</button></form></main>`;

const ACCOUNT = `<title>Your tools</title><main><h1>Your tools</h1><p>You have borrowed a brace and bit until Friday. <a href="/members/notes">Read the notes of the members</a>.</p></main>`;

const NOTES = `<title>Notes of the members</title><main><h1>Notes of the members</h1><p>The long ladder is at the mill. <a href="/members/account">Back to your tools</a>.</p></main>`;

const redirect = (location: string, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(null, { status: 303, headers: { location, ...headers } });

const LOGGED_IN = { "set-cookie": "member=marta; Path=/members/; HttpOnly; Max-Age=86400" };

/** An answer that comes when nobody waits for it any more. */
const never = (signal: AbortSignal): Promise<Response> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(new Response(null))));

function answerMember(request: Request, path: string): Response {
  if (path === "/members/login" && request.method === "POST") return redirect("/members/account", LOGGED_IN);
  if (path === "/members/welcome") return redirect("/members/account", LOGGED_IN);
  const isMember =
    /\bmember=marta\b/.test(request.headers.get("cookie") ?? "") ||
    /^Bearer ./.test(request.headers.get("authorization") ?? "");
  if (path === "/members/" || !isMember) return path === "/members/" ? html(LOGIN) : redirect("/members/");
  return html(path === "/members/notes" ? NOTES : ACCOUNT);
}

/**
 * Serves the site that the documentation's examples read: the website of `test/site`; `/app`, which a script fills;
 * `/blocked`, which refuses this program; `/slow`, which never answers; `/members/`, which asks for a login; and
 * `/authority.pem`, the certificate of the HTTPS side. It also serves as a proxy for its own pages.
 * @throws when a port is taken
 */
export async function serveSampleSite(ports: {
  readonly http: number;
  readonly https: number;
}): Promise<SampleSite> {
  const certificate = await makeCertificate("localhost");
  const https = await serveSite({ port: ports.https, tls: certificate });
  const answer = (request: Request, { pathname }: URL): Response | Promise<Response> | null => {
    if (pathname === "/app") return html(APP);
    if (pathname === "/slow") return never(request.signal);
    if (pathname === "/authority.pem") return new Response(certificate.cert);
    if (pathname === "/blocked" && request.headers.get("user-agent")?.startsWith("article-extractor"))
      return new Response("no programs", { status: 403 });
    if (pathname === "/blocked")
      return html("<title>For people</title><h1>For people</h1><p>Welcome, reader.</p>");
    return pathname.startsWith("/members/") ? answerMember(request, pathname) : null;
  };
  const http = await serveSite({ port: ports.http, answer }).catch(async (error) => {
    await https[Symbol.asyncDispose]();
    throw error;
  });
  return {
    http,
    https,
    async [Symbol.asyncDispose]() {
      await http[Symbol.asyncDispose]();
      await https[Symbol.asyncDispose]();
    },
  };
}

/** The first of two ports in a row that are free now. */
export function freePorts(): number {
  for (;;) {
    const first = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    try {
      Bun.listen({ hostname: "127.0.0.1", port: first.port + 1, socket: { data() {} } }).stop(true);
      return first.port;
    } catch {
      // The next one is taken; try another pair.
    } finally {
      first.stop(true);
    }
  }
}
