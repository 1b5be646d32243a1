import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cpuMsOf, hangMs } from '../../test/kit/cpu-time.ts';
import { readOrder } from './stream-orders.ts';

const read = (message: unknown) => readOrder(JSON.stringify(message), 'stream-1');
const order = (message: unknown) => {
  const found = read(message);
  return found && 'order' in found ? found.order : found;
};

describe('a message of a stream server', () => {
  it.each<[string, object, object]>([
    ['media', { media: { payload: 'AAECAw==' } }, { payload: 'AAECAw==' }],
    ['mark', { mark: { name: 'said' } }, { name: 'said' }],
    ['clear', {}, {}],
    ['dtmf', { dtmf: { digits: '12w#' } }, { digits: '12w#' }],
    ['hangup', {}, { reason: null, bye: {} }],
    ['hangup', { reason: 'sold' }, { reason: 'sold', bye: {} }],
    [
      'hangup',
      { hangup: { reason: 'sold', cause: 16, headers: { 'X-Disposition': 'sold' } } },
      { reason: 'sold', bye: { q850: 16, headers: { 'X-Disposition': 'sold' } } },
    ],
    ['transfer', { transfer: { target: '1001' } }, { target: '1001', method: 'bridge', consult: null }],
    [
      'transfer',
      { transfer: { target: '1001', method: 'refer', announcement: 'Ann waits.', accept_key: '1' } },
      { target: '1001', method: 'refer', consult: { announcement: 'Ann waits.', acceptKey: '1' } },
    ],
    ['recording', { recording: { action: 'pause' } }, { action: 'pause' }],
    [
      'custom',
      { custom: { name: 'lead.scored', data: { score: 7 } } },
      { name: 'lead.scored', data: '{"score":7}' },
    ],
    ['custom', { custom: { name: 'seen' } }, { name: 'seen', data: 'null' }],
  ])('%s with %j is read', (event, message, expected) => {
    expect(order({ event, streamSid: 'stream-1', ...message, more: 1 })).toEqual({ event, ...expected });
    expect(order({ event, ...message })).toEqual({ event, ...expected });
  });

  it('that is unknown means nothing', () => {
    for (const event of ['dance', '', 'toString', '__proto__', 'constructor'])
      expect(read({ event })).toBeNull();
  });

  it.each<[object, string]>([
    [{ event: 'media' }, '"media" must be an object.'],
    [{ event: 'media', media: { payload: 5 } }, '"media.payload" must be text.'],
    [{ event: 'media', media: { payload: 'a b' } }, '"media.payload" must be base64.'],
    [{ event: 'mark', mark: [] }, '"mark" must be an object.'],
    [{ event: 'mark', mark: { name: 'x'.repeat(1001) } }, '"mark.name" must have at most 1000 characters.'],
    [
      { event: 'dtmf', dtmf: { digits: '' } },
      '"dtmf.digits" must be 1 to 64 of 0-9, *, #, A-D, and w for a pause.',
    ],
    [
      { event: 'hangup', hangup: { cause: 0 } },
      '"hangup.cause" must be a Q.850 cause: a whole number from 1 to 127.',
    ],
    [
      { event: 'hangup', hangup: { cause: '16' } },
      '"hangup.cause" must be a Q.850 cause: a whole number from 1 to 127.',
    ],
    [
      { event: 'hangup', hangup: { headers: { Via: 'x' } } },
      '"hangup.headers.Via" cannot be sent: the edge writes this header itself.',
    ],
    [
      { event: 'hangup', hangup: { headers: [] } },
      '"hangup.headers" must be an object of header names with their values.',
    ],
    [{ event: 'hangup', hangup: 'now' }, '"hangup" must be an object.'],
    [{ event: 'transfer', transfer: { target: ' ' } }, '"transfer.target" must not be empty.'],
    [
      { event: 'transfer', transfer: { target: '1', method: 'magic' } },
      '"transfer.method" must be "bridge" or "refer".',
    ],
    [
      { event: 'transfer', transfer: { target: '1', accept_key: '12' } },
      '"transfer.accept_key" must be one of 0-9, * and #.',
    ],
    [
      { event: 'transfer', transfer: { target: '1', announcement: 5 } },
      '"transfer.announcement" must be text.',
    ],
    [
      { event: 'recording', recording: { action: 'stop' } },
      '"recording.action" must be "pause" or "resume".',
    ],
    [
      { event: 'custom', custom: { name: 'a b' } },
      '"custom.name" must be 1 to 64 letters, digits, or any of _ . : -',
    ],
    [
      { event: 'custom', custom: { name: 'a', data: 'x'.repeat(4095) } },
      '"custom.data" must have at most 4096 characters as JSON.',
    ],
  ])('%j is refused', (message, problem) => {
    expect(read(message)).toEqual({
      error: { event: Reflect.get(message, 'event'), code: 'invalid_field', message: problem },
    });
  });

  it('is read at once, whatever a payload consists of', () => {
    const payload = `${'\n'.repeat(100_000)}!`;
    const message = { event: 'media', media: { payload } };
    expect(cpuMsOf(() => read(message))).toBeLessThan(hangMs);
    expect(read(message)).toMatchObject({ error: { code: 'invalid_field' } });
    expect(order({ event: 'media', media: { payload: 'AA==\r\n' } })).toMatchObject({ event: 'media' });
  });

  it.each([98, 99, 1_000_000])('is read, or refused without an exception: data of %i levels', (levels) => {
    const data = '['.repeat(levels) + ']'.repeat(levels);
    const found = readOrder(`{"event":"custom","custom":{"name":"a","data":${data}}}`, 'stream-1');
    const message = 'The message is more than 100 levels deep.';
    if (levels <= 98) expect(found).toMatchObject({ order: { data } });
    else expect(found).toEqual({ error: { event: null, code: 'invalid_message', message } });
  });

  it('that is no message of this stream is refused', () => {
    expect(readOrder('{', 'stream-1')).toEqual({
      error: { event: null, code: 'invalid_message', message: 'The message is not JSON.' },
    });
    expect(read([])).toMatchObject({ error: { code: 'invalid_message' } });
    expect(read({ event: 5 })).toMatchObject({ error: { code: 'invalid_message' } });
    expect(read({ event: 'clear', streamSid: 'other' })).toMatchObject({
      error: { event: 'clear', code: 'wrong_stream' },
    });
  });

  it('never throws, whatever it is', () => {
    const fields = fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue()));
    const events = fc.constantFrom('media', 'mark', 'dtmf', 'hangup', 'transfer', 'recording', 'custom', 'x');
    fc.assert(
      fc.property(events, fields, (event, content) => {
        const found = read({ event, [event]: content });
        expect(found === null || 'order' in found || found.error.message.length < 400).toBe(true);
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => void readOrder(text, 'stream-1')));
  });
});
