import { isDeepStrictEqual } from "node:util";
import { Failure } from "../../base/failure.ts";
import { didYouMean } from "../../base/nearest.ts";
import { parseJsonc, withElement, withoutElement } from "./jsonc.ts";
import { type ReadOptions, readDeployment } from "./read.ts";

/** A tenant with the names that `deployment.json` has for its fields. */
export type TenantFields = Readonly<Record<string, unknown>> & { readonly codename: string };

const TENANTS = "tenants";

/**
 * Adds a tenant to the text of a `deployment.json`, after the others and in their style; comments stay.
 * @throws Failure `invalid_settings` when the text is no deployment, or would be none with the tenant
 */
export function withTenant(text: string, tenant: TenantFields, options: ReadOptions): string {
  const { tenants } = readDeployment(text, options);
  if (tenants.some(({ codename }) => codename === tenant.codename))
    throw new Failure(
      "invalid_usage",
      `${options.name} has a tenant '${tenant.codename}' already; name another codename`,
    );
  const next = withElement(text, TENANTS, tenant);
  return requireChange(next, [...rawTenants(text, options), tenant], options);
}

/**
 * Takes a tenant out of the text of a `deployment.json`; all else stays, comments beside the tenant included.
 * @throws Failure `invalid_settings` when the text is no deployment; `unknown_tenant` that names the nearest
 */
export function withoutTenant(text: string, codename: string, options: ReadOptions): string {
  const codenames = readDeployment(text, options).tenants.map((tenant) => tenant.codename);
  const index = codenames.indexOf(codename);
  if (index < 0)
    throw new Failure(
      "unknown_tenant",
      `${options.name} has no tenant '${codename.slice(0, 100)}'${didYouMean(codename, codenames)}`,
    );
  const next = withoutElement(text, TENANTS, index);
  return requireChange(next, rawTenants(text, options).toSpliced(index, 1), options);
}

const rawTenants = (text: string, { name }: ReadOptions): readonly unknown[] =>
  (parseJsonc(text, name) as { readonly tenants: readonly unknown[] }).tenants;

/** @throws Failure `invalid_settings` when another change was made, as in a file that has its list twice */
function requireChange(next: string, tenants: readonly unknown[], options: ReadOptions): string {
  readDeployment(next, options);
  if (isDeepStrictEqual(rawTenants(next, options), tenants)) return next;
  throw new Failure(
    "invalid_settings",
    `${options.name}: its list of tenants cannot be changed; change it by hand`,
  );
}
