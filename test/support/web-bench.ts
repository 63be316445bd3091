import { DocsSite } from "./docs-site.ts";
import { documentsOf } from "./git-tenant.ts";
import { temporaryDirectory } from "./temporary.ts";
import { openWebTenant, type WebTenant, type WebTenantOptions } from "./web-tenant.ts";

/** A website and a directory for the tenants of it, new for each test. */
export type WebBench = AsyncDisposable & {
  readonly site: DocsSite;
  readonly rootDir: string;
  /** Opens a tenant with these fields, which is closed with the bench. */
  open(tenant: Readonly<Record<string, unknown>>, more?: Partial<WebTenantOptions>): WebTenant;
  /** Opens a tenant that reads the site's sitemap. */
  bySitemap(): WebTenant;
};

export async function openWebBench(): Promise<WebBench> {
  const site = new DocsSite();
  const { path: rootDir, ...place } = temporaryDirectory();
  const opened: WebTenant[] = [];
  const open: WebBench["open"] = (tenant, more = {}) => {
    const web = openWebTenant({ rootDir, tenant, ...more });
    opened.push(web);
    return web;
  };
  return {
    site,
    rootDir,
    open,
    bySitemap: () => open({ docs_sitemap_url: site.sitemap }),
    async [Symbol.asyncDispose]() {
      for (const tenant of opened) await tenant[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
      place[Symbol.dispose]();
    },
  };
}

/** Gives the titles of a tenant's documents in their order. */
export const titlesOf = async ({ source }: WebTenant): Promise<string[]> =>
  [...(await documentsOf(source)).values()].map(({ title }) => title).sort();
