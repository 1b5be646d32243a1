/**
 * Memory of standing calls in each process of a whole Trunkline: calls over one TLS connection with SRTP in both
 * directions, each with the demo pathway, which has spoken and waits for a key.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { demoNumber } from '../../control/bootstrap.ts';
import { SipCaller, sipRequest, toTagOf } from '../kit/fakes/sip-caller.ts';
import { TestSystem } from '../kit/programs/harness.ts';
import { freeUdpRange } from '../kit/programs/ports.ts';
import { commandLine, residentMiB } from '../kit/programs/processes.ts';
import { FarEnds } from './far-ends.ts';

export interface StandingCallsRow {
  readonly calls: number;
  /**
   * Growth of resident memory from the first half of the calls to all of them, divided by the second half, MiB: the
   * first half has grown what calls share (compiled code, buffers, V8's young generation).
   */
  readonly edge: number;
  readonly worker: number;
  readonly engine: number;
}

interface Resident {
  readonly edge: number;
  readonly worker: number;
  readonly engine: number;
}

/** The greeting has been spoken; the first silence event is not there yet. */
const settleMs = 8000;

/** @throws Error when a call is not answered */
export async function measureStandingCalls(calls: number): Promise<StandingCallsRow> {
  const half = Math.ceil(calls / 2);
  // Two calls at a time, and the share of calls of tests.
  const ports = 6 * half;
  const first = await freeUdpRange(ports);
  const system = await TestSystem.start({
    RTP_PORT_MIN: String(first),
    RTP_PORT_MAX: String(first + ports - 1),
  });
  try {
    return await talk(system, half, 'first', async () => {
      const before = resident(system);
      const during = await talk(system, half, 'second', async () => resident(system));
      const perCall = (part: keyof Resident) => (during[part] - before[part]) / half;
      return { calls, edge: perCall('edge'), worker: perCall('worker'), engine: perCall('engine') };
    });
  } finally {
    await system.stop();
  }
}

/** Sets up calls, waits until they stand, looks, and hangs up. */
async function talk<T>(system: TestSystem, calls: number, name: string, look: () => Promise<T>): Promise<T> {
  const farEnds = new FarEnds();
  const caller = await SipCaller.connect(system.sipPort, system.ca);
  try {
    const offers = await farEnds.open(calls, ['PCMU']);
    const dialogs: { readonly callId: string; readonly toTag: string | undefined }[] = [];
    const answers: string[] = [];
    for (const [index, offer] of offers.entries()) {
      const callId = `${name}-${index}`;
      const uri = `sip:${demoNumber}@127.0.0.1`;
      caller.send(sipRequest('INVITE', { callId, uri, body: offer }));
      const answer = await caller.final();
      if (!answer?.startLine.startsWith('SIP/2.0 200'))
        throw new Error(`call ${index} was not answered: ${answer?.startLine ?? 'connection closed'}`);
      const toTag = toTagOf(answer);
      caller.send(sipRequest('ACK', { callId, uri, toTag }));
      dialogs.push({ callId, toTag });
      answers.push(answer.body);
    }
    farEnds.start(answers);
    await pause(settleMs);
    const seen = await look();
    for (const { callId, toTag } of dialogs) {
      caller.send(sipRequest('BYE', { callId, cseq: 2, uri: `sip:${demoNumber}@127.0.0.1`, toTag }));
      await caller.final();
    }
    return seen;
  } finally {
    caller.close();
    await farEnds.close();
  }
}

function resident(system: TestSystem): Resident {
  const sum = (has: string) =>
    system
      .processes()
      .filter((pid) => commandLine(pid).includes(has))
      .reduce((all, pid) => all + residentMiB(pid), 0);
  return { edge: sum('edge/main.ts'), worker: sum('mediasoup-worker'), engine: sum('engine/main.ts') };
}
