/** The times of registrations. */
import type { RegistrationSettings } from './registration.ts';

export const registrationTimes: RegistrationSettings = {
  // A registrar of a carrier takes this many; a thousand registrations are done 20 s after a start.
  perSecond: 50,
  // Less than Timer F (32 s), so that the registrar's next address is tried in time.
  timeoutMs: 8_000,
  // Often enough to keep the mapping of a NAT (RFC 5626 section 4.4.1).
  keepaliveMs: 30_000,
  // A restarted registrar is used again at once.
  retryMs: 5_000,
  // Ten minutes after an outage of hours, every registration is back.
  retryMaxMs: 600_000,
  // Registrars block addresses that repeat a wrong password; a person corrects it first.
  refusedPauseMs: 300_000,
};
