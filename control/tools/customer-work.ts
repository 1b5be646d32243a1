/**
 * Where customers' schemas and paths are computed: on the main thread when they are known to be fast, else in the pool.
 * The main thread serves everyone, so no customer may block it for long.
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
  /** Timeout for waiting and computing together, ms. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Most time on the main thread for one run, ms. */
const mainMs = 10;

/** Violations of a tool's schema; a check that takes too long is itself a violation. */
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
  // It is what `violations` returned in the thread, through JSON.
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
