import { expect, it } from 'vitest';
import { sentRequest } from './sent-request.ts';

const call = (changes: object) => ({
  method: 'POST',
  url: new URL('https://api.example.com/orders?key=a%2Fsecret%2Bkey&n=1'),
  headers: { 'content-type': 'application/json', authorization: 'Bearer a/secret+key', 'x-tenant': '7' },
  body: '{"n":7,"key":"a/secret+key"}',
  withCredentials: true,
  ...changes,
});

it('hides the credentials of the resource wherever they are, and nothing else', () => {
  const credentials = {
    base_url: 'https://api.example.com/orders',
    token: 'a/secret+key',
    headers: { 'X-Tenant': '7' },
  };
  expect(sentRequest(call({}), credentials)).toEqual({
    method: 'POST',
    url: 'https://api.example.com/orders?key=********&n=1',
    headers: { 'content-type': 'application/json', authorization: 'Bearer ********', 'x-tenant': '********' },
    body: '{"n":7,"key":"********"}',
    cut: false,
  });
});

it('hides the part of a header after its scheme, which a template has elsewhere', () => {
  const credentials = { headers: { Authorization: 'Bearer a/secret+key' } };
  const sent = sentRequest(call({}), credentials);
  expect(sent.headers.authorization).toBe('********');
  expect(JSON.stringify(sent)).not.toContain('secret');
});

it('hides a secret that JSON writes in another way', () => {
  const credentials = { token: 'with"quotes' };
  expect(sentRequest(call({ body: JSON.stringify({ key: 'with"quotes' }) }), credentials).body).toBe(
    '{"key":"********"}',
  );
});

it('hides a secret before what is too long is cut, so that no part of it stays', () => {
  const body = `${'x'.repeat(19_995)}a/secret+key${'y'.repeat(10)}`;
  const sent = sentRequest(call({ body }), { token: 'a/secret+key' });
  expect([sent.cut, sent.body?.length]).toEqual([true, 20_000]);
  expect(sent.body?.endsWith('x*****')).toBe(true);
});

it('shows a request without resource as it is', () => {
  const sent = sentRequest(call({ body: null }), null);
  expect(sent).toMatchObject({ url: call({}).url.href, body: null, cut: false });
});
