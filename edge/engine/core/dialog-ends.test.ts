/**
 * Dialogs that the engine ends, each with exactly one event to the application. All other ends are tested in
 * test/engine-walk/.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { type FakeFlow, refusingHost, silentHost, World } from '../../../test/engine-walk/world.ts';
import { parseAppMessage } from '../drachtio-port/app-message.ts';
import type { AppClient } from '../drachtio-port/client.ts';
import { SipCommand } from '../drachtio-port/command.ts';
import type { Frame } from '../drachtio-port/frame.ts';
import type { SipMessage } from '../message/message.ts';
import { DEFAULT_TRANSPORT_LIMITS } from '../transport/limits.ts';

const reachable = '<sip:peer@203.0.113.1:40001;transport=tls>';
const unreachable = '<sip:peer@203.0.113.1:40001;transport=udp>';

let world: World;
let client: AppClient;
let frames: Frame[];
let wire: string[];
let flow: FakeFlow;
let branches: number;

beforeEach(() => {
  world = new World();
  frames = [];
  wire = [];
  branches = 0;
  client = world.application((frame) => frames.push(frame));
  world.client = client;
  world.onSent = (_flow, message) => wire.push(startOf(message));
  flow = world.accept(40_001);
});

function startOf(message: SipMessage): string {
  return message.kind === 'request' ? message.method : `${message.status} ${message.reason}`;
}

function send(method: string, cseq: number, contact: string, toTag = '', callId = 'c'): void {
  world.receive(flow, [
    `${method} sip:us@192.0.2.1 SIP/2.0`,
    `Via: SIP/2.0/TLS 203.0.113.1;branch=z9hG4bK-${++branches}`,
    'From: <sip:peer@203.0.113.1>;tag=a',
    `To: <sip:us@192.0.2.1>${toTag}`,
    `Call-ID: ${callId}`,
    `CSeq: ${cseq} ${method}`,
    'Supported: 100rel',
    `Contact: ${contact}`,
  ]);
}

/** @returns the tokens of the engine's answer from the status on, and the message that was sent */
function say(
  transactionId: string,
  dialogId: string,
  ...lines: string[]
): { tokens: readonly string[]; sip: string } {
  const message = parseAppMessage(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`));
  if (!message) throw new Error('nonsense');
  const before = frames.length;
  world.core.execute(new SipCommand(client, ['id', 'sip', transactionId, dialogId, ''], message));
  const [answer] = frames.splice(before, 1);
  return { tokens: answer?.tokens.slice(3) ?? [], sip: answer?.sip.toString() ?? '' };
}

/** Delivers an INVITE to the application. @returns its transaction */
function invited(contact = reachable): string {
  send('INVITE', 1, contact);
  return frames.splice(0)[0]?.tokens[8] ?? '';
}

/** What the application received, abbreviated: source, octets on the wire, transaction, start line, Reason. */
function heard(): string[] {
  return frames.splice(0).map(({ tokens, sip }) => {
    const text = sip.toString();
    const reason = /^Reason: .*text="(.*)"/im.exec(text)?.[1];
    const name = tokens[8] === 'unsolicited' ? ' unsolicited' : '';
    const sent = tokens[3] === '0' ? ' unsent' : '';
    return `${tokens[2]}${sent}${name} ${text.split(' ')[0]}${reason === undefined ? '' : ` (${reason})`}`;
  });
}

/** Lets all promises that can settle do so. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

const nothing = { dialogs: 0, incoming: 0, outgoing: 0, serverCount: 0, clientCount: 0 };

describe('an INVITE whose Contact is not a SIP URI', () => {
  it.each(['<tel:+14155550100>', '<http://203.0.113.1/>', '<mailto:peer@example.com>', '*'])(
    '%s is rejected, because its dialog could not be ended',
    (contact) => {
      send('INVITE', 1, contact);
      expect(wire).toEqual(['400 Bad Contact']);
      expect(frames).toEqual([]);
      expect(world.core.held).toMatchObject(nothing);
    },
  );

  it('does not refresh the target of a dialog', () => {
    const { tokens, sip } = say(invited(), '', 'SIP/2.0 200 OK');
    const toTag = /^To: .*(;tag=\w+)/im.exec(sip)?.[1];
    send('ACK', 1, reachable, toTag);
    send('UPDATE', 2, '<tel:+14155550100>', toTag);
    expect(wire.at(-1)).toBe('400 Bad Contact');
    const bye = say('', tokens[8] ?? '', 'BYE sip:placeholder SIP/2.0');
    expect(bye.sip).toMatch(/^BYE sip:peer@203\.0\.113\.1:40001;transport=tls SIP/);
  });
});

describe('a call that is never acknowledged', () => {
  it('ends as soon as its connection closes, when its Contact names an unsupported transport', () => {
    say(invited(unreachable), '', 'SIP/2.0 200 OK');
    flow.close('gone');
    expect(heard()).toEqual(['application unsent unsolicited BYE (ACK impossible: connection lost)']);
    expect(world.core.held).toMatchObject({ dialogs: 0 });
  });

  it('ends after 32 s, and its BYE is reported although it cannot be sent', () => {
    const { tokens } = say(invited(unreachable), '', 'SIP/2.0 200 OK');
    flow.draining = true;
    world.clock.advance(32_000);
    expect(heard()).toEqual(['application unsent unsolicited BYE (ACK timeout)']);
    expect(say('', tokens[8] ?? '', 'BYE sip:placeholder SIP/2.0').tokens[1]).toMatch(
      /unable to find dialog/,
    );
  });

  it('ends as soon as its connection closes, when the connection to its Contact is refused', async () => {
    say(invited(`<sip:peer@${refusingHost}:5061;transport=tls>`), '', 'SIP/2.0 200 OK');
    flow.close('gone');
    await settled();
    expect(heard()).toEqual(['application unsolicited BYE (ACK impossible: connection lost)']);
    expect(world.core.held).toMatchObject({ dialogs: 0 });
  });

  it('ends at the connect timeout, when its Contact does not answer', async () => {
    say(invited(`<sip:peer@${silentHost}:5061;transport=tls>`), '', 'SIP/2.0 200 OK');
    flow.close('gone');
    await settled();
    expect(heard()).toEqual([]);
    world.clock.advance(DEFAULT_TRANSPORT_LIMITS.connectTimeoutMs);
    await settled();
    expect(heard()).toEqual(['application unsolicited BYE (ACK impossible: connection lost)']);
    expect(world.core.held).toMatchObject({ dialogs: 0 });
  });

  it('continues when its ACK arrives over another connection before that', async () => {
    const { sip } = say(invited(`<sip:peer@${silentHost}:5061;transport=tls>`), '', 'SIP/2.0 200 OK');
    flow.close('gone');
    flow = world.accept(40_002);
    send('ACK', 1, `<sip:peer@${silentHost}:5061;transport=tls>`, /^To: .*(;tag=\w+)/im.exec(sip)?.[1]);
    world.clock.advance(DEFAULT_TRANSPORT_LIMITS.connectTimeoutMs);
    await settled();
    expect(heard()).toEqual([expect.stringMatching(/^network ACK/)]);
    expect(world.core.held).toMatchObject({ dialogs: 1 });
  });

  it('waits for its ACK on another connection, when the peer can be called back', () => {
    say(invited(), '', 'SIP/2.0 200 OK');
    flow.close('gone');
    expect(heard()).toEqual([]);
    expect(world.core.held).toMatchObject({ dialogs: 1 });
    world.clock.advance(32_000);
    expect(heard()).toEqual(['application unsolicited BYE (ACK timeout)']);
  });
});

it('a BYE that cannot be sent is answered 503 and ends the dialog', () => {
  const { tokens, sip } = say(invited(unreachable), '', 'SIP/2.0 200 OK');
  const toTag = /^To: .*(;tag=\w+)/im.exec(sip)?.[1];
  send('ACK', 1, unreachable, toTag);
  flow.close('gone');
  heard();
  const dialogId = tokens[8] ?? '';
  const refer = say('', dialogId, 'REFER sip:placeholder SIP/2.0', 'Refer-To: <sip:x@y>');
  expect(refer.tokens.slice(0, 2)).toEqual(['NOK', 'requested protocol/transport not available']);
  const bye = say('', dialogId, 'BYE sip:placeholder SIP/2.0');
  expect(bye.tokens[0]).toBe('OK');
  const outcome = frames.splice(0);
  expect(outcome.map(({ tokens: [, , , bytes, , , , , id] }) => [bytes, id])).toEqual([['0', bye.tokens[7]]]);
  expect(outcome[0]?.sip.toString()).toMatch(
    /^SIP\/2\.0 503 [\s\S]*"requested protocol\/transport not available"/,
  );
  expect(world.core.held).toMatchObject({ dialogs: 0 });
});

describe('a ringing call', () => {
  it('is canceled towards the application when its connection closes', () => {
    say(invited(), '', 'SIP/2.0 180 Ringing');
    flow.close('gone');
    expect(heard()).toEqual(['network unsent CANCEL (connection lost)']);
    expect(world.core.held).toMatchObject({ dialogs: 0, dialogsForming: 0 });
  });

  it('is canceled towards the application when no PRACK acknowledges its 183', () => {
    say(invited(), '', 'SIP/2.0 183 Session Progress', 'Require: 100rel');
    world.clock.advance(32_000);
    expect(wire.at(-1)).toBe('504 Server Time-out');
    expect(heard()).toEqual(['network unsent CANCEL (PRACK timeout)']);
    expect(world.core.held).toMatchObject({ dialogs: 0 });
  });

  it('is canceled towards an application that has said nothing for 5 s', () => {
    invited();
    world.clock.advance(5_000);
    expect(wire.at(-1)).toBe('503 Service Unavailable');
    expect(heard()).toEqual(['network unsent CANCEL (no answer from the application)']);
  });

  it('is not confused with another call with the same Call-ID and From tag', () => {
    const first = invited();
    send('INVITE', 2, reachable);
    expect(wire.at(-1)).toBe('482 Loop Detected');
    say(first, '', 'SIP/2.0 200 OK');
    send('INVITE', 3, reachable);
    expect(wire.at(-1)).toBe('482 Loop Detected');
    expect(heard()).toEqual([]);
  });
});

describe('a dialog without an owner', () => {
  it('gets a BYE on the end command, after the ACK', () => {
    const { sip } = say(invited(), '', 'SIP/2.0 200 OK');
    world.core.endDialogs(world.core.dialogs());
    expect(wire).not.toContain('BYE');
    send('ACK', 1, reachable, /^To: .*(;tag=\w+)/im.exec(sip)?.[1]);
    expect(wire.at(-1)).toBe('BYE');
    expect(heard()).toContain('application unsolicited BYE (no call owns the dialog)');
    expect(world.core.dialogs()).toEqual([]);
  });

  it('is rejected while it rings, and unknown ids are ignored', () => {
    say(invited(), '', 'SIP/2.0 180 Ringing');
    world.core.endDialogs(['unknown', ...world.core.dialogs()]);
    expect(wire.at(-1)).toBe('480 Temporarily Unavailable');
    expect(heard()).toEqual(['network unsent CANCEL (no call owns the dialog)']);
  });

  it('gets a BYE when its application disconnects', () => {
    const { sip } = say(invited(), '', 'SIP/2.0 200 OK');
    send('ACK', 1, reachable, /^To: .*(;tag=\w+)/im.exec(sip)?.[1]);
    client.lost();
    world.core.clientGone(client);
    expect(wire.at(-1)).toBe('BYE');
    expect(world.core.held).toMatchObject({ dialogs: 0 });
  });
});

it('a subscription that is not refreshed ends with a NOTIFY made by the engine', () => {
  send('SUBSCRIBE', 1, reachable);
  say(frames.splice(0)[0]?.tokens[8] ?? '', '', 'SIP/2.0 200 OK', 'Expires: 60');
  world.clock.advance(124_000);
  expect(heard()).toEqual(['application unsent unsolicited NOTIFY']);
  expect(world.core.held).toMatchObject(nothing);
});

it('a challenged BYE that is not repeated ends the dialog', () => {
  const { tokens, sip } = say(invited(), '', 'SIP/2.0 200 OK');
  send('ACK', 1, reachable, /^To: .*(;tag=\w+)/im.exec(sip)?.[1]);
  world.onSent = (_flow, message) => {
    const { headers } = message;
    const same = ['via', 'from', 'to', 'call-id', 'cseq'].map((name) => `${name}: ${headers.get(name)}`);
    if (message.kind === 'request') world.receive(flow, ['SIP/2.0 401 Unauthorized', ...same]);
  };
  say('', tokens[8] ?? '', 'BYE sip:placeholder SIP/2.0');
  expect(world.core.dialogs()).toHaveLength(1);
  world.clock.advance(32_000);
  expect(world.core.dialogs()).toEqual([]);
});
