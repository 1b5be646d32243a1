/** Which ports a ruleset of nftables (`nft -j list ruleset`) may close. Pure. */

export interface Ports {
  readonly protocol: string;
  readonly from: number;
  readonly to: number;
}

type Json = { readonly [key: string]: unknown };

/**
 * @returns those of `wanted` that no accepting rule names; null: no chain drops what comes in by its policy. A rule
 * that accepts from certain addresses only counts as one that names its ports.
 */
export function closedPorts(ruleset: string, wanted: readonly Ports[]): Ports[] | null {
  const { nftables } = objectOf(JSON.parse(ruleset));
  const items = Array.isArray(nftables) ? nftables.map(objectOf) : [];
  const dropping = items.some(({ chain }) => {
    const { hook, policy } = objectOf(chain);
    return hook === 'input' && policy === 'drop';
  });
  if (!dropping) return null;
  const rules = items.flatMap(({ rule }) => {
    const { expr } = objectOf(rule);
    return Array.isArray(expr) && expr.some((one) => 'accept' in objectOf(one)) ? [expr.map(objectOf)] : [];
  });
  return wanted.filter((ports) => !rules.some((rule) => accepts(rule, ports)));
}

/** Whether a rule that accepts names all of the ports. */
function accepts(rule: readonly Json[], { protocol, from, to }: Ports): boolean {
  return rule.some(({ match }) => {
    const { left, right } = objectOf(match);
    const { payload } = objectOf(left);
    const { protocol: its, field } = objectOf(payload);
    if (field !== 'dport' || (its !== protocol && its !== 'th')) return false;
    return rangesOf(right).some(([first, last]) => first <= from && to <= last);
  });
}

/** Of a number, a range, or a set of both. */
function rangesOf(right: unknown): [number, number][] {
  if (typeof right === 'number') return [[right, right]];
  const { range, set } = objectOf(right);
  if (Array.isArray(range)) return [[Number(range[0]), Number(range[1])]];
  return Array.isArray(set) ? set.flatMap(rangesOf) : [];
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
