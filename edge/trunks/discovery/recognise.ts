/** Identifies the system that sent a response, using the table in fingerprints.ts. Pure. */
import { type Fingerprint, fingerprints, type Trait, type TraitSource } from './fingerprints.ts';
import { headerList, headerValues, longName, type SipResponse } from './sip-response.ts';

export interface Recognition {
  /** `unknown` when nothing matches. */
  readonly system: string;
  /** 0..1, two decimals. */
  readonly confidence: number;
  /** The matched traits, one line each, the strongest first. */
  readonly evidence: readonly string[];
}

interface Finding {
  readonly trait: Trait;
  readonly text: string;
}

/** Below this, the result is `unknown`. */
const leastConfidence = 0.3;
const noRecognition: Recognition = { system: 'unknown', confidence: 0, evidence: [] };

/** @param table rows to check; on a tie the earlier row wins */
export function recognise(response: SipResponse, table: readonly Fingerprint[] = fingerprints): Recognition {
  let best = noRecognition;
  for (const { system, traits } of table) {
    const found = findings(response, traits);
    // Independent evidence: the remaining doubt is the product of the doubts.
    const doubt = found.reduce((left, { trait }) => left * (1 - trait.weight), 1);
    const confidence = Math.round((1 - doubt) * 100) / 100;
    if (confidence <= best.confidence || confidence < leastConfidence) continue;
    best = { system, confidence, evidence: found.map(described) };
  }
  return best;
}

/** Of traits that look at the same header only the strongest counts. */
function findings(response: SipResponse, traits: readonly Trait[]): Finding[] {
  const bySource = new Map<TraitSource, Finding>();
  for (const trait of traits) {
    const text = textsAt(response, trait.where).find((one) => trait.is.test(one));
    const known = bySource.get(trait.where);
    if (text === undefined || (known && known.trait.weight >= trait.weight)) continue;
    bySource.set(trait.where, { trait, text });
  }
  return [...bySource.values()].toSorted((one, other) => other.trait.weight - one.trait.weight);
}

function textsAt(response: SipResponse, where: TraitSource): string[] {
  if (where === 'name') return [...headerValues(response, 'user-agent'), ...headerValues(response, 'server')];
  if (where === 'header-names') return response.headers.map(({ name }) => name);
  if (where === 'reason-phrase') return [response.reason];
  if (where === 'sdp') return response.body === '' ? [] : [response.body];
  const name = where.slice('header:'.length);
  if (listHeaders.has(name)) return [headerList(response, name)?.join(', ') ?? []].flat();
  return headerValues(response, name);
}

/** Headers whose elements may be on one line or on several. */
const listHeaders = new Set(['allow', 'supported', 'accept', 'allow-events']);

function described({ trait, text }: Finding): string {
  const { where } = trait;
  const shown = where === 'sdp' ? (trait.is.exec(text)?.[0] ?? '') : text;
  const plain = shown.replace(/[^\x20-\x7e]/g, '').slice(0, 160);
  if (where === 'name') return `its name is "${plain}"`;
  if (where === 'header-names') return `it sends the header ${plain}`;
  if (where === 'sdp') return `its SDP has "${plain}"`;
  if (where === 'reason-phrase') return `it responds "${plain}"`;
  return `${titled(longName(where.slice('header:'.length)))} is "${plain}"`;
}

function titled(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
