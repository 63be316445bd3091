/**
 * Why a file of a folder or repository is not in the index. Of those with `isTrouble` a person would expect
 * that they are; the others are left out as they should be.
 */
export const LEFT_OUT_REASONS = {
  hidden: { text: "the name begins with a dot", isTrouble: false },
  excluded: { text: "an exclude pattern matches it", isTrouble: false },
  not_included: { text: "no include pattern matches it", isTrouble: false },
  unknown_kind: { text: "files of this kind are not read", isTrouble: false },
  duplicate: { text: "another file has the same document", isTrouble: false },
  empty: { text: "it holds no words", isTrouble: false },
  lfs_pointer: { text: "its content is in Git LFS", isTrouble: false },
  submodule: { text: "it is another repository", isTrouble: false },
  link: { text: "it is a symbolic link", isTrouble: false },
  special: { text: "it is not a regular file", isTrouble: false },
  too_large: { text: "it is too large", isTrouble: true },
  not_text: { text: "it is not text", isTrouble: true },
  unreadable: { text: "it could not be read", isTrouble: true },
  bad_name: { text: "its name cannot be used", isTrouble: true },
  too_many: { text: "there are too many files", isTrouble: true },
  failed: { text: "reading or analysing it failed", isTrouble: true },
} as const satisfies Readonly<Record<string, { readonly text: string; readonly isTrouble: boolean }>>;

export type LeftOutReason = keyof typeof LEFT_OUT_REASONS;

/** A file that is not in the index. */
export type LeftOut = {
  /** Below the folder or repository, with `/`; a folder that is left out as a whole ends in a slash. */
  readonly path: string;
  readonly reason: LeftOutReason;
  /** More about this file, in words. */
  readonly detail?: string;
};

/** Says in words why a file is left out. */
export const leftOutText = ({ reason, detail }: Pick<LeftOut, "reason" | "detail">): string =>
  detail ?? LEFT_OUT_REASONS[reason].text;
