import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FilesystemTenant } from "../../src/tenants/settings.ts";
import { filesystemSource as openFolderSource } from "../../src/tenants/source/open-source.ts";
import { DocsSite, htmlPage, proseOf } from "../support/docs-site.ts";
import { serveGit } from "../support/git-server.ts";
import { gitTenantSource } from "../support/git-tenant.ts";
import { openWebTenant, type WebTenant } from "../support/web-tenant.ts";
import { describeSource, type Texts } from "./source.contract.ts";

const markdownFiles = (texts: Texts): Record<string, string> =>
  Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [`docs/${name}.md`, `# ${text}\n\n${proseOf(name)}\n`]),
  );

describeSource("a folder", async () => {
  const parent = await mkdtemp(join(tmpdir(), "folder-source-"));
  const rootDir = join(parent, "docs");
  const tenant = { source: "filesystem", codename: "folder", rootDir } as FilesystemTenant; // what the source reads of it
  return {
    open: () => openFolderSource(tenant, async () => null),
    publish: async (texts) => {
      await rm(rootDir, { recursive: true, force: true });
      await mkdir(rootDir);
      for (const [path, text] of Object.entries(markdownFiles(texts)))
        await writeFile(join(parent, path), text);
    },
    breakPlace: null,
    syncsToRemove: 1,
    [Symbol.asyncDispose]: () => rm(parent, { recursive: true }),
  };
});

describeSource("a git repository", async () => {
  const server = await serveGit();
  const repository = await server.create("docs");
  const rootDir = await mkdtemp(join(tmpdir(), "git-source-"));
  return {
    open: () => gitTenantSource({ rootDir, url: `${server.origin}/docs.git` }).source,
    publish: async (texts) => {
      server.intercept(null);
      await repository.commit(markdownFiles(texts));
    },
    breakPlace: () => server.intercept(() => new Response("down", { status: 503 })),
    syncsToRemove: 1,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await rm(rootDir, { recursive: true });
    },
  };
});

describeSource("a website", async () => {
  const site = new DocsSite();
  const rootDir = await mkdtemp(join(tmpdir(), "web-source-"));
  const opened: WebTenant[] = [];
  return {
    open: () => {
      const web = openWebTenant({ rootDir, tenant: { docs_sitemap_url: site.sitemap } });
      opened.push(web);
      return web.source;
    },
    publish: async (texts) => {
      site.intercept = null;
      site.pages.clear();
      for (const [name, text] of Object.entries(texts))
        site.pages.set(`/docs/${encodeURIComponent(name)}`, {
          body: htmlPage(text.replace("&", "&amp;").replace("<", "&lt;"), proseOf(name)),
        });
    },
    breakPlace: () => {
      site.intercept = () => new Response("down", { status: 500 });
    },
    syncsToRemove: 2,
    [Symbol.asyncDispose]: async () => {
      for (const web of opened) await web[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
      await rm(rootDir, { recursive: true });
    },
  };
});
