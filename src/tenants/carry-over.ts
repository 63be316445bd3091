import { pause } from "../base/abort.ts";
import { Failure } from "../base/failure.ts";
import { Place, type PlaceOptions } from "./place.ts";
import type { TenantSettings } from "./settings.ts";
import type { SyncBook, TenantWork } from "./sync-book.ts";

/**
 * Gives a tenant another codename, and with it the index, the memory and the record that it has. A program that is
 * killed meanwhile leaves what the next sync completes.
 * @param change changes the deployment file
 * @returns why its index has to be built anew; null when it came along
 */
export async function carryOver(
  tenant: TenantSettings,
  codename: string,
  options: PlaceOptions & { readonly book: SyncBook },
  change: () => Promise<void>,
): Promise<string | null> {
  const { book } = options;
  const former = new Place(tenant, options);
  const place = new Place({ ...tenant, codename }, options);
  // A server that reads the changed file begins to sync under the new codename, and must not before all is there.
  await using work = await book.begin(place.key);
  await change();
  await using last = await beginSoon(book, former.key);
  if (!work || !last) return "another process is syncing it";
  try {
    if (!(await place.adopt(former))) return "it has none yet";
    await book.inherit(former.key, place.key);
    // Addresses of its documents may begin with the codename.
    await work.write({ needsBuild: true });
    return null;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

const WAIT_MS = 5_000;
const TRY_EVERY_MS = 100;

/** Begins once the sync of a server has ended, which it does when the tenant is gone from the file. */
async function beginSoon(book: SyncBook, key: string): Promise<TenantWork | null> {
  for (const wait = AbortSignal.timeout(WAIT_MS); !wait.aborted; await pause(TRY_EVERY_MS, wait)) {
    const work = await book.begin(key);
    if (work) return work;
  }
  return null;
}
