import { readCallTarget, transferTargetOf } from '#shared/call-target.ts';
import type { Log } from '../call/log.ts';
import type { AgentHost } from '../call/ports/agents.ts';
import type { ConsultOrder, TransferOutcome } from '../call/ports/transfer.ts';

/** Requests a transfer to a target from an author or a server; an invalid target fails like any other transfer. */
export async function transferTo(
  host: AgentHost,
  text: string,
  method: 'bridge' | 'refer',
  consult: ConsultOrder | null = null,
): Promise<TransferOutcome> {
  const read = text.trim() === '' ? { problem: 'is empty' } : readCallTarget(text);
  if ('problem' in read) {
    const reason = `The transfer target "${text}" ${read.problem}.`;
    return { ok: false, code: 'target_not_allowed', sipCode: null, reason };
  }
  return host.transfer({ target: transferTargetOf(read, consult ? 'bridge' : method), method, consult });
}

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
