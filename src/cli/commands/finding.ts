/** What was looked at: `note` takes nothing away from what is asked for, `problem` does. */
export type Finding = {
  readonly name: string;
  readonly status: "ok" | "note" | "problem";
  readonly detail: string;
};
