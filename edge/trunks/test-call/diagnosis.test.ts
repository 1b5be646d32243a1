import { describe, expect, it } from 'vitest';
import { certificateFailure, connectionLoss } from '#shared/connection-faults.ts';
import type { MediaReport } from '#shared/edge-protocol/calls.ts';
import type { AttemptFacts } from '../../call/causes/cause-words.ts';
import type { AttemptOutcome } from '../../call/ports/routes.ts';
import type { MediaFault } from '../../call/refused.ts';
import { type AnswerFacts, diagnose, type Findings } from './diagnosis.ts';

const attempt: AttemptFacts = {
  peer: 'pbx.example.com:5061',
  to: '+14155550123',
  outcome: { kind: 'canceled' },
  credentials: null,
  codecs: ['PCMU', 'PCMA'],
};
const unanswered: Findings = {
  termination: 'route_unreachable',
  detail: null,
  attempt,
  mediaFault: null,
  unresolved: null,
  answer: null,
};

function afterOutcome(outcome: AttemptOutcome, facts: Partial<AttemptFacts> = {}): string | null {
  return diagnose({ ...unanswered, attempt: { ...attempt, outcome, ...facts } });
}

const refusal = { status: 0, reason: '', warning: null, retryAfterS: null, authenticated: false };
const final = (status: number, credentialsSent = false) =>
  ({ kind: 'final', status, phase: 'silent', credentialsSent }) as const;

describe('without a connection', () => {
  it('uses the sentences of shared/connection-faults.ts', () => {
    const failure = certificateFailure('CERT_HAS_EXPIRED', 'certificate has expired');
    expect(afterOutcome({ kind: 'no_connection', failure })).toBe(
      'The certificate of pbx.example.com:5061 has expired; renew it.',
    );
  });

  it('a name without an address', () => {
    const error = 'pbx.example.com has no address';
    const unresolved = { peer: 'pbx.example.com:5061', error };
    expect(diagnose({ ...unanswered, attempt: null, unresolved })).toBe(
      'There is no usable address for pbx.example.com:5061: pbx.example.com has no address.',
    );
  });

  it('a lost connection', () => {
    const failure = connectionLoss(null);
    expect(afterOutcome({ kind: 'connection_lost', phase: 'silent', failure })).toBe(
      'The connection to pbx.example.com:5061 was lost before the call was answered: closed by the peer.',
    );
  });

  it('a server that does not respond', () => {
    expect(afterOutcome({ kind: 'no_response' })).toMatch(
      /^pbx.example.com:5061 accepted the connection, but did not respond to the INVITE in time;/,
    );
  });
});

