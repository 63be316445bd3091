import type project from "../../project.json";
import type { Platform } from "./platforms.ts";

/** What all packages of one version have in common. */
export type Release = {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  /** Names and addresses; null where the owner has none yet. */
  readonly project: { readonly [Name in keyof typeof project]: string | null } & {
    readonly [Name in "npm_package" | "pypi_package"]: string;
  };
  /** Of all files in all packages, so that equal inputs give equal packages. */
  readonly date: Date;
  readonly readme: string;
  readonly licenseText: string;
};

/** The program for one platform. */
export type Program = { readonly platform: Platform; readonly bytes: Uint8Array };

/** A finished file beside others of the release. */
export type Asset = { readonly name: string; readonly bytes: Uint8Array | string };
