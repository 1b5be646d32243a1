import type { Log } from '../call/log.ts';
import type { AgentHost } from '../call/ports/agents.ts';
import { transferTo } from './transfer-to.ts';

/**
 * Transfers a call whose agent failed to its fallback number (contract 9.5). When that fails too, the call ends with
 * the original cause.
 */
export async function passOn(host: AgentHost, number: string, cause: Error, log: Log): Promise<void> {
  log.warn({ err: cause, fallback_number: number }, 'transferring the call to the fallback number');
  const outcome = await transferTo(host, number, 'bridge');
  if (outcome.ok) return;
  host.fail(new Error(`${cause.message}; the fallback number ${number}: ${outcome.reason}`, { cause }));
}
