/** What else a run left: the tone, variables, and the requests that it sent or mocked. */
import { valueText } from '../../parts/format.ts';
import { Facts } from '../../parts/pieces.tsx';
import { Table } from '../../parts/table.tsx';
import { tests } from '../../text/tests.ts';
import type { NodeName } from './conversation.tsx';
import { type Run, score } from './pieces.tsx';

const words = tests.run;

export function Tone({ run: { service_tone_score: tone } }: { run: Run }) {
  if (!tone) return null;
  return (
    <section aria-labelledby="tone-title">
      <h2 id="tone-title">{words.tone.title}</h2>
      <Facts
        rows={[
          [words.tone.overall_tone_score, score(tone.overall_tone_score)],
          [words.tone.naturalness, score(tone.naturalness)],
          [words.tone.conciseness, score(tone.conciseness)],
          [words.tone.empathy, score(tone.empathy)],
          [words.tone.flow_preservation, score(tone.flow_preservation)],
          [words.tone.back_channeling, score(tone.back_channeling)],
          [words.tone.topic_transitions, score(tone.topic_transitions)],
        ]}
      />
      {tone.issues.length > 0 && (
        <ul class="evidence">
          {tone.issues.map((issue) => (
            <li key={issue}>{issue}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

export function Variables({ run: { variables_extracted: variables } }: { run: Run }) {
  const rows = Object.entries(variables);
  if (rows.length === 0) return null;
  return (
    <details class="variables">
      <summary>
        {words.variables} <span class="quiet">{rows.length}</span>
      </summary>
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>{valueText(value)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

export function Requests({ run: { webhook_calls, tool_calls }, nodeName }: { run: Run; nodeName: NodeName }) {
  const rows = [
    ...webhook_calls.map((one) => ({
      at: one.at,
      node: one.node_id,
      what: `${one.method} ${one.url}`,
      answer: one.status_code === null ? '–' : String(one.status_code),
      mocked: one.mocked,
    })),
    ...tool_calls.map((one) => ({
      at: one.at,
      node: one.node_id,
      what: one.name,
      answer: one.ok ? words.verdict.PASSED : words.verdict.FAILED,
      mocked: one.mocked,
    })),
  ].map((row, place) => ({ ...row, place }));
  if (rows.length === 0) return null;
  const { requestHead: head } = words;
  return (
    <section aria-labelledby="requests-title">
      <h2 id="requests-title">{words.requests}</h2>
      <Table
        name={words.requests}
        rows={rows}
        keyOf={({ place }) => String(place)}
        columns={[
          { head: head.node, cell: ({ node }) => node !== null && nodeName(node), from: 'medium' },
          { head: head.what, cell: ({ what }) => what, grows: true },
          { head: head.answer, cell: ({ answer }) => answer, numeric: true },
          { head: head.how, cell: ({ mocked }) => (mocked ? words.mocked : words.sent) },
        ]}
      />
    </section>
  );
}
