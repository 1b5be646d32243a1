import { expect, it } from 'vitest';
import { g711 } from '#shared/g711.ts';
import { G711Codec } from './sound-formats.ts';

it.each(['PCMU', 'PCMA'] as const)(
  '%s passes from the line to a model with every sample as it was',
  (law) => {
    const octets = Buffer.from(Array.from({ length: 256 }, (_, octet) => octet));
    const onTheLine = Int16Array.from(octets, (octet) => g711[law].toLinear[octet] ?? 0);
    const codec = new G711Codec(law);
    const sent = codec.encode(onTheLine);
    expect(codec.decode(sent)).toEqual(onTheLine);
    // Mu-law has two octets for silence, and the second becomes the first.
    const changed = [...octets].filter((octet) => sent[octet] !== octet);
    expect(changed).toEqual(law === 'PCMU' ? [0x7f] : []);
  },
);
