import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  detail,
  initiate,
  move,
  order,
  pdfText,
  portTestOfFile,
  sign,
} from '../../test/kit/control/porting.ts';
import { portContext } from './sealed-store.ts';
import { parseForm, prefersHtml } from './sign-routes.ts';

const number = '+14155550100';
const dayMs = 24 * 60 * 60 * 1000;
const unknown = `/v1/sip/port/sign/${'A'.repeat(43)}`;
const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const form = 'application/x-www-form-urlencoded';

const test = portTestOfFile();

const get = (path: string, headers: Record<string, string> = {}) =>
  test.call('GET', path, { key: null, headers });
const postForm = (path: string, fields: Record<string, string>, accept = browser) =>
  test.call('POST', path, {
    key: null,
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': form, accept },
  });

describe('the page', () => {
  it('shows the letter and a form, needs no key, and loads nothing from outside', async () => {
    const { path } = await initiate(test, order([number, '+14155550101']));
    const page = await get(path);
    expect(page.status).toBe(200);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
    for (const text of [
      number,
      '+14155550101',
      'Acme Inc.',
      '1 Main St',
      'Ada Lovelace',
      '<form method="post"',
    ])
      expect(page.text).toContain(text);
  });

  it('rejects any other token', async () => {
    for (const path of [unknown, '/v1/sip/port/sign/x']) {
      const answer = await get(path);
      expect([answer.status, answer.codes]).toEqual([404, ['SIGNATURE_LINK_NOT_FOUND']]);
      expect((await sign(test, path)).codes).toEqual(['SIGNATURE_LINK_NOT_FOUND']);
    }
    const page = await get(unknown, { accept: browser });
    expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  });

  it('is gone once the request is canceled or failed', async () => {
    for (const status of ['canceled', 'failed']) {
      const { id, path } = await initiate(test, order([number]));
      await move(test, id, { status, reason: 'x' });
      expect((await get(path)).status).toBe(410);
      const answer = await sign(test, path);
      expect([answer.status, answer.codes]).toEqual([410, ['SIGNATURE_LINK_EXPIRED']]);
    }
  });

  it('lists the numbers still to be ported', async () => {
    const { id, path } = await initiate(test, order([number, '+14155550101']));
    await move(test, id, { status: 'failed', reason: 'x', phone_numbers: [number] });
    const page = await get(path);
    expect(page.text).not.toContain(number);
    expect(page.text).toContain('+14155550101');
  });

  it('is shown 30 times a minute to one address', async () => {
    const { path } = await initiate(test, order([number]));
    for (let time = 0; time < 30; time++) expect((await get(path)).status).toBe(200);
    const refused = await sign(test, path);
    expect([refused.status, refused.codes]).toEqual([429, ['RATE_LIMITED']]);
    expect(refused.headers['retry-after']).toBe('60');
    expect((await get(path, { accept: browser })).text).toContain('At most 30 requests in 60 s');
    test.clock.advance(60_000);
    expect((await get(path)).status).toBe(200);
  });
});

