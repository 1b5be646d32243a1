/** Connecting a PBX: find it, attach a number, open the firewall, configure it, and prove it with a test call. */
import { request } from '../../api/client.ts';
import { useLoaded } from '../../parts/load.ts';
import { Loading, ProblemNote, Screen } from '../../parts/pieces.tsx';
import { unchanging, underWay, usual } from '../../parts/renewal.ts';
import { useTitle } from '../../parts/title.ts';
import { query } from '../../router.ts';
import { connect as words } from '../../text/connect.ts';
import { Attach } from './attach.tsx';
import { Find } from './find.tsx';
import { Firewall, Setup } from './setup.tsx';
import type { Discovery } from './steps.ts';
import { TestCall } from './test-call.tsx';

export function Connect() {
  useTitle(words.title);
  const discovery = query.value.get('discovery') ?? '';
  const number = query.value.get('number') ?? '';
  const call = query.value.get('call') ?? '';
  const found = useLoaded(
    `discovery ${discovery}`,
    async (signal): Promise<Discovery | null> => {
      if (discovery === '') return null;
      return (await request('GET /v1/sip/discover/status', { query: { discovery_id: discovery }, signal }))
        .data;
    },
    (one) =>
      one?.status === 'running'
        ? { events: { types: 'discovery', subject_id: one.discovery_id }, ...underWay }
        : unchanging,
  );
  const around = useLoaded(
    `setup ${number}`,
    async (signal) => {
      const [firewall, setup] = await Promise.all([
        request('GET /v1/sip/firewall-ips', { signal }),
        request('GET /v1/sip/outbound-setup', {
          query: { ...(number !== '' && { phone_number: number }) },
          signal,
        }),
      ]);
      return { firewall: firewall.data, setup: setup.data };
    },
    usual,
  );
  return (
    <Screen title={words.title}>
      <p class="quiet">{words.intro}</p>
      <Find found={found} />
      <Attach discovery={found.data} number={number} />
      {around.problem && <ProblemNote problem={around.problem} again={around.reload} />}
      {!around.data && around.loading && <Loading />}
      {around.data && (
        <>
          <Firewall firewall={around.data.firewall} />
          <Setup
            key={found.data?.recommended?.detected_system ?? ''}
            setup={around.data.setup}
            firewall={around.data.firewall}
            number={number}
            system={found.data?.recommended?.detected_system ?? ''}
          />
        </>
      )}
      <TestCall number={number} call={call} />
    </Screen>
  );
}
