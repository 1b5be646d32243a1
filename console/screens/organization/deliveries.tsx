/** Webhook deliveries: what was sent, what the other side answered, and sending it again. */
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { CopiedText } from '../../parts/copied.tsx';
import { useReread } from '../../parts/followed.ts';
import { useLoaded } from '../../parts/load.ts';
import { Badge, Empty, Loading, ProblemNote, Screen, Time, type Tone } from '../../parts/pieces.tsx';
import { ActButton } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { address, navigate, pathTo, query, withQuery } from '../../router.ts';
import { organization } from '../../text/organization.ts';
import { texts } from '../../text/texts.ts';

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
  const state = states.find((one) => one === query.value.get('state')) ?? null;
  const before = query.value.get('before') ?? '';
  const open = query.value.get('open') ?? '';
  const loaded = useLoaded(`${state} ${before}`, async (signal) => {
    const page = { limit: pageRows, ...(state && { state }), ...(before !== '' && { before }) };
    return (await request('GET /v1/org/webhook-deliveries', { query: page, signal })).data.deliveries;
  });
  const { data } = loaded;
  useReread(data?.some((one) => one.state === 'waiting') ?? false, loaded.reload);
  return (
    <Screen title={words.title}>
      <p class="quiet">{words.intro}</p>
      <div class="filters">
        <label>
          {words.state}
          <select
            value={state ?? ''}
            onChange={({ currentTarget: { value } }) =>
              navigate(withQuery(pathTo('deliveries'), { state: value }))
            }
          >
            <option value="">{words.all}</option>
            {states.map((one) => (
              <option key={one} value={one}>
                {words.states[one]}
              </option>
            ))}
          </select>
        </label>
      </div>
      {open !== '' && <Body key={open} id={open} />}
      {loaded.problem && <ProblemNote problem={loaded.problem} again={loaded.reload} />}
      {!data && loaded.loading && <Loading />}
      {data?.length === 0 &&
        (state === null ? (
          <Empty title={words.empty}>{words.emptyNext}</Empty>
        ) : (
          <Empty title={words.noMatch} />
        ))}
      {data && data.length > 0 && (
        <Table name={words.title} rows={data} columns={columnsOf(loaded.reload)} keyOf={({ id }) => id} />
      )}
      {data?.length === pageRows && (
        <nav class="row pager" aria-label={texts.lists.pages}>
          <a href={withQuery(pathTo('deliveries'), { state: state ?? '', before: data.at(-1)?.id ?? '' })}>
            {texts.lists.older}
          </a>
        </nav>
      )}
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
  );
  const { data } = loaded;
  const rest = { ...Object.fromEntries(new URLSearchParams(address.value.split('?')[1])), open: '' };
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
