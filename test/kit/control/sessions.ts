/** Browsers that have signed in, for tests: requests with the cookie of a session instead of a key. */
import { CurrentSessionAnswer } from '#shared/api/keys.ts';
import type { Answer } from '../http/answer.ts';
import type { CallOptions, TestControl } from './harness.ts';

type Calls = Pick<TestControl, 'call'>;
type Method = Parameters<TestControl['call']>[0];

export interface Browser {
  readonly id: string;
  /** As the header of a request. */
  readonly cookie: string;
  /** As it was set, with its attributes. */
  readonly setCookie: string;
  readonly csrfToken: string;
  /** @param csrf null: none is sent */
  call(
    method: Method,
    url: string,
    options?: CallOptions & { readonly csrf?: string | null },
  ): Promise<Answer>;
}

/** @param headers of the sign-in, such as the cookie of an earlier session */
export async function signIn(
  { call }: Calls,
  key: string,
  headers: Record<string, string> = {},
): Promise<Browser> {
  const answer = await call('POST', '/v1/session', { key, headers });
  if (answer.status !== 200) throw new Error(`POST /v1/session: ${answer.text}`);
  const { data } = answer.read(CurrentSessionAnswer);
  const [setCookie = ''] = answer.headers['set-cookie'] ?? [];
  const [cookie = ''] = setCookie.split(';');
  const csrfToken = data.csrf_token ?? '';
  return {
    id: data.session?.id ?? '',
    cookie,
    setCookie,
    csrfToken,
    call: (method, url, { csrf = csrfToken, headers: more = {}, ...options } = {}) =>
      call(method, url, {
        ...options,
        key: null,
        headers: { cookie, ...(csrf !== null && { 'x-csrf-token': csrf }), ...more },
      }),
  };
}

/** A key of this role of the test's organization, made over HTTP. */
export async function keyOfRole({ call }: Calls, role: 'read' | 'member' | 'admin'): Promise<string> {
  const { body, text } = await call('POST', '/v1/org/keys', { body: { name: role, role } });
  if (body.data?.secret === undefined) throw new Error(`POST /v1/org/keys: ${text}`);
  return String(body.data.secret);
}
