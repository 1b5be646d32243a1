/**
 * For tests and benchmarks: faults planted in good pathways. Each is a change of a pathway that is known to pass, so its
 * class and node are known without a look at the analysis.
 */
import type { Cause } from '../../../control/testing/analysis/finding.ts';

/** A business: what its callers want, and what it asks them. */
export interface Business {
  readonly name: string;
  /** As a caller says it: "book a table". */
  readonly wish: string;
  /** The label of its edge. */
  readonly option: string;
  /** What else callers may want: the label and its words. */
  readonly other: { readonly option: string; readonly says: string };
  /** Two things that it asks. */
  readonly first: Asked;
  readonly second: Asked;
  /** Said after both; has both placeholders. */
  readonly readBack: string;
  readonly price: string;
  readonly wrongPrice: string;
  readonly done: string;
  /** Of its four steps. */
  readonly order: readonly Step[];
}

interface Asked {
  readonly variable: string;
  readonly type: 'string' | 'integer' | 'date';
  /** As in the caller's prompt. */
  readonly fact: string;
  readonly value: string;
  readonly expected: string | number;
  readonly question: string;
}

interface Node {
  readonly id: string;
  readonly type: string;
  readonly data: Record<string, unknown>;
}
interface Edge {
  readonly source: string;
  readonly target: string;
  readonly data: { readonly label: string };
}
interface Pathway {
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
}

export const teamNumber = '+14155550123';

function node(id: string, type: string, data: Record<string, unknown>): Node {
  return { id, type, data: { name: id, ...data } };
}
function edge(source: string, target: string, label: string): Edge {
  return { source, target, data: { label } };
}

const labels: Readonly<Record<string, string>> = {
  first: 'answered',
  second: 'answered',
  check: 'yes, right',
  price: 'yes, go ahead',
  book: 'success',
};

type Step = 'first' | 'second' | 'check' | 'price';

function chainOf({ order }: Business): string[] {
  return ['greet', ...order, 'book', 'done'];
}

/** The step before one, and the one after it. */
export function around(business: Business, id: Step): { before: string; after: string } {
  const chain = chainOf(business);
  const at = chain.indexOf(id);
  return { before: chain[at - 1] ?? '', after: chain[at + 1] ?? '' };
}

/** From the greeting through the steps in their order to the booking; or to the team. */
export function pathwayOf(business: Business): Pathway {
  const { done, first, name, option, other, price, readBack, second } = business;
  const ask = (id: string, { question, type, variable }: Asked) =>
    node(id, 'Default', { text: question, extractVars: [[variable, type, variable.replaceAll('_', ' ')]] });
  return {
    nodes: [
      node('greet', 'Default', { isStart: true, text: `Hello, this is ${name}. How can I help you?` }),
      {
        ...ask('first', first),
        data: { ...ask('first', first).data, condition: `${first.variable} is known` },
      },
      ask('second', second),
      node('check', 'Default', { text: readBack }),
      node('price', 'Default', { text: `${price} Shall I go ahead?` }),
      node('book', 'Webhook', {
        url: 'https://api.example.com/orders',
        method: 'POST',
        body: `{"${first.variable}":"{{${first.variable}}}","${second.variable}":"{{${second.variable}}}"}`,
      }),
      node('done', 'End Call', { text: done }),
      node('team', 'Transfer Call', { text: 'I connect you to our team.', transferNumber: teamNumber }),
    ],
    edges: [
      ...chainOf(business).flatMap((id, at, chain) => {
        const next = chain[at + 1];
        return next === undefined ? [] : [edge(id, next, labels[id] ?? option)];
      }),
      edge('greet', 'team', other.option),
      edge('check', 'first', 'no, wrong'),
    ],
  };
}

/** What is planted, where it is, and what the analysis should say. */
export interface Fault {
  readonly kind: string;
  readonly cause: Cause;
  /** Any of them is where the fault is: an edge that should lead elsewhere belongs to the node it leaves. */
  readonly nodes: readonly string[] | ((business: Business) => readonly string[]);
  readonly caller: 'wish' | 'other';
  readonly plant: (good: Pathway, business: Business) => Pathway;
}

export const withData = (
  pathway: Pathway,
  id: string,
  data: (before: Node['data']) => Node['data'],
): Pathway => ({
  ...pathway,
  nodes: pathway.nodes.map((one) => (one.id === id ? { ...one, data: data(one.data) } : one)),
});
const withEdges = (pathway: Pathway, change: (edge: Edge) => Edge | null): Pathway => ({
  ...pathway,
  edges: pathway.edges.flatMap((one) => change(one) ?? []),
});
const skipping = (id: Step) => (pathway: Pathway, business: Business) => {
  const { after, before } = around(business, id);
  return leads(before, id, after)(pathway);
};
export const leads = (source: string, target: string, to: string | null) => (pathway: Pathway) =>
  withEdges(pathway, (one) => {
    if (one.source !== source || one.target !== target) return one;
    return to === null ? null : { ...one, target: to };
  });

