import { describe, expect, it } from 'vitest';
import type { HeaderMapping } from '#shared/edge-protocol/numbers.ts';
import { inboundVariables, outboundHeaders } from './header-mapping.ts';

const hex = (text: string) => Buffer.from(text, 'utf8').toString('hex');

const custom = (key: string, value: string, passthrough?: boolean): HeaderMapping => ({
  type: 'custom',
  key,
  value,
  ...(passthrough === undefined ? {} : { passthrough }),
});

describe('headers of an INVITE', () => {
  it('never become variables when they carry credentials', () => {
    const headers = { authorization: 'Digest response="a"', 'Proxy-Authorization': 'Digest response="b"' };
    const mappings = [custom('Authorization', 'one'), custom('proxy-authorization', 'two')];
    expect(inboundVariables(headers, mappings)).toEqual({});
  });

  it('become variables with their own name without a mapping', () => {
    const headers = {
      'X-Customer': 'Ada',
      'x-lower': '1',
      'p-asserted-identity': '<sip:+14155550123@example.com>',
      'remote-party-id': '<sip:1@b>',
      Diversion: '<sip:2@b>;reason=no-answer',
      'user-agent': 'pbx',
      subject: 'secret',
    };
    expect(inboundVariables(headers, [])).toEqual({
      'sip_header_x-customer': 'Ada',
      'sip_header_x-lower': '1',
      'sip_header_x-original-pai': '<sip:+14155550123@example.com>',
      'sip_header_x-original-rpid': '<sip:1@b>',
      'sip_header_x-original-diversion': '<sip:2@b>;reason=no-answer',
    });
  });

  it('become only the variable that the mapping names', () => {
    expect(
      inboundVariables({ 'X-Crm-Id': '17', subject: 'hi' }, [
        custom('X-CRM-Id', 'crm'),
        custom('Subject', 'topic'),
      ]),
    ).toEqual({
      crm: '17',
      topic: 'hi',
    });
  });

  it('set no variable when the mapped header is missing', () => {
    expect(inboundVariables({}, [custom('X-Crm-Id', 'crm')])).toEqual({});
  });

  it('are supplemented by constants', () => {
    expect(inboundVariables({}, [custom('channel', 'sip\r\ntrunk', true)])).toEqual({ channel: 'sip trunk' });
  });

  it('cannot set a built-in variable', () => {
    expect(inboundVariables({ 'X-A': '1' }, [custom('X-A', 'call_id'), custom('from', 'me', true)])).toEqual(
      {},
    );
  });

  it('become none by a name that every object has', () => {
    expect(inboundVariables({ constructor: '1', toString: '2', valueOf: '3' }, [])).toEqual({});
  });

  it('are unfolded', () => {
    expect(inboundVariables({ 'X-Long': 'one\r\n\t two' }, [])).toEqual({ 'sip_header_x-long': 'one two' });
  });

  const uui = (purpose?: string): HeaderMapping => ({
    type: 'uui',
    target: 'ticket',
    encoding: 'hex',
    ...(purpose === undefined ? {} : { purpose }),
  });

  it.each<[string, string, HeaderMapping, string | undefined]>([
    ['decodes hex', `${hex('Zürich 7')};encoding=hex`, uui(), 'Zürich 7'],
    ['uses hex as the default encoding', hex('a1'), uui(), 'a1'],
    ['reads a quoted value', `"${hex('q')}";encoding="hex"`, uui(), 'q'],
    ['picks the requested purpose', `${hex('x')};purpose=isdn-uui,${hex('y')};purpose=crm`, uui('crm'), 'y'],
    ['accepts a value without purpose', `${hex('x')};encoding=hex`, uui('crm'), 'x'],
    ['skips other encodings', 'hello;encoding=text', uui(), undefined],
    ['skips what is not hex', 'abc;encoding=hex', uui(), undefined],
  ])('User-to-User: %s', (_name, value, mapping, expected) => {
    expect(inboundVariables({ 'user-to-user': value }, [mapping])).toEqual(
      expected === undefined ? {} : { ticket: expected },
    );
  });
});