describe('a rejection', () => {
  const refused = (status: number, reason: string, facts: Partial<AttemptFacts> = {}, sent = false) =>
    afterOutcome({ ...final(status, sent), refusal: { ...refusal, status, reason } }, facts);

  it.each([
    [
      302,
      'Moved Temporarily',
      'redirects the call; redirects are not followed; configure the host in the redirect',
    ],
    [
      403,
      'Forbidden',
      'rejected the call; allow our addresses, the calling number and calls to +14155550123 there',
    ],
    [404, 'Not Found', 'does not know the number or extension +14155550123'],
    [408, 'Request Timeout', 'got no response from its own next hop'],
    [
      415,
      'Unsupported Media Type',
      'accepts none of the offered media (SRTP with PCMU, PCMA); enable SRTP and one of these codecs',
    ],
    [420, 'Bad Extension', 'rejected the call'],
    [484, 'Address Incomplete', 'does not know the number or extension +14155550123'],
    [
      488,
      'Not Acceptable Here',
      'accepts none of the offered media (SRTP with PCMU, PCMA); enable SRTP and one of these codecs',
    ],
    [500, 'Server Internal Error', 'failed to handle the call'],
    [503, 'Service Unavailable', 'is out of service or overloaded'],
    [604, 'Does Not Exist Anywhere', 'does not know the number or extension +14155550123'],
    [
      606,
      'Not Acceptable',
      'accepts none of the offered media (SRTP with PCMU, PCMA); enable SRTP and one of these codecs',
    ],
  ])('with %d blames the far end', (status, reason, sentence) => {
    expect(refused(status, reason)).toBe(`pbx.example.com:5061 ${sentence} (${status} ${reason}).`);
  });

  it.each([
    [480, 'Temporarily Unavailable', 'is temporarily unavailable, or did not answer'],
    [486, 'Busy Here', 'is busy'],
    [600, 'Busy Everywhere', 'is busy'],
    [603, 'Decline', 'declined the call'],
  ])('with %d points to the number', (status, reason, sentence) => {
    expect(refused(status, reason)).toBe(`+14155550123 ${sentence} (${status} ${reason}).`);
  });

  it.each([401, 407])('with %d distinguishes wrong, missing and unsuitable credentials', (status) => {
    const peer = 'pbx.example.com:5061';
    expect(refused(status, 'Unauthorized', { credentials: { realm: null } }, true)).toBe(
      `${peer} rejected our user name and password; check both (${status} Unauthorized).`,
    );
    expect(refused(status, 'Unauthorized')).toBe(
      `${peer} requires a user name and password, but none are configured (${status} Unauthorized).`,
    );
    expect(refused(status, 'Unauthorized', { credentials: { realm: 'acme' } })).toBe(
      `${peer} requires credentials for another realm than the configured "acme" (${status} Unauthorized).`,
    );
    expect(refused(status, 'Unauthorized', { credentials: { realm: null } })).toBe(
      `${peer} uses an unsupported digest algorithm; it must offer SHA-256 or MD5 (${status} Unauthorized).`,
    );
  });

  it('with 408 after ringing means no answer', () => {
    expect(afterOutcome({ ...final(408), phase: 'ringing' })).toBe('+14155550123 did not answer (408).');
  });

  it('quotes a warning', () => {
    const said = { ...refusal, status: 488, reason: 'Not Acceptable Here', warning: 'SRTP is off.' };
    expect(afterOutcome({ ...final(488), refusal: said })).toMatch(
      / \(488 Not Acceptable Here: SRTP is off\)\.$/,
    );
  });
});

describe('without an attempt to diagnose', () => {
  it.each([
    [
      'no_answer',
      'Nobody answered within 10 s.',
      'No answer from +14155550123 at pbx.example.com:5061: nobody answered within 10 s.',
    ],
    ['no_route', null, 'The number has no outbound configuration.'],
    ['capacity', null, 'The edge is at its call limit.'],
    [
      'no_media_port',
      'No RTP port pair is free',
      'No RTP port was free, or no media worker was up: no RTP port pair is free.',
    ],
    ['api_stop', null, 'The call was stopped through the API.'],
  ] as const)('%s', (termination, detail, sentence) => {
    expect(diagnose({ ...unanswered, termination, detail })).toBe(sentence);
  });
});

