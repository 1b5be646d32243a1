/** The widgets of the organization, and a new one. */
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { type Agents, readAgents } from '../../parts/agents.ts';
import { useLoaded } from '../../parts/load.ts';
import { PageLinks, pageNumberOf } from '../../parts/pages.tsx';
import { Empty, LoadState, Screen, Time } from '../../parts/pieces.tsx';
import { usual } from '../../parts/renewal.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { navigate, pathTo } from '../../router.ts';
import { pathways } from '../../text/pathways.ts';
import { widgets as words } from '../../text/widgets.ts';
import { type WidgetBody, WidgetForm } from './widget-form.tsx';

type Line = Answer<'GET /v1/widget'>['data']['widgets'][number];

/** Rows of a page. */
const pageRows = 50;
const { head } = words;

const columnsOf = ({ pathways, personas }: Agents): readonly Column<Line>[] => [
  {
    head: head.name,
    cell: ({ id, name }) => (
      <a class="row-link" href={pathTo('widget', id)}>
        {name}
      </a>
    ),
    grows: true,
  },
  {
    head: head.agent,
    cell: ({ pathway_id: pathway, persona_id: persona }) =>
      pathways.get(pathway ?? '') ?? personas.get(persona ?? '') ?? words.former,
  },
  { head: head.version, cell: (one) => one.pathway_version ?? '–', from: 'medium' },
  { head: head.created, cell: (one) => <Time at={one.created_at} />, from: 'wide' },
  { head: head.updated, cell: (one) => <Time at={one.updated_at} />, from: 'medium' },
];

export function Widgets() {
  useTitle(words.title);
  const page = pageNumberOf(pageRows);
  const loaded = useLoaded(
    `widgets ${page}`,
    async (signal) => {
      const [{ data: list }, agents] = await Promise.all([
        request('GET /v1/widget', { query: { page, limit: pageRows }, signal }),
        readAgents(signal),
      ]);
      return { ...list, agents };
    },
    usual,
  );
  const create = async (body: WidgetBody) => {
    const { data } = await request('POST /v1/widget', { body });
    navigate(pathTo('widget', data.widget.id));
  };
  const { data } = loaded;
  const answered = data !== null && data.agents.pathways.size + data.agents.personas.size > 0;
  return (
    <Screen title={words.title}>
      <p class="quiet">{words.intro}</p>
      <LoadState of={loaded} />
      {data && mayChange.value && (
        <details class="card" open={data.total === 0}>
          <summary>{words.create}</summary>
          {answered ? (
            <WidgetForm
              agents={data.agents}
              widget={null}
              label={words.create}
              submit={words.add}
              run={create}
            />
          ) : (
            <p>
              {words.noAgents} <a href={pathTo('pathways')}>{pathways.goTo}</a>
            </p>
          )}
        </details>
      )}
      {data?.widgets.length === 0 && <Empty title={words.empty}>{words.emptyNext}</Empty>}
      {data && data.widgets.length > 0 && (
        <Table
          name={words.title}
          rows={data.widgets}
          columns={columnsOf(data.agents)}
          keyOf={({ id }) => id}
        />
      )}
      {data && <PageLinks rows={pageRows} total={data.total} />}
    </Screen>
  );
}
