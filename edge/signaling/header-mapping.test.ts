import { describe, expect, it } from 'vitest';
import type { HeaderMapping } from '#shared/edge-protocol.ts';
import { inboundVariables } from './header-mapping.ts';

const hex = (text: string) => Buffer.from(text, 'utf8').toString('hex');

describe('headers of an INVITE', () => {
  it('become variables by their own name when nothing maps them', () => {
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

  const custom = (key: string, value: string, passthrough?: boolean): HeaderMapping => ({
    type: 'custom',
    key,
    value,
    ...(passthrough === undefined ? {} : { passthrough }),
  });

  it('become the variable that the mapping names, and only that', () => {
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

  it('leave a variable out when the mapped header did not come', () => {
    expect(inboundVariables({}, [custom('X-Crm-Id', 'crm')])).toEqual({});
  });

  it('are joined by constants', () => {
    expect(inboundVariables({}, [custom('channel', 'sip\r\ntrunk', true)])).toEqual({ channel: 'sip trunk' });
  });

  it('cannot set a built-in variable', () => {
    expect(inboundVariables({ 'X-A': '1' }, [custom('X-A', 'call_id'), custom('from', 'me', true)])).toEqual(
      {},
    );
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
    ['takes hex as the default encoding', hex('a1'), uui(), 'a1'],
    ['reads a quoted value', `"${hex('q')}";encoding="hex"`, uui(), 'q'],
    ['picks the purpose asked for', `${hex('x')};purpose=isdn-uui,${hex('y')};purpose=crm`, uui('crm'), 'y'],
    ['takes a value without purpose', `${hex('x')};encoding=hex`, uui('crm'), 'x'],
    ['skips other encodings', 'hello;encoding=text', uui(), undefined],
    ['skips what is no hex', 'abc;encoding=hex', uui(), undefined],
  ])('User-to-User: %s', (_name, value, mapping, expected) => {
    expect(inboundVariables({ 'user-to-user': value }, [mapping])).toEqual(
      expected === undefined ? {} : { ticket: expected },
    );
  });
});
