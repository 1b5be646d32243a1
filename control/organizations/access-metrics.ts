/** Counts of sessions, and of requests that a role or a missing CSRF token rejected. */
import { Counter, type Registry } from 'prom-client';

export class AccessMetrics {
  readonly #sessions = new Counter({
    name: 'trunkline_control_sessions_total',
    help: 'Sessions of browsers, by event: begun, signed out, revoked by a person, or ended for a newer one.',
    labelNames: ['event'],
    registers: [],
  });
  readonly #refused = new Counter({
    name: 'trunkline_control_access_refused_total',
    help: 'Requests with a valid key or session that were rejected: its role is too low, or the CSRF token is wrong.',
    labelNames: ['reason'],
    registers: [],
  });

  measure(registry: Registry): void {
    registry.registerMetric(this.#sessions);
    registry.registerMetric(this.#refused);
  }

  session(event: 'begun' | 'signed_out' | 'revoked' | 'replaced', count = 1): void {
    this.#sessions.inc({ event }, count);
  }

  refused(reason: 'role' | 'csrf'): void {
    this.#refused.inc({ reason });
  }
}
