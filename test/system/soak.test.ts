/** The soak itself, with half a minute of load: `npm run soak` is the long one. */
import { afterAll, expect } from 'vitest';
import { longTest } from '../kit/long-test.ts';
import { page } from '../soak/page.ts';
import { summary } from '../soak/report.ts';
import type { Restart } from '../soak/restarts.ts';
import { Soak } from '../soak/soak.ts';

/** Of control only: calls that lose their media wait for peers until time-outs of a minute. */
const restarts: readonly Restart[] = [{ at: 4_000, role: 'control', signal: 'SIGKILL' }];
const said: string[] = [];
const soak = new Soak(
  { hours: 0.007, seed: 1, rate: 1.5, database: null, out: '' },
  (line) => said.push(line),
  () => restarts,
);
afterAll(() => soak.kill());

longTest(
  'calls, restarts and weather end with every promise kept, and a report',
  async () => {
    const report = await soak.run();
    const words = `${summary(report)}\n${said.join('\n')}`;
    expect(report.broken, words).toEqual({ count: 0, shown: [] });
    expect(report.restarts.map(({ role }) => role)).toEqual(['control']);
    expect(report.restarts.every(({ backAfterMs }) => backAfterMs !== null)).toBe(true);
    expect(report.calls).toBeGreaterThan(0);
    expect(report.records.verified).toBeGreaterThan(0);
    expect(report.slopes.map(({ verdict }) => verdict)).not.toContain('leaking');
    const html = page(report, soak.series);
    expect(html).toContain('<svg');
    expect(html).not.toMatch(/<script|<link|src=|href=/);
  },
  600_000,
);
