/** Joins a parked call with one that retrieves it. */
import type { LiveCall } from './live-call.ts';
import { Pairing } from './pairing.ts';
import type { Media } from './ports/media.ts';
import type { TransferOutcome } from './ports/transfer.ts';
import { LegsApart } from './refused.ts';
import { failure } from './transfer/outcome.ts';

/**
 * The agents of both calls are closed when they are joined. On failure the one call stays parked, and the other one
 * with its agent. Never rejects.
 */
export async function retrieve(parked: LiveCall, by: LiveCall, media: Media): Promise<TransferOutcome> {
  const pairing = new Pairing([parked, by], media);
  const busy = failure(
    'not_active',
    'One of the calls is not up, is being transferred, or is joined with another.',
  );
  if (parked === by || !by.up || !parked.up || by.hold.active) return busy;
  if (!by.transfers.pairWith(pairing)) return busy;
  if (!parked.transfers.pairWith(pairing)) {
    pairing.cancel();
    return busy;
  }
  by.agent.keepSilent();
  try {
    await pairing.join();
  } catch (error) {
    pairing.cancel();
    by.agent.resume();
    if (parked.hold.active) parked.agent.playMusic();
    const code = error instanceof LegsApart ? 'apart' : 'target_failed';
    return failure(code, error instanceof Error ? error.message : String(error));
  }
  const slot = parked.hold.slot ?? '';
  parked.hold.release();
  for (const [call, other] of [
    [parked, by],
    [by, parked],
  ] as const) {
    call.agent.dismiss(`The call was joined with call ${other.id}.`);
    call.ledger.note(`Joined with call ${other.id} from slot ${slot}.`);
  }
  by.ledger.handedOver(`park:${slot}`);
  return { ok: true };
}
