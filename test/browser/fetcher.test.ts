import { describe, expect, test } from "bun:test";
import { createBrowsingSession, type Fetcher } from "../../src/fetching/index.ts";
import { describeFetcher } from "../contract/fetcher.ts";
import { openTestHost, type TestBrowserOptions, testBrowserFetcher } from "../support/browser-fetcher.ts";
import { type Route, reply, startFaultySite } from "../support/faulty-site.ts";
import { forAllTests } from "../support/for-all-tests.ts";
import { failureOf, pageUrl } from "../support/test-fetcher.ts";

const host = forAllTests(openTestHost());
const html =
  (body: string, headers = {}): Route =>
  ({ socket }) =>
    reply(socket, { body: `<!doctype html>${body}`, headers });
const script = (code: string): Route => html(`<title>t</title><p id=p>start</p><script>${code}</script>`);

const SHADOW = `<x-card><b slot=name>named</b>rest</x-card><script>
  customElements.define("x-card", class extends HTMLElement {
    connectedCallback() {
      this.attachShadow({ mode: "open" }).innerHTML =
        "<h2>in shadow &lt;1&gt;</h2><slot name=name></slot><slot></slot><slot name=none>fallback</slot>";
    }
  });
</script>`;

const ROUTES: Readonly<Record<string, Route>> = {
  "/spa": script(`setTimeout(async () => {
    const text = await (await fetch("/data.json")).text();
    document.body.innerHTML = "<article>" + text + "</article>";
    history.replaceState(null, "", "/spa/moved");
  }, 300)`),
  "/data.json": ({ socket }) =>
    reply(socket, { body: "from the data", headers: { "content-type": "text/plain" } }),
  "/shadow": html(SHADOW),
  "/frames": html('<p>outer</p><iframe src="/page"></iframe><iframe srcdoc="<p>inline</p>"></iframe>'),
  "/slow-frames": html(
    '<p>outer</p><iframe src="/slow-headers?ms=1500"></iframe><iframe src="/slow-frames/inner"></iframe><iframe loading=lazy style="margin-top:9000px" src="/text-frame?lazy"></iframe>',
  ),
  "/slow-frames/inner": script(`setTimeout(async () => {
    const text = await (await fetch("/data.json")).text();
    document.body.innerHTML = "<p>" + text + "</p><iframe srcdoc='<p>third level</p>'></iframe>";
  }, 300)`),
  "/text-frame": html("<p>seen late</p>"),
  "/nothing": ({ socket }) => reply(socket, { status: 204 }),
  "/empty-frames": html('<p>outer</p><iframe src="/nothing"></iframe><iframe src=""></iframe>'),
  "/filled-frame": html(
    `<iframe></iframe><script>frames[0].document.body.innerHTML = "<p>filled by a script</p>"</script>`,
  ),
  "/shadow-late": html(`<x-late></x-late><script>
    const root = document.querySelector("x-late").attachShadow({ mode: "open" });
    let n = 0; const timer = setInterval(() => { root.innerHTML += "<p>step " + n++ + "</p>"; if (n > 8) clearInterval(timer); }, 150);
  </script>`),
  "/scroll": script(`let n = 0;
    const more = () => { for (let i = 0; i < 10; i++) { const d = document.createElement("p");
      d.style.height = "200px"; d.textContent = "item " + n++; document.body.append(d); } };
    more();
    addEventListener("scroll", () => { if (n < 40 && innerHeight + scrollY > document.documentElement.scrollHeight - 300) more(); });`),
  "/no-timers": script(
    `window.setTimeout = () => 0; fetch("/data.json").then(async (answer) => { p.textContent = await answer.text(); })`,
  ),
  "/traces":
    script(`p.textContent = [history.length, window.name, sessionStorage.seen, window.seen].join("|");
    window.name = sessionStorage.seen = window.seen = "seen before";
    setTimeout(() => setInterval(() => { new Image().src = "/i.png?rests"; open("/page?rests"); }, 50), 800);`),
  "/broken-timers": script(
    `window.setTimeout = null; fetch("/data.json").then(async (answer) => { p.textContent = await answer.text(); })`,
  ),
  "/late": script(`setTimeout(() => { p.outerHTML = "<p class=done>late</p>"; }, 1500)`),
  "/dialogs": script(
    `alert("a"); confirm("b"); prompt("c"); addEventListener("beforeunload", (e) => e.preventDefault()); p.textContent = "after"`,
  ),
  "/popups": script(`for (let i = 0; i < 20; i++) window.open("/page?popup=" + i); p.textContent = "after"`),
  "/download": ({ socket }) =>
    reply(socket, { body: "x", headers: { "content-disposition": "attachment; filename=a.html" } }),
  "/never-rests": script(`setInterval(() => { p.textContent = "tick " + Date.now(); }, 20)`),
  "/busy": script("for (;;) {}"),
  "/memory": script("const a = []; for (;;) a.push(new Array(1e6).fill(Math.random()))"),
  "/buffers": script("const a = []; for (;;) a.push(new Uint8Array(8e6).fill(7))"),
  "/shared": script(
    "const a = []; setInterval(() => { const c = new OffscreenCanvas(2000, 2000); c.getContext('2d').fillRect(0, 0, 9, 9); a.push(c, new Uint8Array(8e6).fill(7)) }, 1)",
  ),
  "/window-chain": script(`window.open("/window-chain?" + Math.random()); p.textContent = "after"`),
  "/database": script(`const opening = indexedDB.open("login", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("tokens");
    opening.onsuccess = () => {
      const tokens = opening.result.transaction("tokens", "readwrite").objectStore("tokens");
      const reading = tokens.get("token");
      reading.onsuccess = () => {
        p.textContent = reading.result ? "token " + reading.result : "none";
        fetch("/data.json?" + p.textContent.split(" ")[0]);
      };
      if (location.search === "?log-in") tokens.put("t1", "token");
    }`),
  "/false-length": script(
    `const long = { length: 0, toString: () => "x".repeat(5e6) };
    Object.defineProperty(document.documentElement, "outerHTML", { get: () => long });`,
  ),
  "/windows": script(
    "setInterval(() => window.open('/page?window'), 1); setInterval(() => { open('about:blank') }, 1)",
  ),
  "/loads": script(
    "(async () => { for (;;) await (await fetch('/bytes?n=2000000&' + Math.random())).text(); })()",
  ),
  "/client-redirects": script(`location.replace("/client-redirects?" + Math.random())`),
  "/moves-on": script(`location.href = "/page"`),
  "/moves-on-later": script(`setTimeout(() => { location.href = "/moves-on-later/2"; }, 200)`),
  "/moves-on-later/2": script(`setTimeout(() => { location.href = "/page"; }, 200)`),
  "/large": ({ socket }) => reply(socket, { body: `<p>${"x".repeat(3_000_000)}` }),
  "/media": html(
    '<img src="/i.png"><video src="/v.mp4"></video><style>@font-face{font-family:f;src:url(/f.woff2)} p{font-family:f}</style><p>text</p>',
  ),
  "/login": html(
    `<form method=post action=/session><input name=u></form><script>document.forms[0].submit()</script>`,
  ),
  "/session": ({ socket }) =>
    reply(socket, { status: 302, headers: { location: "/members", "set-cookie": "sid=1; Path=/" } }),
  "/empty-404": ({ socket }) => reply(socket, { status: 404 }),
  "/members": ({ socket, request }) =>
    reply(socket, { body: request.headers.cookie?.includes("sid=1") ? "<p>welcome back" : "<p>log in" }),
};

