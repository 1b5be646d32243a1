/** The tokens of an agent of ours in a run over a call: its edge asks the models, and tells what their servers count. */
import type { ModelRequest } from '#shared/agent-test-protocol.ts';
import type { ConversationRecord } from '../judging/ports.ts';
import type { RunUsage } from '../judging/usage.ts';

interface Told {
  readonly record: ConversationRecord;
  /** null: the edge did not count them. */
  readonly requests: readonly ModelRequest[] | null;
}

const untold =
  'In a call the edge asks the model of the agent, and this one did not tell its tokens: it is of an earlier version, there were too many requests, or the call failed.';
const realtime = 'A realtime model spoke in the call, and its server did not tell its tokens.';

/** @param asksModel whether the agent asks a language model; by rules it has no tokens */
export async function countingAgent<T extends Told>(
  usage: Pick<RunUsage, 'add' | 'lacks'>,
  asksModel: boolean,
  converse: () => Promise<T>,
): Promise<T> {
  let told: T | null = null;
  try {
    told = await converse();
    return told;
  } finally {
    const requests = told?.requests ?? null;
    for (const request of requests ?? []) usage.add('agent', request);
    if (requests === null && asksModel) usage.lacks('agent', untold);
    if (told?.record.log.some(({ fact }) => fact?.kind === 'realtime_begun')) usage.lacks('agent', realtime);
  }
}
