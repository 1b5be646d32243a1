/** What is reported of a binding, and when. Pure. */
import type { RegistrationState } from '#shared/edge-protocol/reports.ts';
import type { BindingState } from './binding-state.ts';
import { type Registrar, registrarHostPort } from './register-request.ts';

/** `changed`: it differs from what was reported before in more than its times. */
export type ReportedState = RegistrationState & { readonly changed?: boolean };

/**
 * Whether a state is worth a report. A refresh is once half of the reported time has passed; otherwise short ones would
 * be reported every time.
 */
export function isNews(before: BindingState, now: BindingState, present: number): boolean {
  if (before.state !== now.state || before.sipCode !== now.sipCode) return true;
  if (before.lastError !== now.lastError || before.nextTryAt !== now.nextTryAt) return true;
  if (before.expiresAt === null || now.expiresAt === null) return before.expiresAt !== now.expiresAt;
  return before.expiresAt - present < (now.expiresAt - present) / 2;
}

export function reportOf(registrar: Registrar, state: BindingState, at: number): RegistrationState {
  const iso = (ms: number): string => new Date(ms).toISOString();
  return {
    state: state.state,
    registrar: registrarHostPort(registrar),
    at: iso(at),
    expires_at: state.expiresAt === null ? null : iso(state.expiresAt),
    next_try_at: state.nextTryAt === null ? null : iso(state.nextTryAt),
    sip_code: state.sipCode,
    last_error: state.lastError,
  };
}
