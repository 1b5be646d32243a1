import { expect, it } from 'vitest';
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
