/** Lines of transcripts that have the words, each with a link to its call. */
import { type Answer, request } from '../api/client.ts';
import { useLoaded } from '../parts/load.ts';
import { Empty, LoadState, Time } from '../parts/pieces.tsx';
import { seldom } from '../parts/renewal.ts';
import { type Column, Table } from '../parts/table.tsx';
import { pathTo } from '../router.ts';
import { texts } from '../text/texts.ts';

type Line = Answer<'GET /v1/calls/transcripts'>['data']['lines'][number];

const { lines, who } = texts.calls;

const columns: readonly Column<Line>[] = [
  {
    head: lines.head.at,
    cell: (line) => (
      <a class="row-link" href={pathTo('call', line.call_id)}>
        <Time at={line.created_at} />
      </a>
    ),
  },
  { head: lines.head.who, cell: (line) => who[line.user], from: 'medium' },
  { head: lines.head.text, cell: (line) => line.text, grows: true },
  { head: lines.head.call, cell: (line) => `${line.from} → ${line.to}`, from: 'medium' },
];

export function SpokenLines({ words }: { words: string }) {
  const loaded = useLoaded(
    `words ${words}`,
    async (signal) =>
      (await request('GET /v1/calls/transcripts', { query: { query: words, limit: 100 }, signal })).data
        .lines,
    seldom,
  );
  const { data } = loaded;
  return (
    <>
      <LoadState of={loaded} />
      {data?.length === 0 && <Empty title={lines.noMatch}>{lines.noMatchNext}</Empty>}
      {data && data.length > 0 && (
        <Table name={lines.title} rows={data} columns={columns} keyOf={(line) => line.id} />
      )}
    </>
  );
}
