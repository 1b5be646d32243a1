/**
 * Limits how often one registrar may permanently reject the registrations of one organization. The edge registers
 * for everyone from the same address: a PBX that counts wrong passwords, as fail2ban does, would ban it for all.
 */
import type { Clock } from '#shared/clock.ts';

/** fail2ban with Debian's defaults bans an address after ten wrong passwords in ten minutes. */
export const mostRefusals = 9;
export const refusalWindowMs = 600_000;
/** How long to wait for the answers to pending attempts, ms. */
const answersMs = 250;

interface Account {
  /** In the clock's elapsed time, oldest first. */
  refusedAt: number[];
  underWay: number;
}

/** Interface for one registration. */
export interface RefusalShare {
  /** @returns ms until an attempt may start; 0: it has started, and `end` must be called once */
  begin(): number;
  end(): void;
  /** The registrar has rejected the attempt, and only manual action can change that. */
  refused(): void;
}

export class RefusalBudget {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #accounts = new Map<string, Account>();

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  /** Number of remembered organization and registrar pairs, for leak checks. */
  get size(): number {
    return this.#accounts.size;
  }

  /** @param key of an organization and a registrar */
  shareOf(key: string): RefusalShare {
    return {
      begin: () => {
        const account = this.#account(key);
        const waitMs = this.#waitMs(account);
        if (waitMs === 0) account.underWay++;
        this.#settle(key, account);
        return waitMs;
      },
      end: () => {
        const account = this.#account(key);
        account.underWay--;
        this.#settle(key, account);
      },
      refused: () => {
        const account = this.#account(key);
        account.refusedAt.push(this.#clock.elapsed());
        this.#settle(key, account);
      },
    };
  }

  #waitMs({ refusedAt, underWay }: Account): number {
    const [oldest] = refusedAt;
    if (oldest !== undefined && refusedAt.length >= mostRefusals) {
      return Math.max(1, oldest + refusalWindowMs - this.#clock.elapsed());
    }
    return refusedAt.length + underWay >= mostRefusals ? answersMs : 0;
  }

  #account(key: string): Account {
    const account = this.#accounts.get(key) ?? { refusedAt: [], underWay: 0 };
    const since = this.#clock.elapsed() - refusalWindowMs;
    account.refusedAt = account.refusedAt.filter((at) => at > since).slice(-mostRefusals);
    return account;
  }

  #settle(key: string, account: Account): void {
    if (account.underWay === 0 && account.refusedAt.length === 0) this.#accounts.delete(key);
    else this.#accounts.set(key, account);
  }
}
