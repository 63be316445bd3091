/** Reads a count of at least 1 from the command line; null when the option is absent or empty. */
export function parseCount(option: string, value: string | undefined): number | null {
  if (value === undefined || value === "") return null;
  const count = Number(value);
  if (!(Number.isInteger(count) && count > 0))
    throw new Error(`${option} ${value} is not a count of 1 or more`);
  return count;
}

/** Reads names separated by commas, each of them one of the choices. */
export function parseNames<Name extends string>(
  option: string,
  value: string | undefined,
  choices: readonly Name[],
): readonly Name[] {
  const names = (value ?? "").split(",").filter((name) => name !== "");
  return names.map((name) => {
    const choice = choices.find((candidate) => candidate === name);
    if (choice === undefined) throw new Error(`${option} ${name}: choose among ${choices.join(", ")}`);
    return choice;
  });
}
