/** The DNS interface of the trunks, which lets tests run without a server. */

export interface SrvRecord {
  readonly target: string;
  readonly port: number;
  readonly priority: number;
  readonly weight: number;
}

/** RFC 3403 section 4.1; SIP does not use the regular expression field (RFC 3263 section 4.1). */
export interface NaptrRecord {
  readonly order: number;
  readonly preference: number;
  readonly flags: string;
  readonly service: string;
  readonly replacement: string;
}

/** No records: the name or the type does not exist. */
export interface DnsAnswer<T> {
  readonly records: readonly T[];
  /**
   * TTL of the answer, seconds: the shortest of its records, or that of the zone for an empty one (RFC 2308 section 5).
   * null: unknown, as for addresses from the hosts file.
   */
  readonly ttlS: number | null;
}

/** Every function rejects with `DnsFailure` when the query fails; a name that does not exist is an empty answer. */
export interface Dns {
  a(host: string): Promise<DnsAnswer<string>>;
  aaaa(host: string): Promise<DnsAnswer<string>>;
  srv(name: string): Promise<DnsAnswer<SrvRecord>>;
  naptr(name: string): Promise<DnsAnswer<NaptrRecord>>;
}

/** The name servers gave no usable answer. */
export class DnsFailure extends Error {
  override readonly name = 'DnsFailure';
  /** Such as ETIMEOUT or ESERVFAIL. */
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}
