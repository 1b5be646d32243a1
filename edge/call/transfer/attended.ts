/**
 * An attended transfer of a peer that has both calls with this edge: its REFER in one call names the dialog of the other
 * one in Replaces (RFC 5589 section 7, RFC 3891). Nobody is called: what is left of both calls is joined here.
 *
 *     A: peer <──> P ┐                        A: NOTIFY 200, then BYE
 *                    ├─ REFER in A ──> P <──> Q
 *     B: peer <──> Q ┘                        B: BYE
 *
 * P and Q are what the peer speaks with: the other call of a bridge, or the call's agent. An agent moves to the other
 * call. Two agents have no call to meet on. Until P and Q are joined, a BYE of the peer waits for the outcome: in a
 * transfer it does not mean that the call is over.
 */
import type { Link, LiveCall } from '../live-call.ts';
import { Pairing } from '../pairing.ts';
import type { PeerRefer } from '../ports/refer.ts';
import type { TransferOutcome } from '../ports/transfer.ts';
import { LegsApart } from '../refused.ts';
import { type FailedTransfer, failure, referStatus } from './outcome.ts';
import type { TransferParts } from './transfer-plan.ts';

interface Obstacle {
  readonly status: 491 | 603;
  /** One sentence, for the peer and the transcript. */
  readonly why: string;
}

const pending = (why: string): Obstacle => ({ status: 491, why });
const declined = (why: string): Obstacle => ({ status: 603, why });

/** Why what is left of the two calls cannot be joined; null: it can. */
export function joinObstacle(call: LiveCall, other: LiveCall): Obstacle | null {
  if (call === other) return declined('The call cannot replace itself.');
  const obstacle = obstacleOf(call, 'The call') ?? obstacleOf(other, 'The call that is to be replaced');
  if (obstacle) return obstacle;
  const { link } = call.transfers;
  if (link?.other === other) return declined('The two calls are joined with each other.');
  if (!link && !other.transfers.link) return declined('Both calls are with agents: nobody would be left.');
  return null;
}

function obstacleOf(call: LiveCall, which: string): Obstacle | null {
  const { up, plan, transfers, dialog, hold, agent } = call;
  if (plan.supervises || plan.testRunId !== undefined) return declined(`${which} cannot be transferred.`);
  const { link } = transfers;
  if (hold.active || link?.other.hold.active) return declined(`${which} is on hold by the other side.`);
  if (!up || transfers.leaving || transfers.busy || dialog.isTakenOver)
    return pending(`${which} is not up, or is being transferred.`);
  if (link) return link.other.up && !link.other.transfers.busy ? null : pending(`${which} is being changed.`);
  // A conference, for example.
  if (transfers.obstacle !== null) return declined(`${which} cannot be transferred: ${transfers.obstacle}`);
  return agent.present ? null : declined(`${which} has no agent any more.`);
}

/** Joins them at the peer's order, which is accepted: there is no obstacle. Never rejects. */
export async function joinAtPeersOrder(
  refer: PeerRefer,
  call: LiveCall,
  other: LiveCall,
  parts: Pick<TransferParts, 'media' | 'watch' | 'agentChanged'>,
): Promise<void> {
  const decided = parts.watch('follow', call);
  call.log.info({ target: refer.target, other_call_id: other.id }, 'the peer joins its two calls');
  call.ledger.note(`The peer asked to be replaced by whom it speaks with in call ${other.id}.`);
  const sides: readonly [Side, Side] = [sideOf(call), sideOf(other)];
  const reserved = new Set(sides.flatMap(({ own, link }) => (link ? [own, link.other] : [own])));
  for (const one of reserved) one.transfers.reserve();
  const outcome = await joined(sides, parts).catch((error: unknown) => whyNot(error));
  call.guarded(() => {
    const { status, reason } = outcome.ok ? { status: 200, reason: 'OK' } : referStatus(outcome);
    if (outcome.ok) call.ledger.handedOver(refer.target);
    else call.ledger.note(`The transfer to call ${other.id} failed: ${outcome.reason}`);
    call.log.info({ target: refer.target, other_call_id: other.id, outcome }, 'transfer decided');
    decided(outcome, outcome.ok ? (sides[1].link?.other.id ?? null) : null);
    refer.notify(status, reason);
  });
  for (const one of reserved) one.guarded(() => one.transfers.release());
  // RFC 3891 section 3: the side that accepts the replacement ends the replaced dialog. The peer ends the other one.
  if (outcome.ok && !other.termination) other.end({ code: 'transferred', detail: null });
}

