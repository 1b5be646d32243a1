/** Which agent answers calls to a number: shown, and chosen. */
import { useSignal } from '@preact/signals';
import { type Answer, request } from '../api/client.ts';
import { mayChange } from '../api/session.ts';
import { pathTo } from '../router.ts';
import { texts } from '../text/texts.ts';
import { type Agents, readAgents } from './agents.ts';
import { useLoaded } from './load.ts';
import { LoadState } from './pieces.tsx';
import { usual } from './renewal.ts';
import { Form, textOf } from './submit.tsx';

type Inbound = Answer<'GET /v1/inbound/{phone_number}'>;

const words = texts.trunks.answering;

/** What answers, as an option has it: the kind and the id; '': nothing, or what is none of the options. */
function chosenOf({ pathway_id, persona_id }: Inbound): string {
  if (pathway_id !== null) return `pathway ${pathway_id}`;
  return persona_id === null ? '' : `persona ${persona_id}`;
}

/** @returns null: nothing answers */
function nameOf(one: Inbound, { pathways, personas }: Agents): string | null {
  if (one.pathway_id !== null) return pathways.get(one.pathway_id) ?? words.kinds.pathway;
  if (one.persona_id !== null) return personas.get(one.persona_id) ?? words.kinds.persona;
  if (one.prompt !== null) return words.kinds.prompt;
  if (one.stream_url !== null) return words.kinds.stream;
  return one.realtime === null ? null : words.kinds.realtime;
}

export function Answering({ number }: { readonly number: string }) {
  const read = async (signal: AbortSignal) => {
    const [sip, inbound, agents] = await Promise.all([
      request('GET /v1/sip', { query: { phone_number: number }, signal }),
      request('GET /v1/inbound/{phone_number}', { path: { phone_number: number }, signal }),
      readAgents(signal),
    ]);
    return { isCalled: sip.data.inbound !== null, inbound, agents };
  };
  const loaded = useLoaded(`answering ${number}`, read, usual);
  const saved = useSignal(false);
  const save = async (data: FormData) => {
    saved.value = false;
    const [kind, id = ''] = textOf(data, 'agent').split(' ');
    await request('POST /v1/inbound/{phone_number}', {
      path: { phone_number: number },
      body: kind === 'persona' ? { persona_id: id } : { pathway_id: id },
    });
    saved.value = true;
    loaded.reload();
  };
  const { data } = loaded;
  if (!data) return <LoadState of={loaded} />;
  if (!data.isCalled) return null;
  const { agents, inbound } = data;
  const name = nameOf(inbound, agents);
  const chosen = chosenOf(inbound);
  const options = (kind: string, names: ReadonlyMap<string, string>) =>
    [...names].map(([id, text]) => (
      <option key={id} value={`${kind} ${id}`} selected={chosen === `${kind} ${id}`}>
        {text}
      </option>
    ));
  return (
    <>
      {name === null ? <p class="note warn">{words.none}</p> : <p>{words.by(name)}</p>}
      {agents.pathways.size + agents.personas.size === 0 && (
        <p>
          {words.noAgents} <a href={pathTo('pathways')}>{texts.nav.pathways}</a>
        </p>
      )}
      {mayChange.value && agents.pathways.size + agents.personas.size > 0 && (
        <Form label={words.title} submit={words.save} run={save}>
          <label>
            {words.agent}
            <select name="agent" required>
              {chosen === '' && <option value="">{name ?? words.choose}</option>}
              {agents.pathways.size > 0 && (
                <optgroup label={texts.nav.pathways}>{options('pathway', agents.pathways)}</optgroup>
              )}
              {agents.personas.size > 0 && (
                <optgroup label={texts.nav.personas}>{options('persona', agents.personas)}</optgroup>
              )}
            </select>
          </label>
        </Form>
      )}
      <p role="status" class="quiet">
        {saved.value && words.saved}
      </p>
    </>
  );
}
