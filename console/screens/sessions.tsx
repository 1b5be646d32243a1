/** Browsers that are signed in, and the end of their sessions. */
import { useSignal } from '@preact/signals';
import { type Answer, request } from '../api/client.ts';
import { type Problem, problemOf } from '../api/problem.ts';
import { useLoaded } from '../parts/load.ts';
import { Empty, LoadState, ProblemNote, Screen, Time } from '../parts/pieces.tsx';
import { usual } from '../parts/renewal.ts';
import { type Column, Table } from '../parts/table.tsx';
import { useTitle } from '../parts/title.ts';
import { texts } from '../text/texts.ts';

type Row = Answer<'GET /v1/sessions'>['data']['sessions'][number];

const { head } = texts.sessions;

export function Sessions() {
  useTitle(texts.sessions.title);
  const ending = useSignal<Problem | null>(null);
  const loaded = useLoaded(
    'sessions',
    async (signal) => (await request('GET /v1/sessions', { query: { limit: 100 }, signal })).data.sessions,
    usual,
  );
  const end = async (id: string) => {
    ending.value = null;
    try {
      await request('DELETE /v1/sessions/{id}', { path: { id } });
    } catch (error) {
      ending.value = problemOf(error);
    }
    loaded.reload();
  };
  const columns: Column<Row>[] = [
    {
      head: head.browser,
      grows: true,
      cell: (row) => (
        <>
          {nameOf(row)} {row.current && <span class="quiet">({texts.sessions.here})</span>}
        </>
      ),
    },
    { head: head.key, cell: (row) => <code>{row.key.begins}…</code> },
    { head: head.role, cell: (row) => row.role, from: 'medium' },
    { head: head.address, cell: (row) => row.address, from: 'medium' },
    { head: head.begun, cell: (row) => <Time at={row.created_at} />, from: 'wide' },
    { head: head.used, cell: (row) => <Time at={row.last_used_at} />, from: 'medium' },
    { head: head.ends, cell: (row) => <Time at={row.expires_at} />, from: 'wide' },
    {
      head: head.action,
      cell: (row) => (
        <button type="button" aria-label={texts.sessions.endLabel(nameOf(row))} onClick={() => end(row.id)}>
          {texts.sessions.end}
        </button>
      ),
    },
  ];
  return (
    <Screen title={texts.sessions.title}>
      <p class="quiet">{texts.sessions.intro}</p>
      {ending.value && <ProblemNote problem={ending.value} />}
      <LoadState of={loaded} />
      {loaded.data?.length === 0 && <Empty title={texts.sessions.empty} />}
      {loaded.data && loaded.data.length > 0 && (
        <Table name={texts.sessions.title} rows={loaded.data} columns={columns} keyOf={(row) => row.id} />
      )}
    </Screen>
  );
}

/** `Firefox 140 on Linux`: a browser names itself in a long line that also names others. */
function nameOf({ user_agent: agent }: Row): string {
  const browser = agent && /(Firefox|Edg|OPR|Chrome|Version)\/(\d+)/.exec(agent);
  if (!agent || !browser) return agent?.slice(0, 60) ?? texts.sessions.unknownBrowser;
  const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera', Version: 'Safari' };
  const system = /Android|iPhone|iPad|Windows|Mac OS X|Linux/.exec(agent)?.[0] ?? '';
  const best = /(Edg|OPR)\/(\d+)/.exec(agent) ?? browser;
  return `${names[best[1] ?? ''] ?? best[1]} ${best[2]} ${system}`.trim();
}
