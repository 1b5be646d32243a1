import { RoomyMap } from '#shared/roomy-map.ts';
import type { SipResponse } from '../message/message.ts';
import type { ClientTransaction } from './client.ts';
import { responseBranch } from './matching.ts';
import { InviteServerTransaction, type ServerTransaction } from './server.ts';

/** Live transactions, and how messages are matched to them (RFC 3261 sections 17.1.3 and 17.2.3). */
export class TransactionTable {
  readonly #clients = new RoomyMap<string, ClientTransaction>();
  readonly #servers = new RoomyMap<string, ServerTransaction>();
  readonly #merged = new RoomyMap<string, ServerTransaction>();

  get clientCount(): number {
    return this.#clients.size;
  }

  get serverCount(): number {
    return this.#servers.size;
  }

  addClient(transaction: ClientTransaction): void {
    this.#clients.set(transaction.branch, transaction);
  }

  removeClient(transaction: ClientTransaction): void {
    this.#clients.delete(transaction.branch);
  }

  /**
   * 17.1.3: branch of the top Via, and method of CSeq. Responses to our CANCEL carry the INVITE's branch but
   * another method; they are not needed.
   */
  clientFor(response: SipResponse): ClientTransaction | undefined {
    const branch = responseBranch(response.headers);
    const transaction = branch === undefined ? undefined : this.#clients.get(branch);
    const method = response.headers.cseq?.method;
    return transaction?.request.method === method ? transaction : undefined;
  }

  addServer(transaction: ServerTransaction): void {
    this.#servers.set(transaction.key, transaction);
    if (transaction.mergeKey !== null) this.#merged.set(transaction.mergeKey, transaction);
  }

  removeServer(transaction: ServerTransaction): void {
    this.#servers.delete(transaction.key);
    if (transaction.mergeKey !== null && this.#merged.get(transaction.mergeKey) === transaction) {
      this.#merged.delete(transaction.mergeKey);
    }
  }

  server(key: string): ServerTransaction | undefined {
    return this.#servers.get(key);
  }

  /** The INVITE transaction of a key, for its ACK or CANCEL. */
  inviteServer(key: string): InviteServerTransaction | undefined {
    const transaction = this.#servers.get(key);
    return transaction instanceof InviteServerTransaction ? transaction : undefined;
  }

  /** 8.2.2.2: whether the same request already arrived on another path and its transaction is alive. */
  isMerged(mergeKey: string | null): boolean {
    return mergeKey !== null && this.#merged.has(mergeKey);
  }
}
