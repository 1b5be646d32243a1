/** The pathways of the organization, and a new one. */
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { useLoaded } from '../../parts/load.ts';
import { offsetOf, PageLinks } from '../../parts/pages.tsx';
import { Badge, Empty, LoadState, Screen, Time } from '../../parts/pieces.tsx';
import { usual } from '../../parts/renewal.ts';
import { Form, textOf } from '../../parts/submit.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { navigate, pathTo } from '../../router.ts';
import { pathways as words } from '../../text/pathways.ts';
import { type TemplateName, templates } from './templates.ts';

type Row = Answer<'GET /v1/pathway'>[number];

/** Rows of a page. */
const pageRows = 50;
const { head } = words;

function Published({ version, tone }: { readonly version: number | null; readonly tone: 'good' | 'warn' }) {
  if (version === null) return <span class="quiet">{words.none}</span>;
  return <Badge tone={tone}>{words.version(version)}</Badge>;
}

const columns: readonly Column<Row>[] = [
  {
    head: head.name,
    cell: ({ pathway_id: id, name }) => (
      <a class="row-link" href={pathTo('pathway', id)}>
        {name}
      </a>
    ),
    grows: true,
  },
  {
    head: head.production,
    cell: (row) => <Published version={row.production_version} tone="good" />,
  },
  {
    head: head.staging,
    cell: (row) => <Published version={row.staging_version} tone="warn" />,
    from: 'medium',
  },
  { head: head.changed, cell: (row) => <Time at={row.updated_at} />, from: 'medium' },
];

export function Pathways() {
  useTitle(words.title);
  const offset = offsetOf();
  // One more than is shown tells whether there is another page.
  const loaded = useLoaded(
    `pathways ${offset}`,
    (signal) => request('GET /v1/pathway', { query: { graphs: false, limit: pageRows + 1, offset }, signal }),
    usual,
  );
  const { data } = loaded;
  return (
    <Screen title={words.title}>
      <p class="quiet">{words.intro}</p>
      {mayChange.value && <NewPathway />}
      <LoadState of={loaded} />
      {data?.length === 0 && (
        <Empty title={words.empty}>{mayChange.value ? words.emptyNext : words.emptyRead}</Empty>
      )}
      {data && data.length > 0 && (
        <Table
          name={words.title}
          rows={data.slice(0, pageRows)}
          columns={columns}
          keyOf={(row) => row.pathway_id}
        />
      )}
      {data && <PageLinks rows={pageRows} hasMore={data.length > pageRows} />}
    </Screen>
  );
}

const templateNames = Object.entries(words.templates);

function isTemplate(name: string): name is TemplateName {
  return name in templates;
}

function NewPathway() {
  const create = async (data: FormData) => {
    const { pathway_id: id } = await request('POST /v1/pathway/create', {
      body: { name: textOf(data, 'name') },
    });
    const chosen = textOf(data, 'template');
    const graph = isTemplate(chosen) ? templates[chosen] : null;
    if (graph) await request('POST /v1/pathway/{id}', { path: { id }, body: graph });
    navigate(pathTo('pathway', id));
  };
  const { create: labels } = words;
  return (
    <details class="card">
      <summary>{labels.title}</summary>
      <Form label={labels.title} submit={labels.add} run={create}>
        <label class="grows">
          {labels.name}
          <input name="name" required maxLength={200} />
        </label>
        <label>
          {labels.from}
          <select name="template">
            {templateNames.map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
      </Form>
    </details>
  );
}