export const seenFaults: readonly Fault[] = [
  {
    kind: 'missing step',
    cause: 'flow',
    nodes: (business) => [around(business, 'second').before],
    caller: 'wish',
    plant: skipping('second'),
  },
  {
    kind: 'read-back skipped',
    cause: 'flow',
    nodes: (business) => [around(business, 'check').before],
    caller: 'wish',
    plant: skipping('check'),
  },
  {
    kind: 'read-back without its values',
    cause: 'prompt',
    nodes: ['check'],
    caller: 'wish',
    plant: (good) => withData(good, 'check', (data) => ({ ...data, text: 'Is everything right?' })),
  },
  {
    kind: 'wrong price',
    cause: 'prompt',
    nodes: ['price'],
    caller: 'wish',
    plant: (good, { wrongPrice }) =>
      withData(good, 'price', (data) => ({ ...data, text: `${wrongPrice} Shall I go ahead?` })),
  },
  {
    kind: 'wrong condition',
    cause: 'flow',
    nodes: ['first'],
    caller: 'wish',
    plant: (good, { first }) =>
      withData(good, 'first', (data) => ({ ...data, condition: `${first.variable} == 0` })),
  },
  {
    kind: 'wrong edge',
    cause: 'flow',
    nodes: ['greet'],
    caller: 'wish',
    plant: (good, { order }) =>
      withEdges(good, (one) => {
        if (one.source !== 'greet') return one;
        return { ...one, target: one.target === 'team' ? (order[0] ?? 'team') : 'team' };
      }),
  },
  {
    kind: 'missing edge',
    cause: 'flow',
    nodes: ['greet'],
    caller: 'other',
    plant: leads('greet', 'team', null),
  },
  {
    kind: 'missing extraction',
    cause: 'data',
    nodes: ['second'],
    caller: 'wish',
    plant: (good) => withData(good, 'second', ({ extractVars: _, ...data }) => data),
  },
  {
    kind: 'wrong name in a webhook body',
    cause: 'data',
    nodes: ['book'],
    caller: 'wish',
    plant: (good, { second: { variable } }) =>
      withData(good, 'book', (data) => ({
        ...data,
        body: String(data.body).replace(`{{${variable}}}`, '{{the_value}}'),
      })),
  },
  {
    kind: 'wrong name in a webhook body that is an object',
    cause: 'data',
    nodes: ['book'],
    caller: 'wish',
    plant: (good, { first, second }) =>
      withData(good, 'book', (data) => ({
        ...data,
        body: { [first.variable]: `{{${first.variable}}}`, [second.variable]: '{{the_value}}' },
      })),
  },
  {
    kind: 'webhook body with a value of another member',
    cause: 'data',
    nodes: ['book'],
    caller: 'wish',
    plant: (good, { first, second }) =>
      withData(good, 'book', (data) => ({
        ...data,
        body: String(data.body).replace(`{{${second.variable}}}`, `{{${first.variable}}}`),
      })),
  },
  {
    kind: 'loop',
    cause: 'flow',
    nodes: ['check'],
    caller: 'wish',
    plant: (good, business) => leads('check', around(business, 'check').after, 'first')(good),
  },
  {
    kind: 'dead end',
    cause: 'flow',
    nodes: ['price'],
    caller: 'wish',
    plant: (good, business) => leads('price', around(business, 'price').after, null)(good),
  },
  {
    kind: 'wrong transfer',
    cause: 'data',
    nodes: ['team'],
    caller: 'other',
    plant: (good) => withData(good, 'team', (data) => ({ ...data, transferNumber: '+14155550999' })),
  },
  {
    kind: 'harsh words',
    cause: 'prompt',
    nodes: ['check'],
    caller: 'wish',
    plant: (good) =>
      withData(good, 'check', (data) => ({ ...data, text: `Calm down, you idiot. ${String(data.text)}` })),
  },
];

export interface Planted {
  readonly business: Business;
  readonly fault: Fault;
}

/** Five faults for each business, of other kinds for its neighbours. */
export function plantedIn(businesses: readonly Business[], faults: readonly Fault[]): Planted[] {
  return businesses.flatMap((business, place) =>
    [0, 1, 2, 3, 4].flatMap((step) => {
      const fault = faults[(place * 5 + step) % faults.length];
      return fault ? [{ business, fault }] : [];
    }),
  );
}
