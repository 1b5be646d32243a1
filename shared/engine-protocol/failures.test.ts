import { describe, expect, it } from 'vitest';
import { connectionFailure, connectionFaults } from '../connection-faults.ts';
import { readEndCause } from './ends.ts';
import { readFailure, writeFailure } from './failures.ts';

describe('the cause of a failed connection in a header field', () => {
  it.each(connectionFaults)('is read as written: %s', (fault) => {
    expect(readFailure(writeFailure(connectionFailure(fault, 'text', 'detail')))).toEqual({
      fault,
      detail: 'detail',
    });
  });

  it('is one line of ASCII, whatever a peer put into its certificate', () => {
    const detail = 'DNS:bücher.example\r\nX-Injected: 1 "\\';
    const value = writeFailure(connectionFailure('certificate_name', 'text', detail));
    expect(value).toMatch(/^[ -~]+$/);
    expect(readFailure(value)).toEqual({ fault: 'certificate_name', detail });
  });

  it.each([undefined, '', 'refused', '{}', '{"fault":"made_up","detail":""}', '{"fault":"refused"}'])(
    'is none: %s',
    (value) => {
      expect(readFailure(value)).toBeNull();
    },
  );
});

it('an unknown cause of an end is read as null', () => {
  expect(readEndCause('no_ack')).toBe('no_ack');
  expect(['toString', 'No_Ack', undefined].map(readEndCause)).toEqual([null, null, null]);
});
