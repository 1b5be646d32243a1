/** What the rules of a firewall say about ports that come in over IPv4. Pure. */

export interface Ports {
  readonly protocol: string;
  readonly from: number;
  readonly to: number;
}

export interface Firewall {
  /** What writes its rules. */
  readonly kind: 'nftables' | 'iptables' | 'ufw' | 'firewalld';
  /** Whether it drops what no rule accepts. */
  readonly drops: boolean;
  /** Ports that accepting rules name, also those that accept from certain addresses only. */
  readonly open: readonly Ports[];
  /** Rules that may accept ports and cannot be read: those of modules of iptables, and of other maps and sets. */
  readonly unread: { readonly iptables: number; readonly others: number };
}

type Json = { readonly [key: string]: unknown };

const protocols = ['tcp', 'udp'];

/** Of `nft -j list ruleset`. */
export function nftablesRules(ruleset: string): Firewall {
  const items = listOf(objectOf(JSON.parse(ruleset)).nftables).map(objectOf);
  // The other families are IPv6, and bridges.
  const ofKind = (kind: string) =>
    items.map((item) => objectOf(item[kind])).filter(({ family }) => family === 'ip' || family === 'inet');
  const chains = ofKind('chain');
  const sets = new Map(ofKind('set').map((one) => [`${one.family} ${one.table} @${one.name}`, one.elem]));
  const idOf = (rule: Json, name: unknown) => `${rule.family} ${rule.table} ${name}`;
  const rules = ofKind('rule').map((rule) => ({
    chain: idOf(rule, rule.chain),
    expressions: listOf(rule.expr).map(objectOf),
    targets: targetsIn(rule.expr).map((name) => idOf(rule, name)),
    setOf: (name: string) => sets.get(idOf(rule, name)),
  }));
  const starts = chains.filter(({ hook }) => hook === 'input');
  const startIds = new Set(starts.map((chain) => idOf(chain, chain.name)));
  const reached = reachedFrom(startIds, rules);
  const open: Ports[] = [];
  const unread = { iptables: 0, others: 0 };
  for (const { expressions, setOf } of rules.filter(({ chain }) => reached.has(chain))) {
    const read = acceptedBy(expressions, setOf);
    if (typeof read === 'string') unread[read] += 1;
    else open.push(...read);
  }
  const drops = starts.some((start) => {
    const whole = rules
      .filter(({ chain }) => chain === idOf(start, start.name))
      .map(({ expressions }) => verdictForAll(expressions))
      .find((verdict) => verdict !== null);
    return (whole ?? (start.policy === 'drop' ? 'drop' : 'accept')) !== 'accept';
  });
  const names = [
    ...chains.map(({ name }) => String(name)),
    ...ofKind('table').map(({ name }) => String(name)),
  ];
  return { kind: kindOf(names, 'nftables'), drops, open, unread };
}

/** Of `iptables -S`. */
export function iptablesRules(text: string): Firewall {
  const rules = text.split('\n').flatMap((line) => {
    const [, chain = '', condition = '', target = ''] = /^-A (\S+)(.*?) -[jg] (\S+)/.exec(line) ?? [];
    return chain === '' ? [] : [{ chain, condition: condition.trim(), target, targets: [target] }];
  });
  const reached = reachedFrom(new Set(['INPUT']), rules);
  const accepting = rules.filter(({ chain, target }) => target === 'ACCEPT' && reached.has(chain));
  const open = accepting.flatMap(({ condition }) => {
    const [, protocol = ''] = /(?:^| )-p (\w+)/.exec(condition) ?? [];
    const [, ports = ''] = /(?<!! )--dports? (\S+)/.exec(condition) ?? [];
    return rangesIn(ports).map(([from, to]) => ({ protocol, from, to }));
  });
  const unread = accepting.filter(({ condition }) => condition.includes('--match-set')).length;
  const policy = /^-P INPUT (\w+)/m.exec(text)?.[1] ?? 'ACCEPT';
  const whole = rules.find(
    ({ chain, condition, target }) =>
      chain === 'INPUT' && condition === '' && ['ACCEPT', 'DROP', 'REJECT'].includes(target),
  );
  return {
    kind: kindOf(
      [...text.matchAll(/^-N (\S+)/gm)].map(([, name = '']) => name),
      'iptables',
    ),
    drops: (whole?.target ?? policy) !== 'ACCEPT',
    open,
    unread: { iptables: unread, others: 0 },
  };
}

/** Those that the firewall drops, or null where rules that cannot be read may accept them. */
export function closedPorts({ drops, open, unread }: Firewall, wanted: readonly Ports[]): Ports[] | null {
  if (!drops) return [];
  const closed = wanted.filter(
    ({ protocol, from, to }) =>
      !open.some((one) => one.protocol === protocol && one.from <= from && to <= one.to),
  );
  return closed.length > 0 && unread.iptables + unread.others > 0 ? null : closed;
}

