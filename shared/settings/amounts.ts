/** The named numbers of the two settings that are lists: `QUOTAS` and `RETENTION_DAYS`, such as `calls=30, ports=400`. */

export interface Amount {
  /** null: no limit. */
  readonly default: number | null;
  readonly least: number;
  readonly most: number;
  /** A label, without a full stop. */
  readonly meaning: string;
}

const quota = <Default extends number | null>(
  value: Default,
  meaning: string,
  { least = 1, most = 1_000_000 } = {},
) => ({ default: value, least, most, meaning });

const large = { most: 10_000_000 };

/** Per organization, unless its meaning says otherwise. The names are those of `quota` in QUOTA_EXCEEDED. */
export const quotas = {
  pathways: quota(500, 'pathways'),
  pathwayVersions: quota(200, 'versions of one pathway'),
  graphBytes: quota(209_715_200, 'octets of all graphs, versions included', {
    least: 1_048_576,
    most: 1_000_000 * 1_048_576,
  }),
  tools: quota(1000, 'tools'),
  personas: quota(1000, 'personas'),
  widgets: quota(100, 'widgets'),
  numbers: quota(10_000, 'numbers, including those being ported', large),
  openThreads: quota(10_000, 'open threads of one widget', large),
  openThreadsOfVisitor: quota(50, 'open threads of one visitor of a widget', large),
  openThreadsOfAddress: quota(
    200,
    'open threads of one widget that were started from one client address',
    large,
  ),
  scenarios: quota(1000, 'test scenarios'),
  integrationResources: quota(200, 'connected resources'),
  chats: quota(1000, 'chats with pathways; a chat is deleted a day after its last message'),
  waitingRuns: quota(10_000, 'waiting test runs', large),
  runsAtOnce: quota(20, 'test runs at a time; more wait', { most: 10_000 }),
  storedRuns: quota(100_000, 'stored test runs; the oldest finished ones are deleted first', {
    least: 1000,
    most: 10_000_000,
  }),
  toolRunsAtOnce: quota(50, 'tool runs at a time; further runs fail', { most: 10_000 }),
  outgoingCalls: quota(
    null,
    'outgoing calls at a time; the organization can set less, and `org call-ceiling` sets another ceiling for one',
    { most: 10_000 },
  ),
  outgoingCallsPerMinute: quota(null, 'outgoing calls within 60 s, in the same way', { most: 10_000 }),
} as const satisfies Readonly<Record<string, Amount>>;

const days = (value: number, meaning: string, least = 1) => ({
  default: value,
  least,
  most: 36_500,
  meaning,
});

/** In days. */
export const retention = {
  calls: days(90, 'calls, with transcript and variables'),
  traces: days(14, 'SIP traces'),
  recordings: days(90, 'recordings of calls'),
  toolRuns: days(14, 'runs of tools'),
  testRecords: days(90, 'transcripts and actions of test runs; their verdicts stay'),
  tornado: days(90, 'ended tornado sessions'),
  widgetThreads: days(90, 'ended widget threads'),
  ports: days(1095, 'port requests after their end, with letters and documents; unsigned ones 90 days', 90),
  changes: days(365, 'the audit log'),
} as const satisfies Readonly<Record<string, Amount>>;

type Amounts = Readonly<Record<string, Amount>>;
export type AmountsOf<A extends Amounts> = {
  readonly [K in keyof A]: A[K]['default'] extends number ? number : number | null;
};
