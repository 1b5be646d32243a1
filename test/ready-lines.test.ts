import { expect, test } from 'vitest';
import { readyLines } from '../scripts/supervisor/ready-lines.ts';

const bootstrap = {
  org_id: 'o',
  api_key: 'tk_secret',
  operator_key: 'op_secret',
  edge_token: 'et_secret',
  control_url: 'http://127.0.0.1:8080',
  sip: { host: '127.0.0.1', port: 5061, ca_cert: 'tls/ca.crt' },
};

test('npm start says in ten lines at most what is ready and where, and shows no key', () => {
  const lines = readyLines(bootstrap, { TRUNKLINE_DATA: '/srv/data' }, 3210);
  expect(lines.split('\n').length).toBeLessThanOrEqual(10);
  for (const part of ['3.2 s', '0.0.0.0:5061', '10000-20000', 'http://127.0.0.1:8080/docs', 'bootstrap.json'])
    expect(lines).toContain(part);
  expect(lines).toContain("TRUNKLINE_DATA='/srv/data' npm run call");
  expect(lines).not.toContain('secret');
});
