/** deploy/drachtio.conf.xml is well-formed, TLS only, and matches the defaults of the edge. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../edge/config.ts';

interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

const tag = /^<(\/?)([A-Za-z][\w-]*)((?:\s+[\w-]+="[^"<&]*")*)\s*(\/?)>/;

/** Parses the subset of XML that such a file needs. @throws Error if it is not well-formed */
function parse(xml: string): XmlElement {
  const root: XmlElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  let rest = xml.replace(/^<\?xml [^?]*\?>/, '');
  while (rest !== '') {
    const inner = open.at(-1) ?? root;
    const comment = /^<!--((?!--)[\s\S])*-->/.exec(rest)?.[0];
    const text = /^[^<&]+/.exec(rest)?.[0];
    const found = tag.exec(rest);
    if (text !== undefined) inner.text += text;
    else if (found?.[1] === '/') {
      if (open.pop()?.name !== found[2]) throw new Error(`unexpected ${found[0]}`);
    } else if (found) {
      const pairs = [...(found[3] ?? '').matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key, value]) => [
        key,
        value,
      ]);
      const element = { name: found[2] ?? '', attributes: Object.fromEntries(pairs), children: [], text: '' };
      inner.children.push(element);
      if (found[4] === '') open.push(element);
    } else if (comment === undefined) throw new Error(`not well-formed: ${rest.slice(0, 40)}`);
    rest = rest.slice((text ?? found?.[0] ?? comment ?? '').length);
  }
  const [only] = root.children;
  if (open.length !== 1 || root.children.length !== 1 || !only || root.text.trim() !== '') {
    throw new Error('one element must hold everything');
  }
  return only;
}

const file = readFileSync(join(import.meta.dirname, '..', 'deploy', 'drachtio.conf.xml'), 'utf8');
const configuration = parse(file);
const edge = readSettings({
  TRUNKLINE_DATA: '/var/lib/trunkline',
  DRACHTIO_HOST: '127.0.0.1',
  DRACHTIO_SECRET: 's',
});

/** The element at a path of names. @throws Error unless there is exactly one */
function at(path: string): XmlElement {
  const found = path
    .split('/')
    .reduce(
      (elements, name) => elements.flatMap((one) => one.children.filter((child) => child.name === name)),
      [configuration],
    );
  const [only] = found;
  if (found.length !== 1 || !only) throw new Error(`${found.length} elements ${path}`);
  return only;
}

describe('the reader of this test', () => {
  it.each(['<a>', '<a></b>', '<a/><b/>', '<a>&b;</a>', '<a b=c/>', '<a><!-- x -- y --></a>', 'text', ''])(
    'rejects %s',
    (xml) => {
      expect(() => parse(xml)).toThrow();
    },
  );
});

describe('the configuration for drachtio-server', () => {
  it('has one contact, only for SIP over TLS', () => {
    expect(configuration.name).toBe('drachtio');
    const { children } = at('sip/contacts');
    expect(children.map(({ name, text }) => [name, text])).toEqual([
      ['contact', `sips:*:${edge.sip.port};transport=tls`],
    ]);
    expect(at('sip').children.map(({ name }) => name)).not.toContain('contact');
    expect(at('sip/tls/min-tls-version').text).toBe('1.2');
  });

  it('uses the certificate that control creates for the edge', () => {
    expect(at('sip/tls/key-file').text).toBe(edge.tls.key);
    expect(at('sip/tls/cert-file').text).toBe(edge.tls.cert);
    expect(at('sip/tls/chain-file').text).toBe('/var/lib/trunkline/tls/ca.crt');
  });

  it('accepts applications on the port that the edge uses, only from this machine', () => {
    const { attributes, text } = at('admin');
    expect(attributes).toEqual({
      port: String(edge.drachtio?.port),
      secret: 'SECRET',
      'tcp-keepalive': '45',
    });
    expect(text).toBe('127.0.0.1');
  });

  it('sends copies of all messages to the port where the edge listens', () => {
    const { attributes, text } = at('sip/capture-server');
    expect(attributes).toEqual({ port: String(edge.hep.port), 'hep-version': '3', id: '1' });
    expect(text).toBe(edge.hep.host);
  });

  it('has the timers of RFC 3261', () => {
    expect(at('sip/timers').children.map(({ name, text }) => [name, Number(text)])).toEqual([
      ['t1', 500],
      ['t2', 4000],
      ['t4', 5000],
      ['t1x64', 32_000],
    ]);
  });

  it('keeps messages out of the log, and writes no call records', () => {
    expect(at('logging/loglevel').text).toBe('warning');
    expect(at('cdrs').text).toBe('false');
  });

  it('has no white space that drachtio-server would read as part of a value', () => {
    const check = (element: XmlElement): void => {
      if (element.children.length === 0) expect(element.text).toBe(element.text.trim());
      element.children.forEach(check);
    };
    check(configuration);
  });
});
