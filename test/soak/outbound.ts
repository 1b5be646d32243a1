/** Calls that the API orders and a carrier's trunk gets. Each script throws when the product does not do as it should. */
import { CallQueued } from '#shared/api/calls.ts';
import { encodeMulaw } from '../kit/fakes/audio.ts';
import { framesOf } from '../kit/fakes/sounds.ts';
import type { SrtpPeer } from '../kit/fakes/srtp-peer.ts';
import type { Api } from '../kit/programs/api.ts';
import type { TrunkCall } from '../kit/programs/trunk.ts';
import type { Random } from '../simulation/random.ts';
import type { Carrier } from './carrier.ts';
import { talk } from './inbound.ts';
import type { Call } from './ledger.ts';

export interface OutboundContext {
  readonly api: Api;
  readonly carrier: Carrier;
  readonly random: Random;
  /** Speaks one sentence and ends the call. */
  readonly shortPathway: string;
  /** Asks, waits for a key, ends the call. */
  readonly askingPathway: string;
  /** What a voicemail says, with the beep at its end. */
  readonly greeting: Int16Array;
  /** A number that nobody has called yet. */
  nextCallee(): string;
}

type Script = (call: Call, context: OutboundContext) => Promise<void>;

async function order(
  call: Call,
  api: Api,
  from: string,
  phone_number: string,
  body: Record<string, unknown>,
): Promise<void> {
  const { call_id } = await api.read(CallQueued, 'POST', '/v1/calls', { phone_number, from, ...body });
  call.key = call_id;
  call.knownSince = performance.now();
}

/** Orders a call and gives it to `atCallee` when it arrives. */
async function placed(
  call: Call,
  context: OutboundContext,
  body: Record<string, unknown>,
  atCallee: (arrived: TrunkCall, media: SrtpPeer) => Promise<void>,
): Promise<void> {
  const callee = context.nextCallee();
  const awaited = context.carrier.await(callee);
  const media = await context.carrier.media();
  try {
    await order(call, context.api, context.carrier.number, callee, body);
    const arrived = await awaited.call;
    if (arrived === null) throw new Error('no INVITE at the trunk');
    await atCallee(arrived, media);
  } finally {
    awaited.end();
    media.close();
  }
}

/** Answers with media, and waits for the ACK. */
export async function pickUp(arrived: TrunkCall, media: SrtpPeer): Promise<void> {
  media.connect(arrived.invite.body);
  arrived.answer('180 Ringing');
  arrived.answer('200 OK', media.sdp());
  await arrived.expect('ACK');
}

/** Sends silence until the edge hangs up. */
async function untilHungUp(arrived: TrunkCall, media: SrtpPeer): Promise<void> {
  await talk(media, 60_000, () => arrived.got('BYE'));
  if (!arrived.got('BYE')) throw new Error('the edge did not hang up within 60 s');
}

const talkative = ({ askingPathway }: OutboundContext) => ({
  pathway_id: askingPathway,
  voicemail: { action: 'ignore' },
});

export const outboundScripts = {
  'answered, the agent ends it': (call, context) =>
    placed(
      call,
      context,
      { pathway_id: context.shortPathway, voicemail: { action: 'ignore' } },
      async (arrived, media) => {
        await pickUp(arrived, media);
        await untilHungUp(arrived, media);
        if (media.packets === 0) throw new Error('no audio arrived');
        call.hasTalked = true;
      },
    ),
  'answered, the callee ends it': (call, context) =>
    placed(call, context, talkative(context), async (arrived, media) => {
      await pickUp(arrived, media);
      await talk(media, context.random.between(1, 8) * 1000, () => arrived.got('BYE'));
      if (arrived.got('BYE')) throw new Error('the edge ended the call early');
      await arrived.hangUp();
    }),
  'answered, stopped by the API': (call, context) =>
    placed(call, context, talkative(context), async (arrived, media) => {
      await pickUp(arrived, media);
      await talk(media, 1000, () => arrived.got('BYE'));
      await context.api.ok('POST', `/v1/calls/${call.key}/stop`, {});
      await arrived.expect('BYE');
    }),
  busy: (call, context) =>
    placed(call, context, talkative(context), async (arrived) => {
      arrived.answer('486 Busy Here');
      await arrived.expect('ACK');
    }),
  declined: (call, context) =>
    placed(call, context, talkative(context), async (arrived) => {
      arrived.answer('180 Ringing');
      arrived.answer('603 Decline');
      await arrived.expect('ACK');
    }),
  'no answer, stopped by the API': (call, context) =>
    placed(call, context, talkative(context), async (arrived) => {
      arrived.answer('180 Ringing');
      await new Promise((resolve) => setTimeout(resolve, context.random.between(1, 6) * 1000));
      await context.api.ok('POST', `/v1/calls/${call.key}/stop`, {});
      await arrived.expect('CANCEL');
    }),
  voicemail: (call, context) =>
    placed(
      call,
      context,
      { pathway_id: context.askingPathway, voicemail: { action: 'hangup' } },
      async (arrived, media) => {
        await pickUp(arrived, media);
        for (const frame of framesOf(context.greeting)) {
          if (arrived.got('BYE')) break;
          await media.play([encodeMulaw(frame)]);
        }
        await untilHungUp(arrived, media);
      },
    ),
} satisfies Record<string, Script>;

export type OutboundKind = keyof typeof outboundScripts;

/** Of 100 calls. */
export const outboundWeights: Readonly<Record<OutboundKind, number>> = {
  'answered, the agent ends it': 25,
  'answered, the callee ends it': 30,
  'answered, stopped by the API': 10,
  busy: 12,
  declined: 8,
  'no answer, stopped by the API': 10,
  voicemail: 5,
};

/** Over a number whose endpoints are all dead: the record says so. */
export async function overDeadTrunk(call: Call, from: string, context: OutboundContext): Promise<void> {
  const { api, shortPathway } = context;
  await order(call, api, from, context.nextCallee(), { pathway_id: shortPathway });
  const { outcome, termination } = await api.endedCall(call.key ?? '');
  if (outcome === 'completed') throw new Error(`a call over a dead trunk was ${outcome} (${termination})`);
}
