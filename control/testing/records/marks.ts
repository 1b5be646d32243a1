/** Where in the recording of a run its verdicts have their evidence (contract 6.4 `marks`). Pure. */
import type { AssertionResultView } from '#shared/api/agent-testing/assertions.ts';
import type { Run } from '#shared/api/agent-testing/runs.ts';
import type { ChatLine } from '../judging/ports.ts';

/** Of one run. */
const mostMarks = 200;

/** In the order of time. Lines whose time is not known have none. */
export function marksOf(
  results: readonly Pick<AssertionResultView, 'assertion_id' | 'name' | 'type' | 'status' | 'evidence'>[],
  lines: readonly Pick<ChatLine, 'role' | 'turn'>[],
  voice: Pick<NonNullable<Run['voice']>, 'turns'> | null,
): Run['marks'] {
  if (!voice) return [];
  const marks = results.flatMap(({ assertion_id, evidence, name, status, type }) =>
    evidence.flatMap(({ turn: line }) => {
      const at_ms = timeOf(lines[line], voice.turns);
      return at_ms === null ? [] : [{ at_ms, assertion_id, name, type, status, line }];
    }),
  );
  return marks.toSorted((a, b) => a.at_ms - b.at_ms).slice(0, mostMarks);
}

function timeOf(
  line: Pick<ChatLine, 'role' | 'turn'> | undefined,
  turns: NonNullable<Run['voice']>['turns'],
): number | null {
  if (!line) return null;
  // A pause splits what the agent says in a turn: the first part counts.
  const own = turns.filter(({ turn }) => turn === line.turn);
  const times = own.map((one) => (line.role === 'user' ? one.caller_at_ms : one.agent_at_ms));
  return times.find((at) => at != null) ?? null;
}