/** One call of the peer, and the other call that it is joined with; null: it is with its agent. */
interface Side {
  readonly own: LiveCall;
  readonly link: Link | null;
}

function sideOf(call: LiveCall): Side {
  return { own: call, link: call.transfers.link };
}

async function joined(
  [one, other]: readonly [Side, Side],
  parts: Pick<TransferParts, 'media' | 'agentChanged'>,
): Promise<TransferOutcome> {
  const links = [one, other].flatMap(({ link }) => link ?? []);
  for (const { parting } of links) parting.part();
  try {
    if (one.link && other.link) await pair([one, other], [one.link, other.link], parts);
    else if (other.link) moveAgent(one, other, other.link, parts);
    else if (one.link) moveAgent(other, one, one.link, parts);
  } catch (error) {
    // What has ended meanwhile, or was separated otherwise, stays so.
    for (const { parting } of links) if (parting.isPossible()) parting.rejoin();
    throw error;
  }
  for (const { own } of [one, other]) own.transfers.leaveToPeer();
  return { ok: true };
}

async function pair(
  sides: readonly [Side, Side],
  links: readonly [Link, Link],
  { media }: Pick<TransferParts, 'media'>,
): Promise<void> {
  const calls = [links[0].other, links[1].other] as const;
  const pairing = new Pairing(calls, media);
  try {
    await pairing.join(() => {
      checkUnchanged(sides);
      for (const [i, { own }] of sides.entries()) leave(own, links[i]);
      for (const call of calls) call.transfers.pairWith(pairing);
      const [left, met] = calls;
      left.ledger.note(`Joined with call ${met.id} by the peer of both.`);
      met.ledger.note(`Joined with call ${left.id} by the peer of both.`);
      if (!calls.some(({ recording }) => recording.isOn)) left.recording.succeed(sides.map(({ own }) => own));
    });
  } catch (error) {
    pairing.cancel();
    throw error;
  }
}

/** The agent of one call goes on with whom the other one was joined with. */
function moveAgent(
  from: Side,
  to: Side,
  link: Link,
  { agentChanged }: Pick<TransferParts, 'agentChanged'>,
): void {
  const { own } = from;
  const { other } = link;
  const { endpoint } = own.agent;
  checkUnchanged([from, to]);
  own.media?.attach(null);
  try {
    other.media?.attach(endpoint);
  } catch (error) {
    own.agent.resume();
    throw error;
  }
  leave(to.own, link);
  other.limits.endBy(own.limits.deadline);
  own.agent.moveTo(other);
  agentChanged(other);
  other.recording.succeed([own, to.own]);
  other.ledger.note(`The agent of call ${own.id} continues on this call.`);
}

/** Separates a call from the one that it was joined with, which keeps its deadline: it may last no longer than before. */
function leave(call: LiveCall, link: Link | undefined): void {
  link?.dissolve();
  link?.other.limits.endBy(call.limits.deadline);
}

/** The calls went on while media was asked. */
function checkUnchanged(sides: readonly Side[]): void {
  for (const { own, link } of sides) {
    const calls = link ? [own, link.other] : [own];
    if (calls.some(({ up }) => !up)) throw new Error('One of the calls has ended.');
    if (calls.some(({ hold }) => hold.active)) throw new Error('One of the calls was put on hold.');
    if (link ? !link.parting.isPossible() : !own.agent.present)
      throw new Error('One of the calls was changed meanwhile.');
  }
}

function whyNot(error: unknown): FailedTransfer {
  const reason = error instanceof Error ? error.message : String(error);
  return failure(error instanceof LegsApart ? 'apart' : 'target_failed', reason);
}
