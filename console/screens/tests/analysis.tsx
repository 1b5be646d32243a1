/** Why a run failed: the class of the fault, and what would help. Asked for once; the API keeps it. */
import { useSignal } from '@preact/signals';
import { type Answer, request } from '../../api/client.ts';
import { mayChange } from '../../api/session.ts';
import { Badge } from '../../parts/pieces.tsx';
import { percent } from '../../parts/rates.tsx';
import { ActButton } from '../../parts/submit.tsx';
import { tests } from '../../text/tests.ts';

type Found = Answer<'POST /v1/agent-testing/runs/{id}/analyze'>['analysis'];

const words = tests.run.analysis;

export function Analysis({ id }: { id: string }) {
  const found = useSignal<Found | null>(null);
  const ask = async () => {
    const answer = await request('POST /v1/agent-testing/runs/{id}/analyze', { path: { id } });
    found.value = answer.analysis;
  };
  if (!found.value)
    return mayChange.value ? (
      <div>
        <ActButton run={ask}>{tests.run.analyze}</ActButton>
      </div>
    ) : null;
  const { root_cause, root_cause_class, suggestions } = found.value;
  return (
    <section class="card" aria-labelledby="analysis-title">
      <h2 id="analysis-title">{words.title}</h2>
      <p>
        <Badge tone="warn">{words.classes[root_cause_class]}</Badge> {root_cause}
      </p>
      <ul class="verdicts">
        {suggestions.map((one) => (
          <li key={one.suggested_change}>
            <p>
              <strong>{one.description}</strong>{' '}
              <small class="quiet">
                {one.target_node_name !== null && words.at(one.target_node_name)}{' '}
                {words.sure(percent(one.confidence))}
              </small>
            </p>
            <p class="prose">{one.suggested_change}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}
