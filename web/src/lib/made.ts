// A made-up table for people who have class names and shares but no data: one bell-shaped score per class, higher for the members of
// the class. The server treats it as any uploaded table.

/** mulberry32: small, repeatable, good enough for scores that nobody relies on. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const ROWS = 2000;
/** Fewer rows of a class than this cannot be split into two halves that measure anything. */
const LEAST_ROWS = 40;

/** separation: distance between members and others in standard deviations. */
export function madeUpTable(names: readonly string[], shares: readonly number[], separation: number): string {
  const random = generator(20_210_608);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const total = shares.reduce((a, b) => a + b, 0);
  const lines = [[...names.map((_, i) => `score${i + 1}`), 'label'].join(',')];
  names.forEach((_, truth) => {
    const rows = Math.max(LEAST_ROWS, Math.round((ROWS * (shares[truth] ?? 0)) / total));
    for (let r = 0; r < rows; r++) {
      const scores = names.map((__, i) => (normal() + (i === truth ? separation : 0)).toFixed(4));
      // Numbers keep the order of the classes as the person gave it; names are put on by "rename".
      lines.push([...scores, String(truth)].join(','));
    }
  });
  return `${lines.join('\n')}\n`;
}