describe('after an answer', () => {
  const twoWay: MediaReport = {
    packets_sent: 200,
    packets_received: 198,
    packets_lost: 0,
    jitter_ms: 1,
    round_trip_ms: null,
    mos: 4.4,
    verdict: 'two_way',
    cause: null,
  };
  const well: AnswerFacts = {
    durationMs: 4000,
    media: twoWay,
    audibleMs: 3000,
    echoMs: 0,
    keysProblem: null,
  };
  const answered = (answer: Partial<AnswerFacts> = {}, findings: Partial<Findings> = {}) =>
    diagnose({
      ...unanswered,
      termination: 'agent_hangup',
      ...findings,
      answer: { ...well, ...answer },
    });
  const media = (changes: Partial<MediaReport>) => ({ media: { ...twoWay, ...changes } });

  it('reports nothing when all is well', () => {
    expect(answered()).toBeNull();
    expect(answered({ ...media({ peer_loss_percent: 4, packets_lost: 2 }), echoMs: 3000 })).toBeNull();
  });

  it.each([
    'No packet arrived from the peer: a firewall may block the RTP ports, or the peer is muted.',
    '37 packets arrived but failed SRTP authentication: the peer uses other keys than those in its SDP.',
    '12 packets came from a source other than the first authenticated one.',
  ])('no inbound audio: %s', (cause) => {
    const sentence = answered({
      ...media({ verdict: 'send_only', packets_received: 0, cause }),
      audibleMs: 0,
    });
    expect(sentence).toMatch(/^We receive no audio from you: /);
    expect(sentence?.toLowerCase()).toContain(cause.toLowerCase());
  });

  it('no outbound packets', () => {
    const cause = 'The peer held the call, so nothing was sent to it.';
    expect(answered(media({ verdict: 'receive_only', packets_sent: 0, cause }))).toBe(
      'You receive no audio: the peer held the call, so nothing was sent to it.',
    );
  });

  it('inbound audio is silence only', () => {
    expect(answered({ audibleMs: 0 })).toBe(
      'We receive only silence from you: 198 packets arrived, and all were silent.',
    );
  });

  it('RTCP reports that nothing, or not everything, arrives', () => {
    expect(answered(media({ verdict: 'receive_only', peer_loss_percent: 100 }))).toBe(
      'You receive no audio: the far end reports by RTCP that it receives none of our packets.',
    );
    expect(answered(media({ peer_loss_percent: 20 }))).toBe(
      'Audio to you has gaps: the far end reports by RTCP that it loses 20 % of it.',
    );
  });

  it('packets are lost on their way to us', () => {
    expect(answered(media({ packets_lost: 40, packets_received: 160 }))).toBe(
      'Audio from you has gaps: 20 % of the packets were lost on their way to us.',
    );
  });

  it('gaps copied by an echo are not counted as loss', () => {
    const gaps = { packets_lost: 38, packets_received: 162 };
    const echoed = (changes: Partial<MediaReport>) =>
      answered({ ...media({ ...gaps, ...changes }), echoMs: 3000 });
    expect(echoed({})).toBe(
      'Audio has gaps: 19 % of the packets were lost on their way to you or back; an echo does not show which.',
    );
    expect(echoed({ peer_loss_percent: 19 })).toMatch(/^Audio to you has gaps: .* 19 %/);
    expect(echoed({ peer_loss_percent: 0 })).toMatch(/^Audio from you has gaps: 19 %/);
    expect(echoed({ peer_loss_percent: 4 })).toMatch(/^Audio from you has gaps: 15 %/);
    expect(echoed({ peer_loss_percent: 3, packets_lost: 10, packets_received: 190 })).toBeNull();
  });

  it('reports of the far end say that it hears nothing', () => {
    const cause = "The peer's RTCP reports do not mention our packets, so none arrive.";
    expect(answered(media({ verdict: 'receive_only', peer_hears: 'no', cause }))).toBe(
      "You receive no audio: the peer's RTCP reports do not mention our packets, so none arrive.",
    );
  });

  it('keys cannot be sent', () => {
    expect(answered({ keysProblem: 'the peer does not support telephone-event' })).toBe(
      'The keys could not be sent: the peer does not support telephone-event.',
    );
  });

  it('missing media is not blamed when the far end hangs up at once', () => {
    const none = media({
      verdict: 'none',
      packets_sent: 0,
      packets_received: 0,
      cause: 'No packet arrived.',
    });
    expect(answered({ ...none, durationMs: 80 }, { termination: 'callee_hangup' })).toBe(
      'The far end hung up 80 ms after its answer, before audio passed in both directions.',
    );
    expect(answered({ ...none, durationMs: 2000 }, { termination: 'callee_hangup' })).toBe(
      'We receive no audio from you: no packet arrived.',
    );
  });

  it('names who stopped the call', () => {
    const none = media({ verdict: 'send_only', packets_received: 0, cause: 'No packet arrived.' });
    expect(answered(none, { termination: 'edge_restarted' })).toBe('The edge stopped while the call was up.');
  });

  it('unusable SDP in the answer', () => {
    const bad = (mediaFault: MediaFault | null, detail: string) =>
      answered({ media: null, audibleMs: 0 }, { termination: 'bad_answer', mediaFault, detail });
    for (const text of ['The answer has no codec of the offer', 'Reworded']) {
      expect(bad({ kind: 'no_codec', text }, `SDP refused: ${text}`)).toBe(
        'No common codec: pbx.example.com:5061 answered with none of the offered codecs: PCMU, PCMA.',
      );
    }
    const text = 'The answer names a codec twice';
    expect(bad({ kind: 'unusable', text }, `SDP refused: ${text}`)).toBe(
      'pbx.example.com:5061 answered with media that cannot be used: the answer names a codec twice.',
    );
    expect(bad(null, 'The 200 carried no answer to our offer.')).toBe(
      'pbx.example.com:5061 answered with media that cannot be used: the 200 carried no answer to our offer.',
    );
  });
});
