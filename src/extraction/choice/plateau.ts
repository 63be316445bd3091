/** The word-weighted mean probability of the blocks that are more likely content than not. */
export function plateauOf(
  p: Float32Array,
  weight: Float32Array,
): { readonly plateau: number; readonly shareAboveHalf: number } {
  let mass = 0;
  let above = 0;
  let total = 0;
  for (let index = 0; index < p.length; index++) {
    total += weight[index]!;
    if (p[index]! <= 0.5) continue;
    above += weight[index]!;
    mass += weight[index]! * p[index]!;
  }
  return { plateau: above === 0 ? 0 : mass / above, shareAboveHalf: total === 0 ? 0 : above / total };
}
