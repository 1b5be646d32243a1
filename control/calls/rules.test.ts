import { describe, expect, it } from 'vitest';
import { callRecord } from '../../test/kit/control/edge-client.ts';
import { callLogEntry, callRow, callView } from './rules.ts';

const unanswered = { answered_at: null, codec: null, media: null };
const outcome = (changes: Parameters<typeof callRecord>[1]) =>
  callRow(callRecord('org', changes), 'edge').outcome;

describe('the outcome of a call', () => {
  it.each([
    ['in_progress', { ended_at: null }],
    ['completed', {}],
    ['completed', { termination: 'agent_failed', hangup_by: 'error' }],
    ['busy', { ...unanswered, sip_code: 486 }],
    ['busy', { ...unanswered, sip_code: 600 }],
    ['no_answer', { ...unanswered, sip_code: 480, termination: 'no_agent' }],
    ['no_answer', { ...unanswered, sip_code: 408, status: 'no-answer' }],
    ['failed', { ...unanswered, sip_code: 408, status: 'failed' }],
    ['canceled', { ...unanswered, sip_code: 487, status: 'canceled', termination: 'caller_canceled' }],
    // The far end of an outbound call may send 487 too, without a cancel from us.
    ['no_answer', { ...unanswered, sip_code: 487, status: 'no-answer', termination: 'no_answer' }],
    ['busy', { ...unanswered, sip_code: 487, status: 'busy', termination: 'callee_busy' }],
    ['canceled', { ...unanswered, sip_code: 480, termination: 'api_stop' }],
    ['failed', { ...unanswered, sip_code: 403, status: 'failed' }],
    ['failed', { ...unanswered, sip_code: 503, status: 'failed' }],
  ] as const)('is %s for %j', (expected, changes) => expect(outcome(changes)).toBe(expected));
});

describe('a row of the call log', () => {
  it('writes times with milliseconds, so that they sort as text', () => {
    const row = callRow(
      callRecord('org', { started_at: '2030-01-01T00:00:00Z', ended_at: '2030-01-01T02:00:00.5+01:00' }),
      'edge',
    );
    expect([row.started_at, row.ended_at]).toEqual(['2030-01-01T00:00:00.000Z', '2030-01-01T01:00:00.500Z']);
  });

  it('shows code and reason as its status, and the outcome when there is no code', () => {
    const status = (changes: Parameters<typeof callRecord>[1]) =>
      callLogEntry(callRow(callRecord('org', changes), 'edge')).status;
    expect(status({})).toBe('200 OK');
    expect(status({ sip_reason: null })).toBe('200');
    expect(status({ ...unanswered, sip_code: null, sip_reason: null, status: 'failed' })).toBe('failed');
    expect(status({ ended_at: null })).toBe('in progress');
  });
});

describe('the call record', () => {
  const view = (changes: Parameters<typeof callRecord>[1]) =>
    callView(
      callRow(callRecord('org', changes), 'edge'),
      { entries: [], isCut: false },
      Date.UTC(2030, 0, 1, 0, 1, 2),
    );

  it.each([
    ['agent', 'ASSISTANT'],
    ['peer', 'USER'],
    ['api', 'API'],
    ['error', 'ERROR'],
    ['timeout', 'ERROR'],
    ['transfer', 'ASSISTANT'],
    [null, null],
  ] as const)('maps hangup_by %s: %s', (hangup_by, expected) =>
    expect(view({ hangup_by }).call_ended_by).toBe(expected),
  );

  it('measures the duration from the answer to the end, or to now', () => {
    expect(view({})).toMatchObject({ call_length: 0.75, corrected_duration: 45 });
    expect(view({ ended_at: null })).toMatchObject({ call_length: 1, corrected_duration: 60, end_at: null });
    expect(view(unanswered)).toMatchObject({ call_length: 0, corrected_duration: 0 });
  });

  it('explains failures, and only those', () => {
    expect(view({}).error_message).toBeNull();
    expect(
      view({
        ...unanswered,
        sip_code: 503,
        status: 'failed',
        termination: 'capacity',
        termination_detail: 'Limit 200.',
      }).error_message,
    ).toBe('The edge is at its call limit. Limit 200.');
    expect(
      view({ ...unanswered, sip_code: 500, status: 'failed', termination: 'from the future' }).error_message,
    ).toBe('The call failed.');
  });
});