/** What opens a port, for the program that writes the rules. */
export function commandFor(kind: Firewall['kind'], { protocol, from, to }: Ports): string {
  const range = (separator: string) => (from === to ? String(from) : `${from}${separator}${to}`);
  if (kind === 'ufw') return `ufw allow ${range(':')}/${protocol}`;
  if (kind === 'firewalld') return `firewall-cmd --permanent --add-port=${range('-')}/${protocol}`;
  if (kind === 'iptables') return `iptables -I INPUT -p ${protocol} --dport ${range(':')} -j ACCEPT`;
  return `nft insert rule inet filter input ${protocol} dport ${range('-')} accept`;
}

function kindOf(names: readonly string[], otherwise: 'nftables' | 'iptables'): Firewall['kind'] {
  if (names.some((name) => name.startsWith('ufw-'))) return 'ufw';
  if (names.includes('firewalld')) return 'firewalld';
  return names.includes('INPUT') ? 'iptables' : otherwise;
}

/** The chains that what comes in may get to. */
function reachedFrom(
  starts: ReadonlySet<string>,
  rules: readonly { readonly chain: string; readonly targets: readonly string[] }[],
): Set<string> {
  const reached = new Set(starts);
  for (const at of reached)
    for (const { chain, targets } of rules) if (chain === at) for (const one of targets) reached.add(one);
  return reached;
}

/** Names of chains that a rule jumps to, also by a map. */
function targetsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(targetsIn);
  return Object.entries(objectOf(value)).flatMap(([name, part]) =>
    name === 'jump' || name === 'goto' ? [String(objectOf(part).target)] : targetsIn(part),
  );
}

/** What a rule does with everything; null: it has a condition, or goes on. */
function verdictForAll(expressions: readonly Json[]): 'accept' | 'drop' | null {
  const rest = expressions.filter((one) => !('counter' in one) && !('log' in one) && !('comment' in one));
  const [only] = rest;
  if (rest.length !== 1 || !only) return null;
  if ('accept' in only) return 'accept';
  const isReject = 'reject' in only || objectOf(only.xt).name === 'REJECT';
  return 'drop' in only || isReject ? 'drop' : null;
}

/** Modules of iptables that are about ports; what others ask for is as good as an address. */
const aboutPorts = ['multiport', 'set'];

/** The ports that a rule accepts; or of which kind it is, where that cannot be read. */
function acceptedBy(
  expressions: readonly Json[],
  setOf: (name: string) => unknown,
): Ports[] | 'iptables' | 'others' {
  const accepts = expressions.some((one) => 'accept' in one);
  const isForeign = expressions.some(
    ({ xt }) => xt !== undefined && (xt === null || aboutPorts.includes(String(objectOf(xt).name))),
  );
  if (accepts && isForeign) return 'iptables';
  const open: Ports[] = [];
  for (const { match, vmap } of expressions) {
    const about = objectOf(match ?? vmap);
    if (!JSON.stringify(about).includes('"dport"') || (match !== undefined && !accepts)) continue;
    const protocol = protocolOf(about.left ?? about.key);
    const ports = vmap === undefined ? portsOfMatch(about, setOf) : portsOfMap(about);
    if (protocol === null || ports === null) return 'others';
    for (const one of protocol === 'th' ? protocols : [protocol])
      open.push(...ports.map(([from, to]) => ({ protocol: one, from, to })));
  }
  return open;
}

type Range = readonly [from: number, to: number];

/** null: it is about all ports except some, or a set that is not in the ruleset. */
function portsOfMatch({ op, right }: Json, setOf: (name: string) => unknown): Range[] | null {
  if (op !== '==' && op !== 'in') return null;
  if (typeof right !== 'string') return rangesOf(right);
  const elements = right.startsWith('@') ? setOf(right) : undefined;
  return elements === undefined ? null : rangesOf({ set: elements });
}

/** Of a map of ports to what is done with them; null: it has a name. */
function portsOfMap({ data }: Json): Range[] | null {
  const { set } = objectOf(data);
  if (!Array.isArray(set)) return null;
  return set.map(listOf).flatMap(([ports, verdict]) => (isDropping(verdict) ? [] : rangesOf(ports)));
}

function isDropping(verdict: unknown): boolean {
  return 'drop' in objectOf(verdict) || 'reject' in objectOf(verdict);
}

/** Of the ports that packets go to; null: it is about something else. */
function protocolOf(left: unknown): string | null {
  const { protocol, field } = objectOf(objectOf(left).payload);
  return field === 'dport' ? String(protocol) : null;
}

/** Of a number, a range, or a set of both. */
function rangesOf(right: unknown): Range[] {
  if (typeof right === 'number') return [[right, right]];
  const { range, set, elem } = objectOf(right);
  if (elem !== undefined) return rangesOf(objectOf(elem).val);
  if (Array.isArray(range)) return [[Number(range[0]), Number(range[1])]];
  return Array.isArray(set) ? set.flatMap(rangesOf) : [];
}

/** Of `5061`, `10000:20000`, or several with commas. */
function rangesIn(ports: string): Range[] {
  return ports.split(',').flatMap((one): Range[] => {
    const [, from, to = from] = /^(\d+)(?::(\d+))?$/.exec(one) ?? [];
    return from === undefined ? [] : [[Number(from), Number(to)]];
  });
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
