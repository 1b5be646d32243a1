import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRefer } from './refer-to.ts';

const read = (value: string) => readRefer({ 'refer-to': value });

describe('the target of a REFER', () => {
  it.each([
    ['<sip:+14155550177@pbx.example>', 'sip:+14155550177@pbx.example'],
    ['"Ann, desk 2" <sips:ann@pbx.example:5061>', 'sips:ann@pbx.example:5061'],
    ['sip:ann@pbx.example;x=1', 'sip:ann@pbx.example'],
    ['<sip:ann@pbx.example;method=INVITE;transport=tls>', 'sip:ann@pbx.example;transport=tls'],
    ['<sip:a;b?c@[2001:db8::1]:5061?Subject=x>', 'sip:a;b?c@[2001:db8::1]:5061'],
    ['<sip:pbx.example>', 'sip:pbx.example'],
  ])('%s', (value, target) => {
    expect(read(value)).toEqual({ ok: true, target, replaces: null, referredBy: null });
  });

  it('includes the unescaped Replaces embedded in Refer-To, and Referred-By, also in compact form', () => {
    const refer = {
      r: '<sip:ann@192.0.2.7:5061?Require=replaces&REPLACES=1%40pbx%3Bto-tag%3Da%3Bfrom-tag%3Db>',
      b: '<sip:bob@pbx.example>',
    };
    expect(readRefer(refer)).toEqual({
      ok: true,
      target: 'sip:ann@192.0.2.7:5061',
      replaces: '1@pbx;to-tag=a;from-tag=b',
      referredBy: '<sip:bob@pbx.example>',
    });
  });

  it.each([
    '<sip:192.0.2.7:5061;transport=tls?Replaces=1@pbx%3Bto-tag%3Da%3Bfrom-tag%3Db>',
    '<sip:192.0.2.7:5061;transport=tls?Require=replaces&replaces=1@pbx;to-tag=a;from-tag=b>',
    '<sip:a?b@192.0.2.7:5061;transport=tls?Replaces=1@pbx%3bto-tag%3da%3bfrom-tag%3db>',
    'sip:192.0.2.7:5061;transport=tls?Replaces=1%40pbx%3Bto-tag%3Da%3Bfrom-tag%3Db',
    'sip:ann@192.0.2.7:5061;transport=tls?Replaces=1@pbx;to-tag=a;from-tag=b',
  ])('includes the Replaces of a phone that does not escape it, or omits brackets: %s', (value) => {
    const target = value.replace('<', '').split(/\?R/)[0];
    expect(read(value)).toMatchObject({ target, replaces: '1@pbx;to-tag=a;from-tag=b' });
  });

  it.each([
    ['', 400, 'Missing Refer-To'],
    ['<sip:a@x.example>,<sip:b@x.example>', 400, 'More than one Refer-To'],
    ['+14155550177', 400, 'Malformed Refer-To'],
    ['<sip:a@>', 400, 'Malformed Refer-To'],
    ['<sip:a b@x.example>', 400, 'Malformed Refer-To'],
    ['<sip:a@x.example:99999>', 400, 'Malformed Refer-To'],
    ['<sip:a@x.example?Replaces=%0d%0aX:1>', 400, 'Malformed Refer-To'],
    ['<sip:a@x.example?Replaces=a%00b>', 400, 'Malformed Refer-To'],
    ['<sip:a@x.example;x=\0>', 400, 'Malformed Refer-To'],
    ['<sip:a@x.example;x=\x1b>', 400, 'Malformed Refer-To'],
    ['<sip:a@x.example?Replaces=%zz>', 400, 'Malformed Refer-To'],
    ['<sip:a@x.example?Replaces=1&Replaces=2>', 400, 'Malformed Refer-To'],
    ['<tel:alice>', 400, 'Malformed Refer-To'],
    ['<https://x.example/>', 416, 'Unsupported URI Scheme'],
    ['<sip:a@x.example;method=BYE>', 403, 'Only INVITE is sent for a REFER'],
  ])('is rejected when Refer-To is %j', (value, status, reason) => {
    expect(read(value)).toEqual({ ok: false, status, reason });
  });

  it('is rejected with two Referred-By', () => {
    const refer = { 'refer-to': '<sip:a@x.example>', 'referred-by': '<sip:b@x>,<sip:c@x>' };
    expect(readRefer(refer)).toEqual({ ok: false, status: 400, reason: 'More than one Referred-By' });
  });

  it('throws for no input, and never accepts a line end', () => {
    const hostile = fc.oneof(
      fc.string(),
      fc.string().map((text) => `<sip:a@x.example?Replaces=${text}>`),
      fc.string().map((text) => `<sip:${text}@x.example>`),
    );
    fc.assert(
      fc.property(hostile, (text) => {
        const asked = read(text);
        if (asked.ok) expect(`${asked.target}${asked.replaces}`).not.toMatch(/[\r\n]/);
      }),
    );
  });
});
