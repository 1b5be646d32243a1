/** How much address space an organization lists as sources, over HTTP and with the real database. */
import { describe, expect, it } from 'vitest';
import { startRoutes } from '../../test/kit/control/harness.ts';
import { emptiedForEach } from '../../test/kit/control/routes-of-file.ts';
import { updateOrganization } from '../organizations/store.ts';

const test = emptiedForEach(startRoutes);

const first = '+14155550100';
const second = '+14155550101';
const third = '+14155550102';
const wholeIpv4 = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => `${20 + Math.floor((from + i) / 256)}.${(from + i) % 256}.0.0/16`);
const four = wholeIpv4(0, 4);
const fifth = '198.51.100.7';

/** The error of the request, or of its first failed number. */
async function send(path: string, body: object) {
  const { status, body: answer } = await test.call('POST', path, { body });
  const [failed] = (answer.data?.failed as { error: string; message: string }[] | undefined) ?? [];
  const error = answer.errors?.[0] ?? failed;
  return { status, error: error?.error, message: String(error?.message ?? '') };
}
const attach = (allowed_ips: readonly string[], ...phone_numbers: string[]) =>
  send('/v1/sip/attach', { phone_numbers, directions: [{ type: 'inbound', options: { allowed_ips } }] });
const update = (phone_number: string, allowed_ips: readonly string[]) =>
  send('/v1/sip/update', { phone_number, updates: { type: 'inbound', options: { allowed_ips } } });
const ok = { status: 200, error: undefined, message: '' };
const tooLarge = (what: string, status: number) => ({
  status,
  error: 'INVALID_PARAMETER',
  message: expect.stringMatching(new RegExp(`/options/allowed_ips: .*at most ${what}.*ask the operator`)),
});
/** Attach returns 200 and lists the number in `failed`. */
const failsNumber = (what: string) => tooLarge(what, 200);
const refused = (what: string) => tooLarge(what, 400);
const permit = (permitted: 0 | 1) =>
  updateOrganization(test.control.services.database.db, test.orgId, { wide_sources: permitted });

describe('the sources of all numbers of an organization together', () => {
  it('cannot cover the Internet in pieces that need no permission each', async () => {
    expect(await attach(wholeIpv4(0, 50), first)).toEqual(failsNumber('262144 IPv4 addresses'));
    const halves = wholeIpv4(0, 25).flatMap((network) => [
      network.replace('/16', '/17'),
      network.replace('.0.0/16', '.128.0/17'),
    ]);
    expect(await attach(halves, first)).toEqual(failsNumber('262144 IPv4 addresses'));
    expect((await test.control.services.edgeConfig.snapshot()).numbers).toEqual([]);
  });

  it('are counted over numbers, records and both address families, overlaps once', async () => {
    expect(await attach(four, first, second)).toEqual(ok);
    expect(await attach(['20.1.2.3', '20.2.0.0/17', ...four], third)).toEqual(ok);
    expect(await attach([fifth], third)).toEqual(failsNumber('262144 IPv4 addresses'));
    expect(await update(second, [...four, fifth])).toEqual(refused('262144 IPv4 addresses'));
    const other = { type: 'inbound', sip_endpoint: 'pbx.example.com', options: { allowed_ips: [fifth] } };
    expect(await send('/v1/sip/attach', { phone_number: first, directions: [other] })).toEqual(
      failsNumber('262144 IPv4 addresses'),
    );
    // IPv6 has its own limit.
    const ipv6 = ['2001:db8::/32', '2400:1::/32', '2400:2::/32', '2400:3::/32'];
    expect(await update(second, [...four, ...ipv6])).toEqual(ok);
    expect(await update(third, ['2400:4::1'])).toEqual(refused('17179869184 IPv6 networks'));
  });

  it('free up room when a number lists less, or is detached', async () => {
    expect(await attach(four, first)).toEqual(ok);
    expect(await update(first, [...four.slice(1), fifth])).toEqual(ok);
    expect(await update(first, four)).toEqual(ok);
    expect(await attach([fifth], second)).toMatchObject({ error: 'INVALID_PARAMETER' });
    expect(await send('/v1/sip/detach', { phone_number: first, directions: ['inbound'] })).toEqual(ok);
    expect(await attach([fifth], second)).toEqual(ok);
  });

  it('may stay as large as before the limit, or as the operator permits', async () => {
    await permit(1);
    const all = wholeIpv4(0, 50);
    expect(await attach(all, first)).toEqual(ok);
    await permit(0);
    expect(await update(first, all)).toEqual(ok);
    expect(await attach(all, second)).toEqual(ok);
    expect(await update(first, all.slice(0, 40))).toEqual(ok);
    expect(await attach([...all.slice(1), fifth], third)).toEqual(failsNumber('262144 IPv4 addresses'));
    const metrics = await test.call('GET', '/metrics', { key: test.operatorKey });
    expect(metrics.text).toContain('trunkline_control_quota_refused_total{quota="sources"} 1');
  });

  it('are limited per organization', async () => {
    expect(await attach(four, first)).toEqual(ok);
    const directions = [{ type: 'inbound', options: { allowed_ips: wholeIpv4(4, 4) } }];
    const answer = await test.call('POST', '/v1/sip/attach', {
      key: test.foreignKey,
      body: { phone_number: second, directions },
    });
    expect(answer.status).toBe(200);
  });
});

describe('an entry of allowed_ips', () => {
  // The edge ignores these.
  it.each([
    '::ffff:0:0/95',
    '::ffff:192.0.2.0/24',
    '0:0:0:0:0:ffff:c000:201/8',
    '192.0.2.0/24.0',
    '192.0.2.0/0x18',
    '192.0.2.0/2e1',
    '192.0.2.0/ 24',
    ' 192.0.2.1',
    '192.0.2.0 /24',
    '192.0.2.0/024x',
    '[2001:db8::1]',
    'fe80::1%eth0',
    '',
  ])('cannot be "%s"', async (entry) => {
    expect(await attach(['192.0.2.1'], first)).toEqual(ok);
    expect(await attach(['192.0.2.1', entry], second)).toMatchObject({
      status: 400,
      message: expect.stringContaining('/directions/0/options/allowed_ips/1'),
    });
    expect(await update(first, [entry])).toMatchObject({
      status: 400,
      message: expect.stringContaining('/updates/options/allowed_ips/0'),
    });
  });
});
