/** Calls that are transferred, by the API or by the peer's REFER. */
import type { Caller } from '../kit/programs/caller.ts';
import type { TrunkCall } from '../kit/programs/trunk.ts';
import { answered, hangUp, hungUp, talk } from './inbound.ts';
import type { Call } from './ledger.ts';
import { type OutboundContext, pickUp } from './outbound.ts';

type Script = (call: Call, caller: Caller, context: OutboundContext) => Promise<void>;

/** The call's id in the API, as soon as the edge has reported it as answered. */
async function idOf({ callId }: Caller, { api }: OutboundContext): Promise<string> {
  return (await api.loggedCall(callId, ({ answered_at }) => answered_at !== null)).id;
}

/** Is answered by the agent, and asks the API for the transfer. @returns the call that arrives at the target */
async function transferred(
  call: Call,
  caller: Caller,
  context: OutboundContext,
  atTarget: (arrived: TrunkCall) => Promise<void>,
): Promise<void> {
  const { api, carrier } = context;
  await answered(call, caller, carrier.number);
  await talk(caller.media, 600, () => hungUp(caller));
  const id = await idOf(caller, context);
  const target = context.nextCallee();
  const awaited = carrier.await(target);
  // The caller's audio must go on, or the media time-out ends the call.
  let isOver = false;
  const talking = talk(caller.media, 90_000, () => isOver || hungUp(caller));
  try {
    await api.ok('POST', '/v1/calls/active/transfer', { call_id: id, transfer_number: target });
    const arrived = await awaited.call;
    if (arrived === null) throw new Error('no INVITE at the target');
    await atTarget(arrived);
  } finally {
    isOver = true;
    awaited.end();
    await talking;
  }
}

export const transferScripts = {
  'bridge, target answers': (call, caller, context) =>
    transferred(call, caller, context, async (arrived) => {
      const media = await context.carrier.media();
      try {
        await pickUp(arrived, media);
        await talk(media, context.random.between(2, 6) * 1000, () => arrived.got('BYE'));
        if (media.packets === 0) throw new Error('no audio arrived at the target');
        if (context.random.chance(0.5)) {
          await arrived.hangUp();
          await caller.phone.expect('BYE');
        } else {
          await hangUp(caller);
          await arrived.expect('BYE');
        }
      } finally {
        media.close();
      }
    }),
  'bridge, target busy': (call, caller, context) =>
    transferred(call, caller, context, async (arrived) => {
      arrived.answer('486 Busy Here');
      await arrived.expect('ACK');
      await hangUp(caller);
    }),
  'bridge, caller hangs up': (call, caller, context) =>
    transferred(call, caller, context, async (arrived) => {
      arrived.answer('180 Ringing');
      await hangUp(caller);
      await arrived.expect('CANCEL');
    }),
  'REFER to the phone, accepted': async (call, caller, context) => {
    await referred(call, caller, context, 'SIP/2.0 200 OK');
    await caller.phone.expect('BYE');
  },
  'REFER to the phone, target busy': async (call, caller, context) => {
    await referred(call, caller, context, 'SIP/2.0 486 Busy Here');
    await hangUp(caller);
  },
  'REFER of the phone, target answers': async (call, caller, context) => {
    const target = context.nextCallee();
    const awaited = context.carrier.await(target);
    const media = await context.carrier.media();
    try {
      const { status, startLine } = await refers(call, caller, context, referTo(target, context));
      if (status !== 202) throw new Error(`REFER: ${startLine}`);
      const arrived = await awaited.call;
      if (arrived === null) throw new Error('no INVITE at the target');
      await pickUp(arrived, media);
      await caller.phone.expect('BYE');
      await talk(media, 1500, () => arrived.got('BYE'));
      if (!arrived.got('BYE')) await arrived.hangUp();
    } finally {
      awaited.end();
      media.close();
    }
  },
  'REFER of the phone, rejected': async (call, caller, context) => {
    const { status, startLine } = await refers(call, caller, context, 'sip:0900123@127.0.9.9:5061');
    if (status !== 403) throw new Error(`REFER elsewhere: ${startLine}`);
    await hangUp(caller);
  },
} satisfies Record<string, Script>;

export type TransferKind = keyof typeof transferScripts;

/** Of 100 transfers. */
export const transferWeights: Readonly<Record<TransferKind, number>> = {
  'bridge, target answers': 35,
  'bridge, target busy': 12,
  'bridge, caller hangs up': 12,
  'REFER to the phone, accepted': 12,
  'REFER to the phone, target busy': 7,
  'REFER of the phone, target answers': 15,
  'REFER of the phone, rejected': 7,
};

/** The number's primary endpoint, which the record names. */
function referTo(target: string, { carrier }: OutboundContext): string {
  return `sip:${target}@${carrier.address}:${carrier.ports[0]}`;
}

async function refers(call: Call, caller: Caller, { carrier }: OutboundContext, target: string) {
  await answered(call, caller, carrier.number);
  await talk(caller.media, 1000, () => hungUp(caller));
  return caller.phone.request('REFER', null, [`Refer-To: <${target}>`]);
}

/** The edge sends REFER; the phone reports how its call to the target ended. */
async function referred(call: Call, caller: Caller, context: OutboundContext, result: string): Promise<void> {
  await answered(call, caller, context.carrier.number);
  await talk(caller.media, 600, () => hungUp(caller));
  const id = await idOf(caller, context);
  const order = { call_id: id, transfer_number: context.nextCallee(), method: 'refer' };
  await context.api.ok('POST', '/v1/calls/active/transfer', order);
  await caller.phone.expect('REFER');
  const notify = (text: string, state: string) =>
    caller.phone.request(
      'NOTIFY',
      `${text}\r\n`,
      ['Event: refer', `Subscription-State: ${state}`],
      'message/sipfrag;version=2.0',
    );
  await notify('SIP/2.0 100 Trying', 'active;expires=60');
  await talk(caller.media, 800, () => hungUp(caller));
  await notify(result, 'terminated;reason=noresource');
}
