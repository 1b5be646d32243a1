/** The codecs available on this machine, and how to create them. */
import { type CodecName, codecNames } from '#shared/codecs.ts';
import type { AgentRate, AudioCodec } from './codec.ts';
import { G711 } from './g711.ts';
import { G722, loadG722 } from './g722.ts';
import { G729, loadG729 } from './g729.ts';
import { loadOpus, Opus } from './opus.ts';
import { Resampled } from './resampled.ts';

export type Availability =
  | { readonly available: true }
  | { readonly available: false; readonly reason: string };

interface CodecEntry {
  availability(): Availability;
  /** Creates a codec at its best PCM rate for the agent's rate. @throws Error when unavailable */
  create(rate: AgentRate, fmtp: string | null, twoSided: boolean): AudioCodec;
}

const codecs: Readonly<Record<CodecName, CodecEntry>> = {
  PCMU: { availability: () => ({ available: true }), create: () => new G711('PCMU') },
  PCMA: { availability: () => ({ available: true }), create: () => new G711('PCMA') },
  Opus: fromLibrary(loadOpus, (...parts) => new Opus(...parts)),
  'G.722': fromLibrary(loadG722, (functions) => new G722(functions)),
  'G.729': fromLibrary(loadG729, (functions) => new G729(functions)),
};

function fromLibrary<Functions>(
  load: () => { readonly functions: Functions } | { readonly reason: string },
  build: (functions: Functions, rate: AgentRate, fmtp: string | null, twoSided: boolean) => AudioCodec,
): CodecEntry {
  return {
    availability() {
      const loaded = load();
      return 'reason' in loaded ? { available: false, reason: loaded.reason } : { available: true };
    },
    create(...how) {
      const loaded = load();
      if ('reason' in loaded) throw new Error(loaded.reason);
      return build(loaded.functions, ...how);
    },
  };
}

/** Whether a codec is available here; if not, why and what to install. Never throws. */
export function codecAvailable(name: CodecName): Availability {
  return codecs[name].availability();
}

/** The codecs available here. */
export function availableCodecs(): CodecName[] {
  return codecNames.filter((name) => codecAvailable(name).available);
}

/**
 * A codec for one stream, with PCM at the agent's rate. The caller closes it.
 * @param fmtp the peer's `a=fmtp` of the codec, which may limit what is sent to it
 * @param twoSided whether there are two channels to encode; see `stereo` of the codec for whether the peer gets them
 * @throws Error when the codec's library is missing; check with `codecAvailable` first
 */
export function createCodec(
  name: CodecName,
  rate: AgentRate,
  fmtp: string | null = null,
  twoSided = false,
): AudioCodec {
  const codec = codecs[name].create(rate, fmtp, twoSided);
  return codec.sampleRate === rate ? codec : new Resampled(codec);
}
