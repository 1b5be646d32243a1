/** Steps 3 and 4: what the firewall lets through, and what is configured in the PBX. */
import { useSignal } from '@preact/signals';
import { accessOf } from '#shared/pbx/facts.ts';
import { knownSystems, pbxFiles } from '#shared/pbx/text.ts';
import type { Answer } from '../../api/client.ts';
import { CopiedText } from '../../parts/copied.tsx';
import { Facts } from '../../parts/pieces.tsx';
import { connect } from '../../text/connect.ts';
import type { Firewalled } from './steps.ts';

type OutboundSetup = Answer<'GET /v1/sip/outbound-setup'>['data'];

export function Firewall({ firewall: { ip_addresses, ports } }: { firewall: Firewalled }) {
  const words = connect.firewall;
  const lines = ip_addresses.flatMap((address) => [`${address}  ${ports.sip}`, `${address}  ${ports.rtp}`]);
  return (
    <section class="card" aria-labelledby="firewall-title">
      <h2 id="firewall-title">{words.title}</h2>
      {ip_addresses.length === 0 ? (
        <p class="note warn">{words.none}</p>
      ) : (
        <>
          <p>{words.what}</p>
          <CopiedText text={lines.join('\n')} name={words.addresses} />
        </>
      )}
    </section>
  );
}

interface SetupProps {
  readonly setup: OutboundSetup;
  readonly firewall: Firewalled;
  readonly number: string;
  /** As discovery recognized it; '': not yet. */
  readonly system: string;
}

export function Setup({ setup, firewall, number, system }: SetupProps) {
  const words = connect.setup;
  const chosen = useSignal(system);
  const facts = {
    server: setup.sip_server,
    port: setup.port,
    codecs: setup.codecs,
    addresses: firewall.ip_addresses,
    number: number === '' ? null : number,
    access: accessOf(setup.credentials),
  };
  const systems =
    system !== '' && pbxFiles(system, facts) ? [...new Set([system, ...knownSystems])] : knownSystems;
  const written = pbxFiles(chosen.value, facts);
  return (
    <section class="card" aria-labelledby="setup-title">
      <h2 id="setup-title">{words.title}</h2>
      <Facts
        rows={[
          [words.server, <code key="server">{`${setup.sip_server}:${setup.port}`}</code>],
          [words.transport, setup.transport.toUpperCase()],
          [words.srtp, <code key="srtp">{setup.srtp}</code>],
          [words.codecs, setup.codecs.join(', ')],
          ...(setup.credentials
            ? ([
                [words.user, <code key="user">{setup.credentials.username}</code>],
                [words.realm, setup.credentials.realm ?? '–'],
              ] as const)
            : []),
        ]}
      />
      <div class="filters">
        <label>
          {words.recognized}
          <select
            value={written ? chosen.value : ''}
            onChange={({ currentTarget: { value } }) => {
              chosen.value = value;
            }}
          >
            <option value="">{words.general}</option>
            {systems.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
      </div>
      {written === null && <CopiedText text={setup.instructions} name={words.asText} />}
      {written?.map(({ path, text }) => (
        <div key={path}>
          <code>{path}</code>
          <CopiedText text={text} name={`${words.asText}: ${path}`} />
        </div>
      ))}
      <p class="quiet">{words.certificate}</p>
    </section>
  );
}
