import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ApiError, apiErrors } from '#shared/errors.ts';
import { terminations } from '#shared/termination.ts';

const page = readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8');
const [api = '', ended = ''] = page.split('## Termination codes');

/** First cells of a table's rows: `CODE`. */
function codes(section: string): string[] {
  return [...section.matchAll(/^\| `([A-Za-z_]+)` \|/gm)].map((match) => match[1] ?? '');
}

describe('docs/errors.md', () => {
  it('has a line for every API error code, with its status, and no other lines', () => {
    expect(codes(api)).toEqual(Object.keys(apiErrors));
    for (const [code, { status }] of Object.entries(apiErrors))
      expect(api).toContain(`| \`${code}\` | ${status} |`);
  });

  it('has a line for every termination code, and no other lines', () => {
    expect(codes(ended)).toEqual(Object.keys(terminations));
    for (const [code, { party }] of Object.entries(terminations))
      expect(ended).toContain(`| \`${code}\` | ${party} |`);
  });
});

describe('every error of a limit', () => {
  const ofLimits = [
    'ANSWER_TOO_LARGE',
    'DISCOVERY_IN_PROGRESS',
    'FILE_TOO_LARGE',
    'PAYLOAD_TOO_LARGE',
    'QUOTA_EXCEEDED',
    'RATE_LIMITED',
    'SIMULATION_LIMIT',
    'SIP_CONFIG_LIMIT',
    'TOO_MANY_SCENARIOS',
    'TORNADO_ALREADY_ACTIVE',
  ] as const;

  it.each(ofLimits)('%s names the limit and says what to do', (code) => {
    const { message } = apiErrors[code];
    const [limit = '', remedy = ''] = message.split('; ');
    expect(limit).toMatch(/\d|details\.(quota|scope)/);
    expect(remedy).toMatch(/^(request|delete|detach|lower|name|retry|send|use|wait) /);
  });

  it('is one of these', () => {
    const named = Object.keys(apiErrors).filter((code) =>
      /LIMIT|QUOTA|TOO_LARGE|TOO_MANY|_ALREADY_ACTIVE$/.test(code),
    );
    expect(named.filter((code) => !ofLimits.some((one) => one === code))).toEqual([]);
  });
});

describe('ApiError', () => {
  it('takes status and message from its first error', () => {
    const error = ApiError.invalid('/directions/0/priority', 'must be >= 1');
    expect(error).toMatchObject({ statusCode: 400, code: 'INVALID_PARAMETER' });
    expect(error.items).toEqual([
      {
        error: 'INVALID_PARAMETER',
        code: 'INVALID_PARAMETER',
        message: '/directions/0/priority: must be >= 1',
        details: { path: '/directions/0/priority', rule: 'must be >= 1' },
      },
    ]);
  });

  it('carries the Retry-After of an unavailable service', () => {
    expect(ApiError.unavailable('away', 5)).toMatchObject({
      statusCode: 503,
      retryAfter: 5,
      message: 'away',
    });
  });
});
