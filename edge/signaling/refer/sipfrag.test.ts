import { describe, expect, it } from 'vitest';
import { sipfrag, statusLineOf } from './sipfrag.ts';

describe('message/sipfrag', () => {
  it('is a status line', () => {
    expect(sipfrag({ status: 100, reason: 'Trying' })).toBe('SIP/2.0 100 Trying\r\n');
    expect(sipfrag({ status: 486, reason: 'Busy\r\nX: 1' })).toBe('SIP/2.0 486 Busy X: 1\r\n');
  });

  it.each([
    ['SIP/2.0 100 Trying\r\n', 100, 'Trying'],
    ['SIP/2.0 486 Busy Here\nContact: <sip:a@b>\n', 486, 'Busy Here'],
    ['\r\nsip/2.0 200', 200, ''],
    ['SIP/2.0 603 Decline', 603, 'Decline'],
  ])('is parsed leniently: %j', (body, status, reason) => {
    expect(statusLineOf(body)).toEqual({ status, reason });
  });

  it.each([undefined, '', 'BYE sip:a@b SIP/2.0', 'SIP/2.0 999 x', 'SIP/2.0 20 x', 'SIP/2.0 2000'])(
    'has no status line: %j',
    (body) => {
      expect(statusLineOf(body)).toBeNull();
    },
  );
});
