/** The columns of calls in lists. */
import { type TerminationCode, terminations } from '#shared/termination.ts';
import type { Answer } from '../api/client.ts';
import { pathTo } from '../router.ts';
import { texts } from '../text/texts.ts';
import { duration, figure } from './format.ts';
import { Badge, Time, type Tone } from './pieces.tsx';
import type { Column } from './table.tsx';

export type LoggedCall = Answer<'GET /v1/sip/calls'>['data']['calls'][number];

const { head, outcomes } = texts.calls;

const tones: Readonly<Record<string, Tone>> = {
  in_progress: 'live',
  completed: 'good',
  canceled: 'quiet',
  busy: 'warn',
  no_answer: 'warn',
  failed: 'bad',
};

export function Outcome({ call }: { call: Pick<LoggedCall, 'outcome' | 'sip_code'> }) {
  const words: Readonly<Record<string, string>> = outcomes;
  const code = call.sip_code !== null && call.sip_code >= 300 ? ` ${call.sip_code}` : '';
  return (
    <Badge tone={tones[call.outcome] ?? 'quiet'}>
      {words[call.outcome] ?? call.outcome}
      {code}
    </Badge>
  );
}

/** ITU-T G.107: below 3.6 many users are dissatisfied, below 3.1 nearly all. */
export function Mos({ value }: { value: number | null | undefined }) {
  const tone =
    value === null || value === undefined ? 'quiet' : value < 3.1 ? 'bad' : value < 3.6 ? 'warn' : '';
  return <span class={tone === '' ? undefined : `${tone}-text`}>{figure(value, 2)}</span>;
}

function isCode(code: string): code is TerminationCode {
  return code in terminations;
}

/** What is known of such an end. @returns null: nothing */
export function endRule({ termination }: Pick<LoggedCall, 'termination'>) {
  return termination !== null && isCode(termination) ? terminations[termination] : null;
}

/** When it began, and between whom. */
export const partyColumns: readonly Column<LoggedCall>[] = [
  {
    head: head.started,
    cell: (call) => (
      <a class="row-link" href={pathTo('call', call.id)}>
        <Time at={call.started_at} />
      </a>
    ),
  },
  { head: head.direction, cell: (call) => texts.calls.direction[call.direction], from: 'medium' },
  { head: head.from, cell: (call) => <span class="number">{call.from}</span> },
  { head: head.to, cell: (call) => <span class="number">{call.to}</span> },
];

/** Of finished calls. */
export const callColumns: readonly Column<LoggedCall>[] = [
  ...partyColumns,
  { head: head.outcome, cell: (call) => <Outcome call={call} /> },
  {
    head: head.duration,
    cell: (call) => (call.outcome === 'in_progress' ? '–' : duration(call.duration_seconds)),
    numeric: true,
    from: 'medium',
  },
  { head: head.mos, cell: (call) => <Mos value={call.media?.mos} />, numeric: true, from: 'medium' },
  { head: head.codec, cell: (call) => call.codec ?? '–', from: 'wide' },
  {
    head: head.ended,
    cell: (call) => call.termination_detail ?? endRule(call)?.summary ?? '',
    from: 'wide',
    grows: true,
  },
];
