/** Two runs side by side: which assertions differ, then both conversations. */

import { Table } from '../../parts/table.tsx';
import { pathTo } from '../../router.ts';
import { tests } from '../../text/tests.ts';
import { useNodeNames } from '../graph/node-names.ts';
import { Conversation } from './conversation.tsx';
import { type Run, RunStatus, score, took, type Verdict } from './pieces.tsx';
import { VerdictBadge, Verdicts } from './verdicts.tsx';

const words = tests.run.compare;

interface Pair {
  readonly key: string;
  readonly name: string;
  readonly left: Verdict | undefined;
  readonly right: Verdict | undefined;
}

/** Assertions of both runs, each once: of one scenario they have the same ids. */
function pairsOf(left: Run, right: Run): readonly Pair[] {
  const all = new Map(
    [...left.assertion_results, ...right.assertion_results].map((one) => [one.assertion_id, one]),
  );
  const of = (run: Run, id: string) => run.assertion_results.find((one) => one.assertion_id === id);
  return [...all].map(([key, one]) => ({
    key,
    name: one.name ?? one.type,
    left: of(left, key),
    right: of(right, key),
  }));
}

export function Compared({ left, right }: { left: Run; right: Run }) {
  const cell = (verdict: Verdict | undefined) =>
    verdict ? (
      <>
        <VerdictBadge verdict={verdict} /> {score(verdict.score)}
      </>
    ) : (
      <span class="quiet">{words.missing}</span>
    );
  return (
    <section aria-labelledby="compare-title">
      <h2 id="compare-title">{words.title}</h2>
      <Table
        name={words.title}
        rows={pairsOf(left, right)}
        keyOf={({ key }) => key}
        columns={[
          { head: words.head.assertion, cell: ({ name }) => name, grows: true },
          { head: words.head.left, cell: (pair) => cell(pair.left) },
          { head: words.head.right, cell: (pair) => cell(pair.right) },
        ]}
      />
      <div class="columns beside">
        <Side run={left} side="left" title={words.this} />
        <Side run={right} side="right" title={words.other} link />
      </div>
    </section>
  );
}

function Side({ run, side, title, link = false }: { run: Run; side: string; title: string; link?: boolean }) {
  const nodeName = useNodeNames(run);
  return (
    <section aria-label={title} class="card">
      <h3>
        {title}: {tests.version(run.version_number)} <RunStatus status={run.status} />{' '}
        <span class="quiet">
          {score(run.overall_score)}, {took(run.duration_ms)}
        </span>{' '}
        {link && <a href={pathTo('run', run.id)}>{words.open}</a>}
      </h3>
      <Conversation run={run} side={side} nodeName={nodeName} />
      <Verdicts run={run} side={side} />
    </section>
  );
}