describe('headers of an outgoing INVITE', () => {
  const sent = (mappings: readonly HeaderMapping[], variables = {}) =>
    outboundHeaders(mappings, variables).headers;

  it('carry the value of the mapped variable', () => {
    const mappings = [custom('crm', 'X-Crm-Id'), custom('tries', 'X-Tries'), custom('who', 'X-Who')];
    expect(sent(mappings, { crm: '17', tries: 3, who: { name: 'Ada' } })).toEqual({
      'X-Crm-Id': '17',
      'X-Tries': '3',
      'X-Who': '{"name":"Ada"}',
    });
  });

  it('are omitted without a value', () => {
    expect(sent([custom('crm', 'X-Crm-Id'), custom('toString', 'X-B')], { crm: null })).toEqual({});
  });

  it('are listed with the reason when there is nothing to send', () => {
    const empty: HeaderMapping = { type: 'uui', target: 't', encoding: 'hex' };
    const mappings = [custom('crm', 'X-Crm-Id'), custom('a', 'X-A'), custom('gone', 'X-Gone'), empty];
    expect(outboundHeaders(mappings, { a: '', gone: null })).toEqual({
      headers: { 'X-A': '' },
      leftOut: [
        { name: 'X-Crm-Id', why: 'the variable crm has no value' },
        { name: 'X-Gone', why: 'the variable gone has no value' },
        { name: 'User-to-User', why: 'it has no content' },
      ],
    });
  });

  it('can be constants', () => {
    expect(sent([custom('X-Site', 'north', true)])).toEqual({ 'X-Site': 'north' });
  });

  it('stay on one line', () => {
    const control = String.fromCharCode(0, 1, 27, 127);
    expect(sent([custom('a', 'X-A')], { a: `b${control}c` })).toEqual({ 'X-A': 'b c' });
    const mappings = [custom('a', 'X-A'), custom('X-B', 'b\r\nVia: x', true)];
    expect(sent(mappings, { a: '1\r\n\r\nv=0' })).toEqual({ 'X-A': '1 v=0', 'X-B': 'b Via: x' });
  });

  it.each([
    ...['Via', 'From', 'to', 'CONTACT', 'Call-ID', 'CSeq', 'Max-Forwards', 'Route', 'Record-Route'],
    ...['Content-Type', 'Content-Length', 'Authorization', 'Proxy-Authorization'],
    ...['Require', 'Session-Expires', 'f', 'X A', 'X:', '', 'x'.repeat(65)],
  ])('cannot be %j', (name) => {
    const { headers, leftOut } = outboundHeaders([custom(name, 'x', true)], {});
    expect([headers, leftOut.map((one) => one.name)]).toEqual([{}, [name]]);
    expect(leftOut[0]?.why).toMatch(/^(not a valid header name|the edge writes this header itself)$/);
    expect(sent([custom('v', name)], { v: 'x' })).toEqual({});
  });

  it('are limited to fifteen, and to 4,000 characters in total', () => {
    const many = Array.from({ length: 16 }, (_, index) => custom(`X-${index}`, 'x', true));
    expect(Object.keys(sent(many))).toHaveLength(15);
    const long = [custom('X-A', 'a'.repeat(3_990), true), custom('X-B', 'b'.repeat(11), true)];
    const why = 'custom headers exceed 4000 characters in total';
    expect(outboundHeaders(long, {}).leftOut).toEqual([{ name: 'X-B', why }]);
  });

  it('are sent once, whatever their case: the last one counts', () => {
    expect(sent([custom('X-A', '1', true), custom('x-a', '2', true)])).toEqual({ 'X-A': '2' });
  });

  const uui = (content: string, purpose?: string): HeaderMapping => ({
    type: 'uui',
    target: 't',
    encoding: 'hex',
    content,
    ...(purpose === undefined ? {} : { purpose }),
  });

  it('carry user-to-user data in hex, from a variable or as given', () => {
    expect(sent([uui('ticket', 'crm'), uui('Zürich 7')], { ticket: 'a1' })).toEqual({
      'User-to-User': `6131;encoding=hex;purpose=crm, ${hex('Zürich 7')};encoding=hex`,
    });
    expect(sent([uui('')])).toEqual({});
  });

  it('can be read back', () => {
    const headers = sent([uui('Zürich 7', 'crm')]);
    const back: HeaderMapping = { type: 'uui', target: 'ticket', encoding: 'hex', purpose: 'crm' };
    expect(inboundVariables(headers, [back])).toEqual({ ticket: 'Zürich 7' });
  });
});
