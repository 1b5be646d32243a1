/** Who is signed in: the session of the cookie, begun with a key. */
import { computed, signal } from '@preact/signals';
import { type Answer, request, useCsrfToken, whenSignedOut } from './client.ts';
import { type Problem, problemOf } from './problem.ts';

export type Session = Answer<'GET /v1/session'>['data'];

export type SignedIn =
  | { readonly state: 'unknown' }
  | { readonly state: 'out'; readonly ended: boolean }
  | { readonly state: 'in'; readonly session: Session }
  /** The API could not be asked. */
  | { readonly state: 'failed'; readonly problem: Problem };

export const signedIn = signal<SignedIn>({ state: 'unknown' });

export const session = computed(() => (signedIn.value.state === 'in' ? signedIn.value.session : null));
/** Whether it may change and run things, not only see them. */
export const mayChange = computed(() => session.value?.role === 'member' || session.value?.role === 'admin');
/** Whether the phone is offered: calls are changes, and go over the organization's SIP. */
export const mayCall = computed(() => mayChange.value && session.value?.organization?.sip_enabled === true);
export const isOperator = computed(() => session.value?.role === 'operator');

whenSignedOut(() => {
  if (signedIn.value.state === 'in') signedIn.value = { state: 'out', ended: true };
  else signedIn.value = { state: 'out', ended: false };
});

/** At the start of the page. */
export async function resumeSession(): Promise<void> {
  try {
    keep((await request('GET /v1/session', {})).data);
  } catch (error) {
    const problem = problemOf(error);
    if (problem.status !== 401) signedIn.value = { state: 'failed', problem };
  }
}

/** @throws RequestFailed */
export async function signIn(key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  keep((await request('POST /v1/session', { headers })).data);
}

/** @throws RequestFailed */
export async function signOut(): Promise<void> {
  await request('DELETE /v1/session', {});
  useCsrfToken(null);
  signedIn.value = { state: 'out', ended: false };
}

function keep(found: Session): void {
  useCsrfToken(found.csrf_token);
  signedIn.value = { state: 'in', session: found };
}
