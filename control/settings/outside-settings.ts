/** Settings of external services: mail, SMS, the carrier, the virus scanner. */
import { isAbsolute, resolve } from 'node:path';
import { SettingError } from '#shared/settings/reader.ts';

/** The outgoing mail server. */
export interface MailSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the start. */
  readonly secure: boolean;
  readonly user: string | null;
  readonly password: string | null;
  readonly requireTls: boolean;
  /** PEM file of trusted authorities. */
  readonly ca: string | null;
  /** An address, or a name with an address in angle brackets. */
  readonly from: string;
}

export interface SmsSettings {
  readonly url: string;
  readonly key: string | null;
  readonly from: string;
}

/** The virus scanner for uploaded files. */
export type ScanSettings =
  | { readonly kind: 'clamd'; readonly host: string; readonly port: number }
  | { readonly kind: 'program'; readonly path: string };

/** The carrier's porting API. */
export interface CarrierSettings {
  readonly url: string;
  readonly key: string | null;
}

/**
 * @param url the query may have `tls=required` and `ca=`, the PEM file of trusted authorities
 * @throws SettingError
 */
export function mailSettings(url: string | null, from: string | null): MailSettings | null {
  if (url === null) return null;
  const target = URL.canParse(url) ? new URL(url) : null;
  // The value itself is not shown, because it may contain a password.
  if (!target || !/^smtps?:$/.test(target.protocol) || target.hostname === '') {
    throw new SettingError('SMTP_URL must have the form smtp://user:password@host:port, or smtps://');
  }
  if (from === null || !/^(?:[^<>]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(from)) {
    throw new SettingError('MAIL_FROM must be a mail address when SMTP_URL is set');
  }
  const { tls, ca, ...others } = Object.fromEntries(target.searchParams);
  if ((tls !== undefined && tls !== 'required') || ca === '' || Object.keys(others).length > 0) {
    throw new SettingError('SMTP_URL may end in ?tls=required, ?ca=<PEM file>, or both with & between them');
  }
  const secure = target.protocol === 'smtps:';
  return {
    host: target.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: target.port === '' ? (secure ? 465 : 587) : Number(target.port),
    secure,
    user: target.username === '' ? null : decodeURIComponent(target.username),
    password: target.password === '' ? null : decodeURIComponent(target.password),
    requireTls: tls === 'required',
    ca: ca === undefined ? null : resolve(ca),
    from,
  };
}

/** For more, use a mailing list on the mail server. */
const mostOperatorAddresses = 10;

/** Each is a mail address or an http(s) URL. @throws SettingError */
export function operatorAddresses(given: readonly string[], hasMail: boolean): readonly string[] {
  const addresses = [...new Set(given)];
  if (addresses.length > mostOperatorAddresses) {
    throw new SettingError(`OPERATOR_ALERTS may list ${mostOperatorAddresses} addresses at most`);
  }
  addresses.forEach((address, index) => {
    if (/^https?:\/\/./i.test(address) && URL.canParse(address)) return;
    // The value itself is not shown: the URL of a webhook is a secret.
    if (!/^[^\s<>@,:]+@[^\s<>@,:]+$/.test(address)) {
      throw new SettingError(
        `OPERATOR_ALERTS must list mail addresses and http(s) URLs; number ${index + 1} is neither`,
      );
    }
    if (!hasMail) throw new SettingError('SMTP_URL must be set when OPERATOR_ALERTS lists a mail address');
  });
  return addresses;
}

/** @throws SettingError */
export function smsSettings(url: string | null, key: string | null, from: string | null): SmsSettings | null {
  if (url === null) return null;
  if (from === null) throw new SettingError('SMS_FROM must be set when SMS_API_URL is');
  return { url, key, from };
}

/** @throws SettingError */
export function carrierSettings(url: string | null, key: string | null): CarrierSettings | null {
  if (url === null) return null;
  if (URL.canParse(url)) return { url: url.replace(/\/+$/, ''), key };
  throw new SettingError('PORTING_CARRIER_URL must be a URL');
}

/** @throws SettingError */
export function scanSettings(text: string | null): ScanSettings | null {
  if (text === null) return null;
  if (isAbsolute(text)) return { kind: 'program', path: text };
  const target = URL.canParse(text) ? new URL(text) : null;
  if (target?.protocol === 'tcp:' && target.hostname !== '' && target.port !== '') {
    const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
    return { kind: 'clamd', host, port: Number(target.port) };
  }
  throw new SettingError(
    `PORTING_VIRUS_SCAN must be tcp://host:port or the absolute path of a program, not "${text}"`,
  );
}
