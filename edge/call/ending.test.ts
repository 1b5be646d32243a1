import { describe, expect, it } from 'vitest';
import { type TerminationCode, terminations } from '#shared/termination.ts';
import { endingOf, inputFor, reasonPhrase, refusalStatus } from './ending.ts';

const because = (code: TerminationCode) => ({ code, detail: null });

describe('what a termination means', () => {
  it.each<[TerminationCode, string, string, number | null]>([
    ['caller_canceled', 'canceled', 'peer', 487],
    ['api_stop', 'canceled', 'api', 480],
    ['media_refused', 'failed', 'error', 488],
    ['source_not_allowed', 'failed', 'error', 403],
    ['number_unknown', 'failed', 'error', 404],
    ['no_agent', 'no-answer', 'error', 480],
    ['agent_unavailable', 'no-answer', 'error', 480],
    ['agent_hangup', 'no-answer', 'agent', 480],
    ['capacity', 'failed', 'error', 503],
    ['no_media_port', 'failed', 'error', 503],
    ['draining', 'failed', 'error', 503],
    ['engine_lost', 'failed', 'error', null],
    ['connection_lost', 'failed', 'error', null],
    ['media_lost', 'failed', 'error', 503],
    ['internal_error', 'failed', 'error', 500],
  ])('before the answer %s is %s by %s with status %s', (code, status, hangupBy, sipCode) => {
    expect(endingOf(because(code), false)).toMatchObject({ status, hangupBy, sipCode });
  });

  it.each<[TerminationCode, string]>([
    ['caller_hangup', 'peer'],
    ['agent_hangup', 'agent'],
    ['api_stop', 'api'],
    ['max_duration', 'timeout'],
    ['ack_timeout', 'timeout'],
    ['session_expired', 'timeout'],
    ['media_timeout', 'timeout'],
    ['peer_gone', 'timeout'],
    ['bad_answer', 'error'],
    ['agent_failed', 'error'],
    ['edge_restarted', 'error'],
    ['engine_lost', 'error'],
    ['connection_lost', 'error'],
    ['dialog_lost', 'error'],
    ['transferred', 'transfer'],
    ['bridge_ended', 'transfer'],
    ['bridge_failed', 'error'],
  ])('after the answer %s is a completed call ended by %s', (code, hangupBy) => {
    expect(endingOf(because(code), true)).toEqual({
      status: 'completed',
      hangupBy,
      sipCode: 200,
      sipReason: 'OK',
    });
  });

  it.each<[TerminationCode, string, string]>([
    ['callee_busy', 'busy', 'peer'],
    ['callee_refused', 'failed', 'peer'],
    ['no_answer', 'no-answer', 'timeout'],
    ['route_unreachable', 'failed', 'error'],
    ['route_timeout', 'failed', 'timeout'],
    ['route_auth_failed', 'failed', 'error'],
    ['no_route', 'failed', 'error'],
    ['api_stop', 'canceled', 'api'],
    ['edge_restarted', 'canceled', 'error'],
    ['agent_unavailable', 'failed', 'error'],
    ['draining', 'failed', 'error'],
    ['target_not_allowed', 'failed', 'error'],
    ['bridge_ended', 'canceled', 'transfer'],
  ])('an outbound call that ends unanswered by %s is %s by %s', (code, status, hangupBy) => {
    expect(endingOf(because(code), false, 'outbound')).toEqual({
      status,
      hangupBy,
      sipCode: null,
      sipReason: null,
    });
  });

  it('shows the status an outbound call received, with its own phrase or the standard one', () => {
    const busy = { code: 'callee_busy' as const, detail: null, sipStatus: 486 };
    expect(endingOf(busy, false, 'outbound')).toMatchObject({ sipCode: 486, sipReason: 'Busy Here' });
    expect(endingOf({ ...busy, sipReason: 'On the phone' }, false, 'outbound').sipReason).toBe(
      'On the phone',
    );
  });

  it('sends a rejection or BYE unless the dialog is already gone', () => {
    const codes = Object.keys(terminations) as TerminationCode[];
    expect(codes.filter((code) => inputFor(because(code)) === 'gone')).toEqual([
      'caller_hangup',
      'callee_hangup',
      'callee_busy',
      'callee_refused',
      'callee_unknown',
      'route_unreachable',
      'route_timeout',
      'route_auth_failed',
      'route_refused',
      'route_failed',
      'route_media_refused',
      'no_route',
      'call_limit',
      'destination_blocked',
      'target_not_allowed',
      'caller_canceled',
      'ack_timeout',
      'edge_lost',
      'end_lost',
      'edge_unavailable',
      'connection_lost',
      'dialog_lost',
      'engine_lost',
    ]);
  });

  it('sends nothing when the dialog is already gone, whatever the code', () => {
    expect(inputFor({ code: 'transferred', gone: true })).toBe('gone');
  });

  it('lets a rejection name another status', () => {
    expect(refusalStatus({ code: 'media_refused', detail: null, sipStatus: 415 })).toBe(415);
    expect(endingOf({ code: 'agent_unavailable', detail: null, sipStatus: 486 }, false).status).toBe('busy');
  });

  it('has a reason phrase for every status the edge sends', () => {
    for (const code of Object.keys(terminations) as TerminationCode[]) {
      expect(reasonPhrase(refusalStatus(because(code))), code).not.toBe('');
    }
  });
});
