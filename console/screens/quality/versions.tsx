/** How each version does, with the interval in which its true rate lies. */
import type { Answer } from '../../api/client.ts';
import { Badge, Time } from '../../parts/pieces.tsx';
import { RateBar } from '../../parts/rates.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { quality } from '../../text/quality.ts';
import { tests } from '../../text/tests.ts';
import { gatePlace } from './places.ts';

export type Quality = Answer<'GET /v1/agent-testing/analytics/{pathwayId}/versions'>;
type Version = Quality['versions'][number];

const words = quality.versions;
const { head } = words;

/** `version 3, shorter greeting` */
export function versionName({ name, version_number }: Pick<Version, 'name' | 'version_number'>): string {
  return name === null ? tests.version(version_number) : `${tests.version(version_number)}, ${name}`;
}

export function Versions({ versions, pathway }: { versions: readonly Version[]; pathway: string }) {
  const columns: readonly Column<Version>[] = [
    {
      head: head.version,
      cell: (row) =>
        row.version_number === 0 ? (
          versionName(row)
        ) : (
          <a href={gatePlace(pathway, row.version_number)}>{versionName(row)}</a>
        ),
      grows: true,
    },
    {
      head: head.rate,
      cell: (row) =>
        row.total_runs === 0 ? (
          <span class="quiet">{words.noRuns}</span>
        ) : (
          <RateBar rate={row.pass_rate} interval={row.pass_rate_interval} note={row.pass_rate_note} />
        ),
    },
    { head: head.runs, cell: (row) => `${row.passed} / ${row.total_runs}`, numeric: true, from: 'medium' },
    { head: head.errors, cell: (row) => row.errored, numeric: true, from: 'wide' },
    {
      head: head.where,
      cell: (row) =>
        row.environments.map((name) => (
          <Badge key={name} tone="live">
            {words.environments(name)}
          </Badge>
        )),
      from: 'medium',
    },
    { head: head.at, cell: (row) => <Time at={row.created_at} />, from: 'wide' },
  ];
  return (
    <section aria-labelledby="versions-title">
      <h2 id="versions-title">{words.title}</h2>
      <Table
        name={words.title}
        rows={versions}
        columns={columns}
        keyOf={(row) => String(row.version_number)}
      />
      <p class="quiet">{words.means}</p>
    </section>
  );
}
