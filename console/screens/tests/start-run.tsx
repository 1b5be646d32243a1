/** Starts a run; with two versions two runs with one seed, which are then shown side by side. */
import { useSignal } from '@preact/signals';
import { type Answer, request } from '../../api/client.ts';
import { Form, textOf } from '../../parts/submit.tsx';
import { navigate, pathTo, withQuery } from '../../router.ts';
import { tests } from '../../text/tests.ts';
import type { Scenario } from './pieces.tsx';

export type Versions = Answer<'GET /v1/pathway/{id}/versions'>;

const words = tests.start;
/** The largest seed of the API. */
const mostSeed = 2_147_483_647;

interface StartRunProps {
  readonly scenario: Scenario;
  readonly versions: Versions;
}

/** A version is chosen by its number; '': the one in production. */
function versionIn(data: FormData, name: string): { readonly version_number?: number } {
  const chosen = textOf(data, name);
  return chosen === '' ? {} : { version_number: Number(chosen) };
}

export function StartRun({ scenario: { agent_id, id, pathway_id, scenario_type }, versions }: StartRunProps) {
  const overCall = useSignal(false);
  const start = async (data: FormData) => {
    const given = textOf(data, 'seed');
    const seed = given === '' ? Math.floor(Math.random() * mostSeed) : Number(given);
    const path = { id };
    const begin = (version: { readonly version_number?: number }) =>
      request('POST /v1/agent-testing/scenarios/{id}/run', {
        path,
        body: {
          ...version,
          seed,
          ...(overCall.value && { transport: 'sip' as const, phone_number: textOf(data, 'number') }),
        },
      });
    const beside = textOf(data, 'beside');
    const first = await begin(versionIn(data, 'version'));
    const second = beside === '' ? null : await begin({ version_number: Number(beside) });
    navigate(withQuery(pathTo('run', first.run_id), { with: second?.run_id ?? '' }));
  };
  const options = [0, ...versions.map((one) => one.version_number)].map((number) => (
    <option key={number} value={String(number)}>
      {tests.version(number)}
      {versions.find((one) => one.version_number === number)?.environments.includes('production')
        ? `, ${tests.productionVersion}`
        : ''}
    </option>
  ));
  return (
    <section class="card" aria-labelledby="start-title">
      <h2 id="start-title">{words.title}</h2>
      <Form submit={words.go} run={start} label={words.title}>
        {pathway_id !== null && (
          <>
            <label>
              {words.version}
              <select name="version">
                <option value="">{tests.productionVersion}</option>
                {options}
              </select>
            </label>
            <label>
              {words.beside}
              <select name="beside">
                <option value="">{words.besideNone}</option>
                {options}
              </select>
            </label>
          </>
        )}
        <label>
          {words.seed}
          <input name="seed" type="number" min="0" max={mostSeed} aria-describedby="seed-hint" />
        </label>
        {scenario_type !== 'HISTORICAL' && agent_id === null && (
          <label>
            {words.over}
            <select
              onChange={({ currentTarget: { value } }) => {
                overCall.value = value === 'sip';
              }}
            >
              <option value="text">{words.overs.text}</option>
              <option value="sip">{words.overs.sip}</option>
            </select>
          </label>
        )}
        {overCall.value && (
          <label>
            {words.number}
            <input name="number" type="tel" required placeholder="+14155550100" />
          </label>
        )}
      </Form>
      <p class="quiet" id="seed-hint">
        {words.seedHint}
      </p>
    </section>
  );
}
