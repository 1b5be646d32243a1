/** The assertions of a run, each with its verdict, the reason, and the words that it quotes. */
import { Badge, type Tone } from '../../parts/pieces.tsx';
import { tests } from '../../text/tests.ts';
import { lineId } from './conversation.tsx';
import { isOver, type Run, score, type Verdict } from './pieces.tsx';

const words = tests.run;

const tones: Readonly<Record<Verdict['status'], Tone>> = {
  PASSED: 'good',
  FAILED: 'bad',
  INCONCLUSIVE: 'warn',
  ERROR: 'warn',
};

export function VerdictBadge({ verdict }: { verdict: Verdict }) {
  return <Badge tone={tones[verdict.status]}>{words.verdict[verdict.status]}</Badge>;
}

export function Verdicts({ run, side }: { run: Run; side: string }) {
  if (run.assertion_results.length === 0)
    return <p class="quiet">{isOver(run.status) ? words.noVerdicts : words.judgedAtEnd}</p>;
  return (
    <ul class="verdicts">
      {run.assertion_results.map((one) => (
        <li key={one.assertion_id} class={one.passed ? 'passed' : 'not-passed'}>
          <p class="row">
            <VerdictBadge verdict={one} />
            <strong>{one.name ?? one.type}</strong>
            <span>{score(one.score)}</span>
            {one.is_required && <Badge tone="quiet">{words.required}</Badge>}
            <small class="quiet">
              <code>{one.type}</code> {words.weight(one.weight)}
            </small>
          </p>
          <p>{one.reasoning}</p>
          {one.expected !== null && (
            <p class="quiet">
              {words.expected}: {one.expected}
            </p>
          )}
          {one.evidence.length > 0 && (
            <ul class="evidence">
              {one.evidence.map(({ turn, quote }) => (
                <li key={`${turn} ${quote}`}>
                  <button type="button" class="moment" onClick={() => goToLine(side, turn)}>
                    {words.evidence(turn)}
                  </button>{' '}
                  <q>{quote}</q>
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ul>
  );
}

function goToLine(side: string, turn: number): void {
  const line = document.getElementById(lineId(side, turn));
  line?.scrollIntoView({ block: 'center' });
  line?.focus({ preventScroll: true });
}
