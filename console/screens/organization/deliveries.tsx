/** Webhook deliveries: what was sent, what the other side answered, and sending it again. */
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { CopiedText } from '../../parts/copied.tsx';
import { useLoaded } from '../../parts/load.ts';
import { beforeOf, OlderLinks, StateFilter, stateOfAddress } from '../../parts/pages.tsx';
import { Badge, Empty, LoadState, ProblemNote, Screen, Time, type Tone } from '../../parts/pieces.tsx';
import { unchanging, underWay, usual } from '../../parts/renewal.ts';
import { ActButton } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { pathTo, query, withQuery } from '../../router.ts';
import { organization } from '../../text/organization.ts';

type Delivery = Answer<'GET /v1/org/webhook-deliveries'>['data']['deliveries'][number];

/** Rows of a page. */
const pageRows = 50;

const words = organization.deliveries;
const { head } = words;
const states = ['waiting', 'given_up'] as const;
const tones: Readonly<Record<Delivery['state'], Tone>> = {
  waiting: 'live',
  delivered: 'good',
  given_up: 'bad',
};

export function Deliveries() {
  useTitle(words.title);
  const state = stateOfAddress(states);
  const before = beforeOf();
  const open = query.value.get('open') ?? '';
  const loaded = useLoaded(
    `${state} ${before}`,
    async (signal) => {
      const page = { limit: pageRows, ...(state && { state }), ...(before !== '' && { before }) };
      return (await request('GET /v1/org/webhook-deliveries', { query: page, signal })).data.deliveries;
    },
    (rows) => (rows.some((one) => one.state === 'waiting') ? underWay : usual),
  );
  const { data } = loaded;
  return (
    <Screen title={words.title}>
      <p class="quiet">{words.intro}</p>
      <StateFilter label={words.state} states={states} names={words.states} />
      {open !== '' && <Body key={open} id={open} />}
      <LoadState of={loaded} />
      {data?.length === 0 &&
        (state === null ? (
          <Empty title={words.empty}>{words.emptyNext}</Empty>
        ) : (
          <Empty title={words.noMatch} />
        ))}
      {data && data.length > 0 && (
        <Table name={words.title} rows={data} columns={columnsOf(loaded.reload)} keyOf={({ id }) => id} />
      )}
      {data && <OlderLinks next={data.length === pageRows ? (data.at(-1)?.id ?? null) : null} />}
    </Screen>
  );
}

function columnsOf(reload: () => void): readonly Column<Delivery>[] {
  const redeliver = async (id: string) => {
    await request('POST /v1/org/webhook-deliveries/{id}/redeliver', { path: { id } });
    reload();
  };
  const here = Object.fromEntries(query.peek());
  return [
    { head: head.at, cell: (one) => <Time at={one.created_at} />, from: 'medium' },
    {
      head: head.type,
      cell: ({ id, type }) => (
        <a class="row-link" href={withQuery(pathTo('deliveries'), { ...here, open: id })}>
          {type}
        </a>
      ),
    },
    { head: head.url, cell: ({ url }) => url, grows: true, from: 'medium' },
    { head: head.state, cell: (one) => <Badge tone={tones[one.state]}>{words.states[one.state]}</Badge> },
    { head: head.attempts, cell: ({ attempts }) => attempts, numeric: true, from: 'medium' },
    { head: head.last, cell: (one) => one.last_status ?? one.last_error ?? '–', from: 'wide', grows: true },
    { head: head.next, cell: (one) => <Time at={one.next_attempt_at} />, from: 'wide' },
    ...(mayChange.value
      ? [
          {
            head: head.action,
            cell: ({ id, type, state }: Delivery) =>
              state !== 'waiting' && (
                <ActButton label={words.redeliverLabel(type)} run={() => redeliver(id)}>
                  {words.redeliver}
                </ActButton>
              ),
          },
        ]
      : []),
  ];
}

function Body({ id }: { id: string }) {
  const loaded = useLoaded(
    `delivery ${id}`,
    async (signal) =>
      (await request('GET /v1/org/webhook-deliveries/{id}', { path: { id }, signal })).data.delivery,
    unchanging,
  );
  const { data } = loaded;
  const rest = { ...Object.fromEntries(query.value), open: '' };
  return (
    <section class="card" aria-labelledby="body-title">
      <h2 id="body-title">{words.body}</h2>
      {loaded.problem && <ProblemNote problem={loaded.problem} again={loaded.reload} />}
      {data &&
        (data.body === null ? (
          <p class="quiet">{words.noBody}</p>
        ) : (
          <CopiedText text={data.body} name={words.bodyText} />
        ))}
      <p>
        <a href={withQuery(pathTo('deliveries'), rest)}>{words.close}</a>
      </p>
    </section>
  );
}
