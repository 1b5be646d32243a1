/** Content negotiation and forms of the signature pages. Pure. */

/** Whether a page is preferred over JSON (RFC 9110, 12.5.1); without a preference it is JSON. */
export function prefersHtml(accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    return { type, weight: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
  });
  const weightOf = (name: string) =>
    [name, `${name.split('/')[0]}/*`, '*/*']
      .map((type) => ranges.find((range) => range.type === type)?.weight)
      .find((weight) => weight !== undefined) ?? 0;
  return weightOf('text/html') > weightOf('application/json');
}

/** A form as the equivalent JSON object; a ticked box is `true` or `on` (contract 5.6). */
export function parseForm(text: string): Record<string, unknown> {
  const fields = Object.fromEntries(new URLSearchParams(text));
  const { consent } = fields;
  return consent === 'true' || consent === 'on' ? { ...fields, consent: true } : fields;
}
