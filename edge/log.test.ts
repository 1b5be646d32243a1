import { expect, it } from 'vitest';
import { LogWith } from './call/log.ts';
import { createLog } from './log.ts';

it('hides credentials and SRTP keys', () => {
  const lines: string[] = [];
  const log = createLog({ level: 'info', form: null }, { write: (line) => lines.push(line) });
  log
    .child({ call_id: 'c1' })
    .info({ engine: { host: 'a', secret: 'hush' }, authorization: 'Bearer hush' }, 'connected');
  log.error({ err: new Error('bad line\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:hush\r\n') }, 'failed');
  expect(lines.join('')).not.toContain('hush');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    call_id: 'c1',
    msg: 'connected',
    engine: { host: 'a', secret: 'REDACTED' },
  });
  expect(lines[1]).toContain('inline:REDACTED');
});

it('writes the lines of a log with fields as those of a child', () => {
  const lines: string[] = [];
  const log = createLog({ level: 'debug', form: null }, { write: (line) => lines.push(line) });
  const fields = { call_id: 'c1', token: 'hush' };
  for (const written of [log.child(fields).child({ more: 1 }), new LogWith(log, fields).child({ more: 1 })])
    for (const level of ['debug', 'info', 'warn', 'error'] as const) {
      written[level]({ err: new Error('gone'), password: 'hush' }, level);
      written[level](new Error('gone'), level);
    }
  const untimed = lines.map((line) => line.replace(/"time":\d+/, '').replace(/"stack":"[^"]*"/, ''));
  expect(untimed).toHaveLength(16);
  expect(untimed.slice(8)).toEqual(untimed.slice(0, 8));
  expect(untimed[0]).toContain('"call_id":"c1","token":"REDACTED","more":1');
});
