/** Test runs, newest first, kept current by events. */
import { request } from '../../api/client.ts';
import { useLoaded } from '../../parts/load.ts';
import { offsetOf, PageLinks, StateFilter, stateOfAddress } from '../../parts/pages.tsx';
import { Badge, Empty, LoadState, Screen } from '../../parts/pieces.tsx';
import { testRuns } from '../../parts/renewal.ts';
import { Table } from '../../parts/table.tsx';
import { useTitle } from '../../parts/title.ts';
import { address, pathTo, query } from '../../router.ts';
import { tests } from '../../text/tests.ts';
import { runColumns } from './pieces.tsx';

/** Rows of a page. */
const pageRows = 50;

const words = tests.runs;
const statuses = ['PASSED', 'FAILED', 'ERROR', 'CANCELLED', 'RUNNING', 'PENDING'] as const;

export function Runs() {
  useTitle(words.title);
  const status = stateOfAddress(statuses);
  const batch = query.value.get('batch');
  const loaded = useLoaded(
    address.value,
    (signal) =>
      request('GET /v1/agent-testing/runs', {
        query: {
          limit: pageRows,
          offset: offsetOf(),
          ...(status && { status }),
          ...(batch && { batch_id: batch }),
        },
        signal,
      }),
    testRuns,
  );
  const following = loaded.following.value;
  const { data } = loaded;
  return (
    <Screen
      title={words.title}
      actions={<Badge tone={following ? 'good' : 'warn'}>{following ? tests.live : tests.connecting}</Badge>}
    >
      <StateFilter label={words.status} states={statuses} names={tests.statuses} />
      <LoadState of={loaded} />
      {data?.runs.length === 0 && status === null && batch === null && (
        <Empty title={words.empty}>
          {words.emptyNext} <a href={pathTo('tests')}>{words.goTo}</a>
        </Empty>
      )}
      {data?.runs.length === 0 && (status !== null || batch !== null) && (
        <Empty title={words.noMatch}>{words.noMatchNext}</Empty>
      )}
      {data && data.runs.length > 0 && (
        <>
          <Table name={words.title} rows={data.runs} columns={runColumns} keyOf={(run) => run.id} />
          <PageLinks rows={pageRows} total={data.total_count} />
        </>
      )}
    </Screen>
  );
}
