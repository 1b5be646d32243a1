/** The facts of a call, and why it ended in one sentence. */
import type { LoggedCall } from '../../parts/call-columns.tsx';
import { endRule, Mos, Outcome } from '../../parts/call-columns.tsx';
import { duration, figure, offset } from '../../parts/format.ts';
import { Badge, Facts, Time } from '../../parts/pieces.tsx';
import { Table } from '../../parts/table.tsx';
import { pathTo, withQuery } from '../../router.ts';
import { texts } from '../../text/texts.ts';
import type { CallDetails } from './transcript.tsx';

const { facts, why, attempts } = texts.call;

/** Who, what, and what was special about it. */
export function WhyEnded({ call }: { call: LoggedCall }) {
  if (call.ended_at === null) return <p class="why">{why.running}</p>;
  const rule = endRule(call);
  const detail = call.termination_detail;
  // The detail of many ends is the sentence itself.
  const isSame =
    rule !== null && detail !== null && rule.summary.toLowerCase().startsWith(detail.toLowerCase());
  return (
    <p class="why">
      <strong>{rule?.summary ?? detail ?? why.unknown}</strong>{' '}
      {rule !== null && detail !== null && !isSame && <span>{sentence(detail)} </span>}
      <Badge tone="quiet">
        {rule ? why.by(why.party[rule.party]) : (call.hangup_by ?? '')}
        {call.sip_code !== null && call.sip_code >= 300 && `, ${why.sip(call.sip_code)}`}
      </Badge>
    </p>
  );
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

export function CallFacts({ call, details }: { call: LoggedCall; details: CallDetails }) {
  const { media } = call;
  const setupMs =
    call.answered_at === null ? null : Date.parse(call.answered_at) - Date.parse(call.started_at);
  const rows: (readonly [string, preact.ComponentChildren])[] = [
    [facts.started, <Time key="at" at={call.started_at} />],
    [facts.setup, setupMs === null ? texts.call.notAnswered : offset(setupMs).slice(1)],
    [facts.talked, call.ended_at === null ? '–' : duration(call.duration_seconds)],
    [facts.codec, call.codec ?? '–'],
  ];
  if (media) {
    rows.push(
      [facts.mos, <BothMos key="mos" call={call} />],
      [facts.loss, `${figure(lossOf(media), 1, '%')} / ${figure(media.peer_loss_percent, 1, '%')}`],
      [facts.jitter, figure(media.jitter_ms, 1, 'ms')],
      [facts.roundTrip, figure(media.round_trip_ms, 0, 'ms')],
    );
  }
  if (call.trunk_id) rows.push([facts.trunk, <TrunkLink key="trunk" call={call} />]);
  if (call.parent_id)
    rows.push([
      facts.parent,
      <a key="parent" href={pathTo('call', call.parent_id)}>
        {texts.call.parent}
      </a>,
    ]);
  if (details.pathway_id) rows.push([facts.pathway, <PathwayLink key="pathway" details={details} />]);
  if (details.transferred_to) rows.push([facts.transferred, details.transferred_to]);
  if (call.source_ip) rows.push([facts.source, call.source_ip]);
  if (call.call_id) rows.push([facts.callId, <code key="id">{call.call_id}</code>]);
  return (
    <>
      <Facts rows={rows} />
      {media && (media.cause ?? media.summary) && (
        <p class={media.verdict === 'two_way' ? 'quiet' : 'note warn'}>
          {[media.verdict === 'two_way' ? null : media.cause, media.summary].filter(Boolean).join(' ')}
        </p>
      )}
      {call.failover_attempts.length > 0 && <Attempts call={call} />}
    </>
  );
}

function BothMos({ call: { media } }: { call: LoggedCall }) {
  if (media?.mos_received === undefined) return <Mos value={media?.mos} />;
  return (
    <>
      <Mos value={media.mos_received} /> / <Mos value={media.mos_sent} />
    </>
  );
}

/** The own number leads to its trunk. */
function TrunkLink({ call }: { call: LoggedCall }) {
  const own = call.direction === 'inbound' ? call.to : call.from;
  return own.startsWith('+') ? <a href={pathTo('trunk', own)}>{own}</a> : <span>{own}</span>;
}

/** Its way over the graph of the version that it was with. */
function PathwayLink({ details }: { details: CallDetails }) {
  const { pathway_id: id, pathway_version: version, call_id: call } = details;
  const at = withQuery(pathTo('pathway', id ?? ''), { version: version ? String(version) : '', call });
  return <a href={at}>{texts.call.replay}</a>;
}

function lossOf({ packets_lost, packets_received }: NonNullable<LoggedCall['media']>): number | null {
  const all = packets_lost + packets_received;
  return all === 0 ? null : (100 * packets_lost) / all;
}

function Attempts({ call }: { call: LoggedCall }) {
  return (
    <section>
      <h2>{attempts.title}</h2>
      <Table
        name={attempts.title}
        rows={call.failover_attempts.map((attempt, index) => ({ ...attempt, index }))}
        keyOf={({ index }) => String(index)}
        columns={[
          { head: attempts.head.host, cell: ({ host, port }) => `${host}:${port}` },
          {
            head: attempts.head.result,
            cell: ({ sip_code, error }) => sip_code ?? error ?? '–',
            grows: true,
          },
          { head: attempts.head.duration, cell: ({ duration_ms }) => `${duration_ms} ms`, numeric: true },
        ]}
      />
    </section>
  );
}

export function CallTitle({ call }: { call: LoggedCall }) {
  return (
    <>
      {texts.call.title(call.from, call.to)} <Outcome call={call} />
    </>
  );
}
