/** Joins a parked call with one that retrieves it. */
import type { LiveCall } from './live-call.ts';
import { Pairing } from './pairing.ts';
import type { Media } from './ports/media.ts';
import type { TransferOutcome } from './ports/transfer.ts';
import { LegsApart } from './refused.ts';
import { callOver, type FailedTransfer, failure } from './transfer/outcome.ts';

/**
 * The agents of both calls are closed when they are joined. Until then both keep what they have: on failure the one call
 * stays parked, and the other one with its agent, or parked too, whoever of them ends meanwhile. Never rejects.
 */
export async function retrieve(parked: LiveCall, by: LiveCall, media: Media): Promise<TransferOutcome> {
  const { slot } = parked.hold;
  const obstacle = obstacleTo(parked, by);
  if (slot === null || obstacle) return obstacle ?? failure('not_parked', 'The call is not parked.');
  const calls = [parked, by] as const;
  const pairing = new Pairing(calls, media);
  for (const call of calls) call.transfers.pairWith(pairing);
  if (!by.hold.active) by.agent.keepSilent();
  try {
    await pairing.join(() => joined(parked, by, slot));
    return { ok: true };
  } catch (error) {
    pairing.cancel();
    for (const call of calls) goesOn(call);
    return whyNot(parked, by, slot, error);
  }
}

function obstacleTo(parked: LiveCall, by: LiveCall): FailedTransfer | null {
  if (parked === by) return failure('not_active', 'A parked call cannot retrieve itself: another call must.');
  if (!by.up) return failure('not_active', 'The call that retrieves is not up.');
  const { obstacle } = by.transfers;
  if (obstacle !== null) return failure('not_active', `The call that retrieves cannot: ${obstacle}`);
  const ofParked = parked.up ? parked.transfers.obstacle : 'The call has ended.';
  return ofParked === null ? null : failure('not_parked', `The call cannot be retrieved: ${ofParked}`);
}

/** Unless it has left for another place by then. */
function goesOn({ up, transfers, hold, agent }: LiveCall): void {
  if (!up || transfers.obstacle !== null) return;
  if (hold.active) agent.playMusic();
  else agent.resume();
  hold.notJoined();
}

function joined(parked: LiveCall, by: LiveCall, slot: string): void {
  for (const [call, other] of [
    [parked, by],
    [by, parked],
  ] as const) {
    call.guarded(() => {
      call.hold.leave();
      call.agent.dismiss(`The call was joined with call ${other.id}.`);
      call.ledger.note(`Joined with call ${other.id} from slot ${slot}.`);
      if (call === by) call.ledger.handedOver(`park:${slot}`);
    });
  }
}

function whyNot(parked: LiveCall, by: LiveCall, slot: string, error: unknown): FailedTransfer {
  if (error instanceof LegsApart) return failure('apart', error.message);
  if (!parked.up) return failure('not_parked', `The call in slot ${slot} has ended.`);
  if (!by.up) return callOver;
  if (parked.hold.slot !== slot)
    return failure('not_parked', `The call in slot ${slot} was parked in another one.`);
  if (by.hold.slot !== null) return failure('not_active', 'The call that retrieves was parked.');
  return failure('target_failed', error instanceof Error ? error.message : String(error));
}
