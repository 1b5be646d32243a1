/** The quality of one pathway: its versions, the gate, where its runs fail, and its repair. */
import { request } from '../../api/client.ts';
import { useLoaded } from '../../parts/load.ts';
import { offsetOf, PageLinks } from '../../parts/pages.tsx';
import { NotRead, ProblemNote, Screen } from '../../parts/pieces.tsx';
import { endedRuns, seldom } from '../../parts/renewal.ts';
import { useTitle } from '../../parts/title.ts';
import { address, navigate, query, withQuery } from '../../router.ts';
import { quality } from '../../text/quality.ts';
import { Flow } from './flow.tsx';
import { Gate } from './gate.tsx';
import { Flaky, Heat } from './heat.tsx';
import { Repairs } from './repairs.tsx';
import { RepairSession } from './session.tsx';
import { Versions } from './versions.tsx';

const dayCounts = [7, 30, 90, 365];
const usualDays = 30;
/** Versions of a page: as many columns as the heatmap has. */
const pageVersions = 8;

export function PathwayQuality({ id }: { id: string }) {
  const session = query.value.get('session');
  if (session !== null) return <RepairSession key={session} pathway={id} id={session} />;
  return <Overview id={id} />;
}

function Overview({ id }: { id: string }) {
  const days = dayCounts.find((one) => String(one) === query.value.get('days')) ?? usualDays;
  const offset = offsetOf();
  const loaded = useLoaded(
    `quality ${id} ${days} ${offset}`,
    (signal) =>
      request('GET /v1/agent-testing/analytics/{pathwayId}/versions', {
        path: { pathwayId: id },
        query: { days, limit: pageVersions, offset },
        signal,
      }),
    // Versions are saved and published without an event.
    { ...endedRuns, ...seldom },
  );
  const { data } = loaded;
  useTitle(data?.pathway_name ?? quality.title);
  if (!data) return <NotRead title={quality.title} of={loaded} />;
  return (
    <Screen title={data.pathway_name} actions={<Days days={days} />}>
      {loaded.problem && <ProblemNote problem={loaded.problem} again={loaded.reload} />}
      <Versions versions={data.versions} pathway={id} />
      <PageLinks rows={pageVersions} total={data.total_count} />
      <Gate pathway={id} data={data} changed={loaded.reload} />
      <Heat data={data} />
      <Flaky data={data} />
      <Flow pathway={id} days={days} />
      <Repairs pathway={id} versions={data.versions} />
    </Screen>
  );
}

function Days({ days }: { readonly days: number }) {
  const choose = (value: string) => {
    const [path = ''] = address.value.split('?');
    navigate(withQuery(path, { ...Object.fromEntries(query.value), days: value }));
  };
  return (
    <label class="check">
      {quality.days}
      <select value={String(days)} onChange={({ currentTarget: { value } }) => choose(value)}>
        {dayCounts.map((one) => (
          <option key={one} value={String(one)}>
            {quality.dayCount(one)}
          </option>
        ))}
      </select>
    </label>
  );
}
