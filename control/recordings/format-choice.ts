/** WAV or Opus, by the Accept header (RFC 9110 section 12.5.1). Pure. */

/** Opus where it is named and preferred to WAV; malformed and absent headers get WAV. */
export function chosenFormat(accept: string | undefined): 'wav' | 'opus' {
  const weights = new Map((accept ?? '').split(',').map(weighted));
  const ogg = weights.get('audio/ogg') ?? 0;
  const wav = weights.get('audio/wav') ?? weights.get('audio/*') ?? weights.get('*/*') ?? 0;
  return ogg > wav ? 'opus' : 'wav';
}

function weighted(range: string): [type: string, weight: number] {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  const value = weight === undefined ? 1 : Number(weight.slice(2));
  return [type, Number.isNaN(value) ? 0 : value];
}
