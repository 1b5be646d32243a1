/** One configuration of a number: who may call, registration, failover, and what is wrong with it. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { Badge, Facts, ProblemNote, Time, type Tone } from '../../parts/pieces.tsx';
import { useAct } from '../../parts/submit.tsx';
import { texts } from '../../text/texts.ts';

type Sip = Answer<'GET /v1/sip'>['data']['configurations'][number];
type Failover = NonNullable<Sip['failover_config']>;

interface ConfigurationProps {
  readonly configuration: Sip;
  readonly reload: () => void;
}

const words = texts.trunks.configuration;
const { failover, registration: registered } = texts.trunks;

export function Configuration({ configuration: one, reload }: ConfigurationProps) {
  const { options } = one;
  const rows: (readonly [string, ComponentChildren])[] = [
    [words.endpoint, one.sip_endpoint ?? '–'],
    [words.codecs, one.codec_config.codecs.join(', ')],
    [words.transfers, options.transfer_mode.replaceAll('_', ' ')],
    [
      words.applied,
      one.applied ? words.appliedStates.yes : <Badge tone="warn">{words.appliedStates.no}</Badge>,
    ],
  ];
  if (options.auth_mode) rows.splice(1, 0, [words.access, words.accessKinds[options.auth_mode]]);
  if (options.allowed_ips && options.allowed_ips.length > 0)
    rows.splice(2, 0, [words.addresses, options.allowed_ips.join(', ')]);
  const id = `configuration-${one.id}`;
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{words.title(texts.calls.directions[one.direction], one.priority)} </h2>
      {one.inbound_sources === 'none' && <p class="note warn">{words.noCaller}</p>}
      {one.inbound_sources === 'open' && <p class="note warn">{words.anyCaller}</p>}
      {one.codec_config.unavailable.length > 0 && (
        <p class="note warn">{words.codecsGone(one.codec_config.unavailable.join(', '))}</p>
      )}
      <Facts rows={rows} />
      {options.auth_mode === 'register' && <Registration configuration={one} reload={reload} />}
      {one.failover_config && (
        <FailoverState configuration={one} state={one.failover_config} reload={reload} />
      )}
    </section>
  );
}

/** A button for what changes something, with its result beside it. */
function useAction(run: () => Promise<string>, reload: () => void) {
  const { act, busy, problem } = useAct();
  const done = useSignal('');
  const start = () =>
    act(async () => {
      done.value = '';
      done.value = await run();
      reload();
    });
  return { busy: busy.value, done: done.value, problem: problem.value, start };
}

interface ActionProps {
  readonly label: string;
  readonly run: () => Promise<string>;
  readonly reload: () => void;
}

function Action({ label, run, reload }: ActionProps) {
  const { busy, done, problem, start } = useAction(run, reload);
  return (
    <>
      <p class="row">
        <button type="button" aria-disabled={busy} onClick={start}>
          {label}
        </button>
        <span role="status" class="quiet">
          {done}
        </span>
      </p>
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}

const registrationTones: Readonly<Record<string, Tone>> = {
  registered: 'good',
  registering: 'live',
  failed: 'bad',
  ended: 'quiet',
};

function Registration({ configuration: one, reload }: ConfigurationProps) {
  const state = one.registration;
  const run = async () => {
    const body = { phone_number: one.number, configuration_id: one.id };
    const { data } = await request('POST /v1/sip/register-now', { body });
    if (!data.finished || !data.registration) return registered.running;
    return registered.states[data.registration.state];
  };
  return (
    <>
      <h3>
        {registered.title}{' '}
        {state && (
          <Badge tone={registrationTones[state.state] ?? 'quiet'}>{registered.states[state.state]}</Badge>
        )}
      </h3>
      {state ? (
        <Facts
          rows={[
            [registered.registrar, state.registrar],
            [registered.expires, <Time key="expires" at={state.expires_at} />],
            [registered.next, <Time key="next" at={state.next_try_at} />],
            [registered.error, state.last_error ?? '–'],
          ]}
        />
      ) : (
        <p class="quiet">{registered.none}</p>
      )}
      {mayChange.value && <Action label={registered.now} run={run} reload={reload} />}
    </>
  );
}

function FailoverState({ configuration: one, state, reload }: ConfigurationProps & { state: Failover }) {
  const run = async () => {
    await request('PATCH /v1/sip/config', {
      body: {
        phone_number: one.number,
        direction: 'outbound',
        configuration_id: one.id,
        failover_config: { failback_now: true },
      },
    });
    return failover.done;
  };
  const moved = state.active_priority > 0;
  return (
    <>
      <h3>{failover.title}</h3>
      <p>
        {state.enabled ? failover.on(state.triggers.join(', ').replaceAll('_', ' ')) : failover.off}
        {state.enabled && `; ${state.failback === 'auto' ? failover.back.auto : failover.back.manual}`}
      </p>
      {moved && (
        <p class="note warn">
          {failover.moved(
            texts.trunks.endpoints.roles[state.active_priority] ?? String(state.active_priority),
          )}
        </p>
      )}
      {moved && mayChange.value && <Action label={failover.now} run={run} reload={reload} />}
    </>
  );
}
