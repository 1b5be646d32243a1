/**
 * Where customers' schemas and paths are computed: here, when their time is known to be short, else in the threads.
 * The main thread serves everybody, so nothing of a customer may hold it for long.
 */
import type { ResponseData } from '#shared/api/tools.ts';
import type { CodePool } from './code-pool.ts';
import { isSteadySchema, withLinearPatterns } from './linear-patterns.ts';
import { isSteadyPath, responseVariables } from './response-data.ts';
import { type Violation, violations } from './validate.ts';
import { OutOfTime } from './within-time.ts';

export interface Threads {
  readonly pool: CodePool;
  readonly orgId: string;
  /** For waiting and computing together, ms. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What the main thread computes for one run at most, ms. */
const mainMs = 10;

/** What a tool's schema finds wrong with inputs; a check that takes too long is a violation of its own. */
export async function customerViolations(
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
  { pool, ...order }: Threads,
): Promise<readonly Violation[]> {
  try {
    if (isSteadySchema(schema)) return violations(withLinearPatterns(schema), value, mainMs);
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
  }
  const work = { kind: 'check', schema: JSON.stringify(schema), value: JSON.stringify(value) } as const;
  const outcome = await pool.run(work, order);
  // What comes back is what `violations` gave to the thread's JSON.
  if ('value' in outcome) return outcome.value as Violation[];
  return [{ path: '', rule: `cannot be checked against the schema: ${outcome.error}` }];
}

/** The variables that a tool takes from a response; null when that takes too long. */
export async function customerVariables(
  entries: readonly ResponseData[],
  response: unknown,
  { pool, ...order }: Threads,
): Promise<Record<string, unknown> | null> {
  try {
    if (entries.every(({ data }) => isSteadyPath(data))) return responseVariables(entries, response, mainMs);
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
  }
  const work = {
    kind: 'paths',
    entries: JSON.stringify(entries),
    response: JSON.stringify(response),
  } as const;
  const outcome = await pool.run(work, order);
  return 'value' in outcome ? (outcome.value as Record<string, unknown>) : null;
}
