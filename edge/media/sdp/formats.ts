/** How codecs are written in SDP, and which of a peer's formats match which codec (RFC 3551, 4566, 7587). */
import type { CodecName } from '#shared/codecs.ts';
import { attributes, type MediaSection } from './sdp.ts';

export interface CodecFormat {
  readonly encoding: string;
  /** RTP clock in Hz. G.722 has 8000 although it samples at 16000 (RFC 3551 section 4.5.2). */
  readonly clockRate: number;
  readonly channels: number;
  /** Payload type in our own offers. */
  readonly payloadType: number;
  /** What we can receive, for `a=fmtp`; null: no `a=fmtp`. */
  readonly fmtp: string | null;
}

export const codecFormats: Readonly<Record<CodecName, CodecFormat>> = {
  PCMU: { encoding: 'PCMU', clockRate: 8000, channels: 1, payloadType: 0, fmtp: null },
  PCMA: { encoding: 'PCMA', clockRate: 8000, channels: 1, payloadType: 8, fmtp: null },
  'G.722': { encoding: 'G722', clockRate: 8000, channels: 1, payloadType: 9, fmtp: null },
  'G.729': { encoding: 'G729', clockRate: 8000, channels: 1, payloadType: 18, fmtp: 'annexb=no' },
  // RFC 7587 section 7: always written 48000/2, whatever the actual rate and channels. No agent uses more than 16
  // kHz mono, so the peer need not spend bits on more.
  Opus: {
    encoding: 'opus',
    clockRate: 48000,
    channels: 2,
    payloadType: 111,
    fmtp: 'maxplaybackrate=16000;sprop-maxcapturerate=16000;stereo=0;useinbandfec=1',
  },
};

/** Payload types of telephone-event in our offers, by clock rate (RFC 4733: one per clock rate in use). */
export const telephoneEventPayloadTypes: ReadonlyMap<number, number> = new Map([
  [8000, 101],
  [48000, 110],
]);

/** One payload type of a media section with its meaning. */
export interface Format {
  readonly payloadType: number;
  /** Upper case, because encoding names are case-insensitive. */
  readonly encoding: string;
  readonly clockRate: number;
  readonly channels: number;
  readonly fmtp: string | null;
}

/** Static payload types that may appear without `a=rtpmap` (RFC 3551 table 4) and matter here. */
const staticFormats: ReadonlyMap<number, string> = new Map([
  [0, 'PCMU/8000'],
  [8, 'PCMA/8000'],
  [9, 'G722/8000'],
  [13, 'CN/8000'],
  [18, 'G729/8000'],
]);

const mapForm = /^(\d{1,3})[ \t]+([^/ \t]+)\/(\d{1,6})(?:\/(\d{1,2}))?$/;

/** The formats of an RTP media section in the order of its media line; undefined ones are omitted. */
export function formatsOf(section: MediaSection): Format[] {
  const maps = new Map<number, string>(staticFormats);
  for (const value of attributes(section, 'rtpmap')) {
    const match = mapForm.exec(value);
    if (match) maps.set(Number(match[1]), value.slice(value.search(/[ \t]/)).trim());
  }
  const parameters = new Map<number, string>();
  for (const value of attributes(section, 'fmtp')) {
    const space = value.search(/[ \t]/);
    if (space > 0) parameters.set(Number(value.slice(0, space)), value.slice(space).trim());
  }
  const formats: Format[] = [];
  for (const word of section.formats) {
    const payloadType = /^\d{1,3}$/.test(word) ? Number(word) : Number.NaN;
    const map = maps.get(payloadType);
    if (map === undefined || payloadType > 127) continue;
    const [encoding = '', clockRate = '', channels = '1'] = map.split('/');
    formats.push({
      payloadType,
      encoding: encoding.toUpperCase(),
      clockRate: Number(clockRate),
      channels: Number(channels),
      fmtp: parameters.get(payloadType) ?? null,
    });
  }
  return formats;
}

/** The first format that is `codec`. Channels are not compared: some peers write Opus as mono. */
export function findCodec(formats: readonly Format[], codec: CodecName): Format | undefined {
  const { encoding, clockRate } = codecFormats[codec];
  return formats.find(
    (format) => format.encoding === encoding.toUpperCase() && format.clockRate === clockRate,
  );
}

/**
 * The telephone-event format to use with a codec: the one with the codec's clock rate (RFC 4733 section 2.1),
 * else the one at 8000 Hz, the only one that many peers have beside Opus.
 */
export function findTelephoneEvent(formats: readonly Format[], clockRate: number): Format | undefined {
  const events = formats.filter((format) => format.encoding === 'TELEPHONE-EVENT');
  return (
    events.find((format) => format.clockRate === clockRate) ??
    events.find((format) => format.clockRate === 8000)
  );
}

/** The telephone-event formats with clock rates other than `chosen`, which the peer may use instead. */
export function otherTelephoneEvents(
  formats: readonly Format[],
  chosen: Pick<Format, 'clockRate'> | null,
): Format[] {
  if (!chosen) return [];
  return formats.filter(
    ({ encoding, clockRate }) => encoding === 'TELEPHONE-EVENT' && clockRate !== chosen.clockRate,
  );
}

/** The comfort noise format (RFC 3389) with the codec's clock rate. */
export function findComfortNoise(formats: readonly Format[], clockRate: number): Format | undefined {
  return formats.find((format) => format.encoding === 'CN' && format.clockRate === clockRate);
}

/** Value of `a=rtpmap` for a format. */
export function rtpmap(payloadType: number, encoding: string, clockRate: number, channels: number): string {
  return `${payloadType} ${encoding}/${clockRate}${channels > 1 ? `/${channels}` : ''}`;
}