describe('signing', () => {
  it('submits the request and keeps name, time, address, user agent, and the letter that was shown', async () => {
    const { id, path } = await initiate(test, order([number]));
    test.clock.advance(3_600_000);
    const page = await get(path);
    const answer = await sign(test, path, { name: ' ada   LOVELACE ' });
    expect(answer.body).toEqual({
      data: { signed: true, signed_at: '2030-01-01T01:00:00.000Z', status: 'submitted' },
      errors: null,
    });
    expect(await detail(test, id)).toMatchObject({
      status: 'submitted',
      signature_url: null,
      signed_at: '2030-01-01T01:00:00.000Z',
      signed_name: 'ada   LOVELACE',
      expected_completion: { earliest: '2030-01-10', latest: '2030-01-22' },
    });
    const { db } = test.control.services.database;
    const row = await db.selectFrom('port_requests').selectAll().executeTakeFirstOrThrow();
    const letter = await db.selectFrom('port_letters').selectAll().executeTakeFirstOrThrow();
    const opened = (sealed: string | null, what: Parameters<typeof portContext>[1]) =>
      test.control.services.secrets.open(sealed ?? '', portContext(id, what));
    expect(opened(row.signer_address, 'signer_address')).toBe('127.0.0.1');
    expect(opened(row.signer_agent, 'signer_agent')).toBe('a browser');
    expect(row.token).toBe(null);
    const shown = opened(letter.letter, 'letter_text');
    expect(row.letter_hash).toBe(createHash('sha256').update(shown).digest('hex'));
    expect(page.text).toContain(`action="?letter=${row.letter_hash}"`);
    const file = await test.call('GET', `/v1/sip/port/${id}/letter`);
    expect(file.headers).toMatchObject({
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename="${id}.pdf"`,
    });
    expect(createHash('sha256').update(file.bytes).digest('hex')).toBe(letter.pdf_hash);
    const text = pdfText(test.folder, file.bytes);
    for (const line of [
      number,
      'Signed electronically by ada LOVELACE',
      '127.0.0.1',
      String(row.letter_hash),
    ])
      expect(text).toContain(line);
  });

  it.each([
    ['without consent', {}],
    ['with consent denied', { consent: false }],
    ['with consent as text, which only forms may send', { consent: 'true' }],
  ])('%s is rejected', async (_what, body) => {
    const { path } = await initiate(test, order([number]));
    const answer = await test.call('POST', path, { key: null, body: { name: 'Ada Lovelace', ...body } });
    expect([answer.status, answer.codes]).toEqual([400, ['CONSENT_REQUIRED']]);
  });

  it('without consent checks its link first', async () => {
    const answerOf = async (path: string) => {
      const { status, codes } = await test.call('POST', path, { key: null, body: { name: 'Ada Lovelace' } });
      return [status, codes];
    };
    const unknown = await answerOf(`/v1/sip/port/sign/${'x'.repeat(43)}`);
    expect(unknown).toEqual([404, ['SIGNATURE_LINK_NOT_FOUND']]);
    const canceled = await initiate(test, order(['+14155550101']));
    await move(test, canceled.id, { status: 'canceled', reason: 'x' });
    expect(await answerOf(canceled.path)).toEqual([410, ['SIGNATURE_LINK_EXPIRED']]);
    const { path } = await initiate(test, order([number]));
    await sign(test, path);
    expect(await answerOf(path)).toEqual([409, ['ALREADY_SIGNED']]);
  });

  it('is rejected with another name, without one, and with unknown properties', async () => {
    const { id, path } = await initiate(test, order([number]));
    expect((await sign(test, path, { name: 'Ada Byron' })).codes).toEqual(['NAME_MISMATCH']);
    expect((await sign(test, path, { name: 'A' })).codes).toEqual(['INVALID_PARAMETER']);
    expect((await sign(test, path, { x: 1 })).codes).toEqual(['UNKNOWN_PROPERTY']);
    expect((await detail(test, id)).status).toBe('waiting_for_signature');
  });

  it('happens once', async () => {
    const { path } = await initiate(test, order([number]));
    const answers = await Promise.all([sign(test, path), sign(test, path), sign(test, path)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect((await sign(test, path)).codes).toEqual(['ALREADY_SIGNED']);
    const page = await get(path);
    expect([page.status, page.text.includes('The letter is signed')]).toEqual([200, true]);
  });

  it('applies to the letter that was read: a changed one is shown again', async () => {
    const { id, path } = await initiate(test, order([number, '+14155550101']));
    const action = /action="(\?letter=[0-9a-f]{64})"/.exec((await get(path)).text)?.[1] ?? '';
    await move(test, id, { status: 'failed', reason: 'x', phone_numbers: [number] });
    const answer = await postForm(path + action, { name: 'Ada Lovelace', consent: 'true' });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('the letter has changed');
    expect(answer.text).not.toContain(number);
    const again = /action="(\?letter=[0-9a-f]{64})"/.exec(answer.text)?.[1] ?? '';
    expect(again).not.toBe(action);
    expect((await postForm(path + again, { name: 'Ada Lovelace', consent: 'true' })).status).toBe(200);
  });

  it('works as a form in a browser, with error messages', async () => {
    const { id, path } = await initiate(test, order([number]));
    const wrong = await postForm(path, { name: 'Ada "Byron"', consent: 'on' });
    expect([wrong.status, wrong.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8']);
    expect(wrong.text).toContain('The name is not that of the authorized representative.');
    expect(wrong.text).toContain('value="Ada &#34;Byron&#34;"');
    expect((await postForm(path, { name: 'Ada Lovelace' })).text).toContain('only be signed with consent');
    const answer = await postForm(path, { name: 'Ada Lovelace', consent: 'on' });
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.text).toContain('The letter is signed');
    expect((await detail(test, id)).status).toBe('submitted');
    const json = await postForm(path, { name: 'Ada Lovelace', consent: 'true' }, 'application/json');
    expect(json.codes).toEqual(['ALREADY_SIGNED']);
  });

  it('accepts JSON and forms only', async () => {
    const { path } = await initiate(test, order([number]));
    const answer = await test.call('POST', path, {
      key: null,
      body: 'x',
      headers: { 'content-type': 'text/plain' },
    });
    expect([answer.status, answer.codes]).toEqual([415, ['UNSUPPORTED_MEDIA_TYPE']]);
  });
});

describe('an unsigned letter', () => {
  it('expires after 30 days, to the millisecond', async () => {
    const { id, path } = await initiate(test, order([number]));
    test.clock.advance(30 * dayMs - 1);
    expect((await get(path)).status).toBe(200);
    test.clock.advance(1);
    expect((await get(path)).status).toBe(410);
    const statusAfterTheMoment = async () => {
      test.clock.advance(1);
      return (await detail(test, id)).status;
    };
    await expect.poll(statusAfterTheMoment).toBe('failed');
    const shown = await detail(test, id);
    expect(shown).toMatchObject({ status: 'failed', reason: 'LOA_EXPIRED', signature_url: null });
    expect(shown.history.at(-1)).toMatchObject({
      actor: 'system',
      from_status: 'waiting_for_signature',
      to_status: 'failed',
      reason: 'LOA_EXPIRED',
    });
  });
});

describe('the media type a browser prefers', () => {
  it.each([
    [undefined, false],
    ['*/*', false],
    ['application/json', false],
    [browser, true],
    ['text/html;q=0.5, application/json', false],
    ['text/*', true],
    ['text/html;q=x', false],
  ])('%s: a page %s', (accept, expected) => {
    expect(prefersHtml(accept)).toBe(expected);
  });

  it('a form is parsed into fields of any name', () => {
    expect(parseForm('name=A+B%26&consent=on')).toEqual({ name: 'A B&', consent: true });
    expect(parseForm('consent=yes')).toEqual({ consent: 'yes' });
    expect(Object.getPrototypeOf(parseForm('__proto__=x'))).toBe(Object.prototype);
  });
});
