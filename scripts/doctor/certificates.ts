/** The certificate that peers get. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import { certificateNames } from '#shared/certificate-names.ts';
import { certificateProblems } from '#shared/certificate-problems.ts';
import { counted } from '#shared/counted.ts';
import { pathExists } from '#shared/path-exists.ts';
import type { EdgeSettings } from '../../edge/config.ts';
import { type Check, type Finding, failed, ok, skipped, warning } from './check.ts';
import { awaitsFirstStart, type Place } from './place.ts';
import { reasonOf } from './reason.ts';
import { ofEdge } from './with-settings.ts';

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a PEM text, in its order. @throws Error when one cannot be parsed */
function chainOf(pem: string): X509Certificate[] {
  return (pem.match(pemBlock) ?? []).map((block) => new X509Certificate(block));
}

function files({ tls, dataDir }: EdgeSettings, place: Place): Finding {
  const own = join(dataDir, 'tls', 'server.crt');
  if (tls.cert === own && !pathExists(own) && awaitsFirstStart(place, dataDir))
    return skipped(`${own} does not exist yet: the first start of control makes it`);
  const named = { TLS_CERT: tls.cert, TLS_KEY: tls.key, ...(tls.ca !== null && { TLS_CA: tls.ca }) };
  for (const [setting, file] of Object.entries(named)) {
    try {
      readFileSync(file);
    } catch (error) {
      return failed(
        `${setting}: ${reasonOf(error)}`,
        `set ${setting} to a file that the edge's user can read, or start control, which makes the files of an edge beside it`,
      );
    }
  }
  return ok(`${tls.cert}, ${tls.key}`);
}

function key({ tls }: EdgeSettings): Finding {
  const [own] = chainOf(readFileSync(tls.cert, 'utf8'));
  if (!own) return failed(`${tls.cert} has no certificate in PEM form`, 'set TLS_CERT to a PEM file');
  const fits = own.checkPrivateKey(createPrivateKey(readFileSync(tls.key, 'utf8')));
  return fits
    ? ok('the key is that of the certificate')
    : failed(
        `${tls.key} is not the key of ${tls.cert}`,
        'set TLS_KEY to the key that the certificate was made for',
      );
}

function chain({ tls }: EdgeSettings): Finding {
  const certificates = chainOf(readFileSync(tls.cert, 'utf8'));
  const broken = certificates.findIndex((one, at) => {
    const issuer = certificates[at + 1];
    return issuer !== undefined && !isIssuedBy(one, issuer);
  });
  const advice =
    'put the certificate first into TLS_CERT, then each intermediate behind the one that it issued, as the authority delivers them';
  if (broken >= 0) {
    return failed(
      `in ${tls.cert} certificate ${broken + 1} was not issued by the one that follows it`,
      advice,
    );
  }
  const last = certificates.at(-1);
  if (!last) return failed(`${tls.cert} has no certificate in PEM form`, advice);
  if (isIssuedBy(last, last))
    return ok(`${certificates.length} in the chain, up to its root ${nameOf(last)}`);
  const roots = [...getCACertificates('default'), ...(tls.ca === null ? [] : [readFileSync(tls.ca, 'utf8')])];
  const isKnown = roots.some((pem) => chainOf(pem).some((root) => isIssuedBy(last, root)));
  if (isKnown) return ok(`${certificates.length} in the chain, issued by a known authority`);
  return warning(
    `the chain in ${tls.cert} ends with ${nameOf(last)}, whose issuer is known neither here nor in TLS_CA: peers that do not have it do not connect`,
    `${advice}; or set TLS_CA to the certificate of the authority`,
  );
}

function isIssuedBy(one: X509Certificate, issuer: X509Certificate): boolean {
  return one.checkIssued(issuer) && one.verify(issuer.publicKey);
}

function nameOf({ subject }: X509Certificate): string {
  return subject.replaceAll('\n', ', ');
}

/** Those of the edge's own rule which are about one subject. */
function problems({ tls, sip }: EdgeSettings, { now }: Place, about: 'validity' | 'names'): Finding | null {
  const pem = readFileSync(tls.cert, 'utf8');
  const all = certificateProblems({ pem, file: tls.cert, publicHost: sip.publicHost }, now());
  const found = all.find(({ kind }) => (kind === 'other_host') === (about === 'names'));
  if (!found) return null;
  const [what, advice] = partsOf(found.message);
  return found.kind === 'expires_soon' ? warning(what, advice) : failed(what, advice);
}

/** The edge's sentences say what to do behind the last semicolon or colon. */
function partsOf(message: string): [what: string, advice: string] {
  const at = message.includes('; ') ? message.lastIndexOf('; ') : message.lastIndexOf(': ');
  return [message.slice(0, at), message.slice(at + 2)];
}

function validity(settings: EdgeSettings, place: Place): Finding {
  const problem = problems(settings, place, 'validity');
  const { validToDate } = new X509Certificate(readFileSync(settings.tls.cert));
  const days = Math.floor((validToDate.getTime() - place.now()) / 86_400_000);
  return problem ?? ok(`valid until ${validToDate.toISOString().slice(0, 10)}, ${counted(days, 'day')}`);
}

function names(settings: EdgeSettings, place: Place): Finding {
  const own = certificateNames(new X509Certificate(readFileSync(settings.tls.cert))).join(', ') || 'no host';
  const { publicHost } = settings.sip;
  if (publicHost === null)
    return skipped(
      `SIP_PUBLIC_HOST is not set, so the name that peers dial is not known; the certificate is for ${own}`,
    );
  return problems(settings, place, 'names') ?? ok(`for ${publicHost}, among ${own}`);
}

const withOwnEngine = (run: (settings: EdgeSettings, place: Place) => Finding) =>
  ofEdge((settings, place) => {
    if (settings.drachtio) return skipped('the drachtio-server has its own certificate');
    const found = files(settings, place);
    return run === files || found.state === 'ok' ? run(settings, place) : skipped('its files cannot be read');
  });

export const certificateChecks: readonly Check[] = [
  {
    name: 'certificates.files',
    program: 'edge',
    about: '`TLS_CERT`, `TLS_KEY` and `TLS_CA`, or those that control made, can be read.',
    bad: 'A file is missing or not readable.',
    run: withOwnEngine(files),
  },
  {
    name: 'certificates.key',
    program: 'edge',
    about: 'The key is that of the certificate.',
    bad: 'It is another one: the edge does not start.',
    run: withOwnEngine(key),
  },
  {
    name: 'certificates.chain',
    program: 'edge',
    about: 'Each certificate of the file was issued by the next, up to a root or an authority known here.',
    bad: 'The order is wrong (failed); an intermediate seems to be missing (warning).',
    run: withOwnEngine(chain),
  },
  {
    name: 'certificates.validity',
    program: 'edge',
    about: 'The certificate is valid now, with the days left.',
    bad: 'It has expired or is not valid yet (failed); 14 days or a third of its life are left (warning).',
    run: withOwnEngine(validity),
  },
  {
    name: 'certificates.names',
    program: 'edge',
    about: 'The certificate is for `SIP_PUBLIC_HOST`, by the rule of peers (RFC 5922).',
    bad: 'It is for other names: peers that check it do not connect.',
    run: withOwnEngine(names),
  },
];
