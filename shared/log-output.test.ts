import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const program = `
  import { createLog } from ${JSON.stringify(join(import.meta.dirname, '..', 'edge', 'log.ts'))};
  const log = createLog({ level: 'info', form: null });
  for (let n = 0; n < 20_000; n += 1) log.info({ n, text: 'x'.repeat(200) }, 'a line');
  setTimeout(() => {
    log.info('a later line');
    console.error('still here');
    process.exit(0);
  }, 50);
`;

test('a log on a full disk does not end a program, nor keep it from exiting', () => {
  const full = openSync('/dev/full', 'w');
  try {
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
      timeout: 30_000,
      killSignal: 'SIGKILL',
    });
    expect(stderr).toBe('still here\n');
    expect(status).toBe(0);
  } finally {
    closeSync(full);
  }
});

test('lines are for people where a setting says so, and JSON where nobody looks', () => {
  const lines = (form: 'json' | 'text' | null) => {
    const source = `
      import { createLog } from ${JSON.stringify(join(import.meta.dirname, '..', 'edge', 'log.ts'))};
      createLog({ level: 'info', form: ${JSON.stringify(form)} }).info({ port: 5061 }, 'the edge listens');
    `;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', source], {
      encoding: 'utf8',
    });
    return stdout;
  };
  expect(lines('text')).toMatch(/^\d\d:\d\d:\d\d\.\d{3} edge {4}info {2}the edge listens port=5061\n$/);
  for (const form of ['json', null] as const) {
    expect(JSON.parse(lines(form))).toMatchObject({ program: 'edge', port: 5061, msg: 'the edge listens' });
  }
});