const site = forAllTests(await startFaultySite({ routes: ROUTES }));
const browser = (options: Partial<TestBrowserOptions> = {}): Fetcher =>
  testBrowserFetcher({ host, ...options });
const fetcher = forAllTests(browser());
const at = (path: string) => pageUrl(`${site.origin}${path}`);
const htmlOf = async (path: string, by = fetcher): Promise<string> => (await by.fetch(at(path))).html;

describeFetcher({
  name: "the browser fetcher",
  make: async (requestTimeoutMs) => browser({ limits: { requestTimeoutMs, pageBytes: 100_000, tries: 1 } }),
});

describe("the browser fetcher", () => {
  test("waits for what scripts fetch, and says where they went", async () => {
    const page = await fetcher.fetch(at("/spa"));
    expect(page.html).toContain("<article>from the data</article>");
    expect(page).toMatchObject({ finalUrl: at("/spa/moved"), fetchedBy: "browser", status: 200 });
  });

  test.each<readonly [name: string, path: string, ...parts: string[]]>([
    [
      "takes open shadow roots along, slots filled",
      "/shadow",
      '<x-card><h2>in shadow &lt;1&gt;</h2><b slot="name">named</b>restfallback</x-card>',
    ],
    ["takes frames of the same origin along", "/frames", "outer", "A page of the site.", "inline"],
    [
      "waits for frames that come late, and for what their scripts fetch",
      "/slow-frames",
      "outer",
      "A page of the site.",
      "from the data",
      "third level",
      "seen late",
    ],
    ["is not held by frames that have no document", "/empty-frames", "outer"],
    ["takes what a script writes into a frame", "/filled-frame", "filled by a script"],
    ["waits while a shadow root changes", "/shadow-late", "step 8"],
    ["waits for a page whose scripts took its timers away", "/no-timers", "from the data"],
    ["waits for a page whose scripts broke its timers", "/broken-timers", "from the data"],
    ["is not held by dialogs", "/dialogs", "after"],
    ["closes windows that a page opens", "/popups", "after"],
    ["takes a page that never rests as it is", "/never-rests", "tick"],
  ])("%s", async (_, path, ...parts) => {
    const text = await htmlOf(path);
    for (const part of parts) expect(text).toContain(part);
  });

  test("scrolls when asked to", async () => {
    await using scrolling = browser({ behaviour: { scrolls: true } });
    expect(await htmlOf("/scroll")).not.toContain("item 39");
    expect(await htmlOf("/scroll", scrolling)).toContain("item 39");
  });

  test("waits for an element when asked to, so long", async () => {
    await using patient = browser({ behaviour: { waitFor: "p.done" } });
    expect(await htmlOf("/late", patient)).toContain("late");
    await using hasty = browser({ behaviour: { waitFor: "p.never" }, limits: { requestTimeoutMs: 8000 } });
    const failure = await failureOf(hasty.fetch(at("/page")));
    expect(failure?.message).toContain('nothing matched "p.never" within 8000 ms');
  });

  test("saves no files", async () => {
    expect((await failureOf(fetcher.fetch(at("/download"))))?.code).toBe("unsupported_content");
  });

  test("follows a page that goes on to another", async () => {
    expect((await fetcher.fetch(at("/moves-on"))).finalUrl).toBe(at("/page"));
  });

  test("follows a page that goes on after a while", async () => {
    const page = await fetcher.fetch(at("/moves-on-later"), { tries: 1 });
    expect(page.finalUrl).toBe(at("/page"));
    expect(page.html).toContain("A page of the site.");
  });

  test("leaves media alone unless asked for them", async () => {
    await htmlOf("/media");
    const asked = (): string[] =>
      site.requests.map(({ target }) => target).filter((t) => /^\/[ivf]\./.test(t));
    expect(asked()).toEqual([]);
    await using loading = browser({ behaviour: { loadsMedia: true } });
    await htmlOf("/media", loading);
    expect(asked()).toContain("/i.png");
  });

  test("keeps cookies from page to page, and to itself", async () => {
    await using mine = browser();
    expect(await htmlOf("/login", mine)).toContain("welcome back");
    expect(await htmlOf("/members", mine)).toContain("welcome back");
    await using other = browser();
    expect(await htmlOf("/members", other)).toContain("log in");
  });

  test("sends secrets to the origin of the URL and to no other", async () => {
    await using other = await startFaultySite();
    await using mine = browser({ headers: { authorization: "Bearer t0ken", "x-shown": "1" } });
    await htmlOf(`/redirect?to=${encodeURIComponent(`${other.origin}/echo`)}`, mine);
    await htmlOf("/echo", mine);
    expect(site.requests.at(-1)?.headers).toMatchObject({ authorization: "Bearer t0ken", "x-shown": "1" });
    expect(other.requests[0]?.headers.authorization).toBeUndefined();
  });

  describe("with a person at its window", () => {
    const never = new Promise<void>(() => {});
    const pausing = (timeoutMs: number): Fetcher =>
      browser({ pause: { timeoutMs, untilDone: () => never }, limits: { tries: 1 } });

    test("says what is wrong with a page that cannot be shown", async () => {
      await using paused = pausing(60_000);
      const failure = await failureOf(paused.fetch(pageUrl("https://127.0.0.1:9/")));
      expect([failure?.code, failure?.message]).toEqual([
        "network",
        "GET https://127.0.0.1:9/: browsers refuse this port (ERR_UNSAFE_PORT)",
      ]);
    });

    test.each(["/page?shown", "/slow-headers?ms=100000"])(
      "ends at once when %s is called off",
      async (path) => {
        await using paused = pausing(60_000);
        const controller = new AbortController();
        const work = failureOf(paused.fetch(at(path), { signal: controller.signal }));
        while (!site.requests.some(({ target }) => target === path)) await Bun.sleep(10);
        controller.abort();
        expect((await work)?.code).toBe("cancelled");
      },
    );

    test("keeps what a login has put into a database, for the next context too", async () => {
      const session = createBrowsingSession(null, Date.now);
      const asked = Promise.withResolvers<void>();
      const pause = { timeoutMs: 60_000, untilDone: () => asked.promise };
      await using first = browser({ pause, session });
      const login = first.fetch(at("/database?log-in"));
      while (!site.requests.some(({ target }) => target === "/data.json?none")) await Bun.sleep(10);
      asked.resolve();
      await login;
      await using next = browser({ session });
      expect(await htmlOf("/database", next)).toContain("token t1");
      await using other = browser();
      expect(await htmlOf("/database", other)).toContain("none");
    });

    test("goes on after the time, for all pages at once", async () => {
      await using paused = pausing(200);
      await Promise.all([paused.fetch(at("/page?p=1")), paused.fetch(at("/page?p=2"))]);
      const asked = site.requests.filter(({ target }) => /^\/page\?p=/.test(target)).length;
      expect(asked).toBe(3);
    });
  });

  test("asks again for what may come a moment later", async () => {
    const page = await fetcher.fetch(at("/flaky?status=503&times=1&browser"));
    expect(page).toMatchObject({ status: 200, tries: 2 });
  });

  test.each(["/memory", "/buffers", "/shared"])(
    "%s ends as too large, and the others go on",
    async (path) => {
      await using mean = openTestHost({ maxPageMb: 250 });
      await using hungry = testBrowserFetcher({ host: mean, behaviour: { waitFor: "p.never" } });
      await using modest = testBrowserFetcher({ host: mean, behaviour: { waitFor: "p.done" } });
      const [failure, page] = await Promise.all([
        failureOf(hungry.fetch(at(path))),
        modest.fetch(at("/late")),
      ]);
      expect([failure?.code, failure?.message]).toEqual([
        "too_large",
        `GET ${at(path)}: the page takes too much memory`,
      ]);
      expect(page).toMatchObject({ status: 200, tries: 1 });
      expect(await htmlOf("/late", modest)).toContain("late");
    },
  );

  test("a page whose scripts never yield ends at the deadline, and the next page comes", async () => {
    const failure = await failureOf(fetcher.fetch(at("/busy"), { deadlineMs: 3000 }));
    expect(failure?.code).toBe("timeout");
    expect(await htmlOf("/page")).toContain("A page of the site.");
  });

  test("a page whose scripts go on to another without end is told so", async () => {
    const failure = await failureOf(fetcher.fetch(at("/client-redirects")));
    expect([failure?.code, failure?.message]).toEqual([
      "network",
      `GET ${at("/client-redirects")}: its scripts lead to another page more than 20 times`,
    ]);
    expect(await htmlOf("/page")).toContain("A page of the site.");
  });

  test("no window that a page opens lives on after it", async () => {
    await using mine = browser();
    expect(await htmlOf("/window-chain", mine)).toContain("after");
    expect(await htmlOf("/page", mine)).toContain("A page of the site.");
    expect(site.requests.filter(({ target }) => target.startsWith("/window-chain?"))).toEqual([]);
  });

  test("a page that opens windows without end is taken as it is", async () => {
    expect(await htmlOf("/windows")).toContain("start");
    expect(await htmlOf("/page")).toContain("A page of the site.");
  });

  test("a tab shows one page after another; they know nothing of each other, and load nothing while it rests", async () => {
    await using mine = browser();
    const traces: (string | undefined)[] = [];
    for (let n = 0; n < 3; n++) {
      const { html } = await mine.fetch(at(`/traces?n=${n}`));
      traces.push(/<p id="p">([^<]*)/.exec(html)?.[1]);
      await Bun.sleep(600);
    }
    // A tab begins with an empty page.
    expect(traces).toEqual(["2|||", "3|||", "4|||"]);
    expect(site.requests.filter(({ target }) => /\?rests$/.test(target))).toEqual([]);
  });

  test("a page of 100 MB, packed or not, ends at its limit", async () => {
    await using hardy = browser({ limits: { pageBytes: 1_000_000, tries: 1 } });
    for (const path of ["/bytes?n=100000000", "/bomb/gzip?mb=100", "/endless"])
      expect([path, (await failureOf(hardy.fetch(at(path))))?.code]).toEqual([path, "too_large"]);
    expect(await htmlOf("/page", hardy)).toContain("A page of the site.");
  });

  test.each([
    ["whose scripts load without end", "/loads"],
    ["whose scripts give it another length", "/false-length"],
    ["over the limit", "/large"],
  ])("a page %s is too_large", async (_, path) => {
    await using small = browser({ limits: { pageBytes: 1_000_000, tries: 1 } });
    expect((await failureOf(small.fetch(at(path))))?.code).toBe("too_large");
  });

  test("an error status without a body is an answer", async () => {
    expect(await fetcher.fetch(at("/empty-404"))).toMatchObject({ status: 404, html: "" });
  });

  test("goes on with new contexts and browsers, cookies kept", async () => {
    await using worn = openTestHost({ maxPages: 3 });
    await using mine = testBrowserFetcher({ host: worn, pagesPerContext: 2 });
    for (let n = 0; n < 6; n++) await mine.fetch(at(`/cookies/set?name=n${n}&value=v`));
    for (let n = 0; n < 5; n++) expect(site.requests.at(-1)?.headers.cookie).toContain(`n${n}=v`);
  });
});
