/** A new scenario from a template: a caller to start from. */
import { useSignal } from '@preact/signals';
import { request } from '../../api/client.ts';
import { useLoaded } from '../../parts/load.ts';
import { NamedOptions } from '../../parts/named-options.tsx';
import { Loading, ProblemNote } from '../../parts/pieces.tsx';
import { unchanging } from '../../parts/renewal.ts';
import { Form, textOf } from '../../parts/submit.tsx';
import { navigate, pathTo } from '../../router.ts';
import { tests } from '../../text/tests.ts';
import type { AgentNames } from './pieces.tsx';

const words = tests.scenarios.template;

interface NewScenarioProps {
  readonly names: AgentNames;
  /** The agent that is chosen at first; '': the first one. */
  readonly pathway: string;
  readonly open: boolean;
}

export function NewScenario({ open, ...props }: NewScenarioProps) {
  const shown = useSignal(open);
  return (
    <details
      class="card"
      open={shown.value}
      onToggle={({ currentTarget }) => {
        shown.value = currentTarget.open;
      }}
    >
      <summary>{words.title}</summary>
      {shown.value && <Templates {...props} />}
    </details>
  );
}

/** @param chosen the value of an option: what it is, and its id */
function subjectOf(chosen: string): { readonly agent_id: string } | { readonly pathway_id: string } {
  const [kind = '', id = ''] = chosen.split(' ');
  return kind === 'agent' ? { agent_id: id } : { pathway_id: id };
}

function Templates({ names, pathway }: Omit<NewScenarioProps, 'open'>) {
  const loaded = useLoaded(
    'templates',
    (signal) => request('GET /v1/agent-testing/templates', { query: {}, signal }),
    // Those of the release.
    unchanging,
  );
  const chosen = useSignal('');
  if (!loaded.data) {
    if (loaded.problem) return <ProblemNote problem={loaded.problem} again={loaded.reload} />;
    return <Loading />;
  }
  const { templates } = loaded.data;
  const template = templates.find(({ id }) => id === chosen.value) ?? templates[0];
  const add = async (data: FormData) => {
    const { scenario } = await request('POST /v1/agent-testing/templates/{id}/clone', {
      path: { id: textOf(data, 'template') },
      body: subjectOf(textOf(data, 'agent')),
    });
    navigate(pathTo('test', scenario.id));
  };
  return (
    <>
      <Form submit={words.add} run={add} label={words.title}>
        <label>
          {words.template}
          <select
            name="template"
            value={template?.id ?? ''}
            onChange={({ currentTarget: { value } }) => {
              chosen.value = value;
            }}
          >
            <NamedOptions of={templates} />
          </select>
        </label>
        <label>
          {words.agent}
          <select name="agent">
            {[...names.pathways].map(([id, name]) => (
              <option key={id} value={`pathway ${id}`} selected={id === pathway}>
                {name}
              </option>
            ))}
            {names.foreign.size > 0 && (
              <optgroup label={words.foreign}>
                {[...names.foreign].map(([id, name]) => (
                  <option key={id} value={`agent ${id}`}>
                    {name}
                  </option>
                ))}
              </optgroup>
            )}
          </select>
        </label>
      </Form>
      {template && (
        <p class="quiet">
          {template.description} {words.turns(template.max_turns)}
        </p>
      )}
    </>
  );
}
