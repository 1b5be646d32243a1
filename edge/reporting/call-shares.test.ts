import { expect, it } from 'vitest';
import type { ReportBody } from '#shared/edge-protocol/reports.ts';
import { callRecord } from '../../test/kit/fakes/call-record.ts';
import { CallShares } from './call-shares.ts';

it('drops what was measured on calls once a quarter of the memory is in use, and no record of a call', () => {
  const shares = new CallShares(4000);
  const at = '2030-01-01T00:00:10.000Z';
  const measured: ReportBody = {
    type: 'measured',
    calls: [{ call_id: 'a', quality: [], marks: [[0, 'sound', 1]] }],
  };
  expect(shares.admit(at, measured, 999)?.body).toBe(JSON.stringify(measured));
  expect(shares.admit(at, measured, 1000)).toBeNull();
  expect(shares.admit(at, { type: 'call', call: callRecord() }, 4000)).not.toBeNull();
});
