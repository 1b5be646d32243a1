import { describe, expect, it } from 'vitest';
import { candidatesOf, type DiscoveryQuery, portsAndTransports } from './candidates.ts';

const query = (other: Partial<DiscoveryQuery> = {}): DiscoveryQuery => ({
  host: 'sip.example.com',
  port: null,
  transport: null,
  ...other,
});

/** `transport port` of each candidate. */
const shown = (list: readonly { transport: string; port: number }[]) =>
  list.map(({ transport, port }) => `${transport} ${port}`);

describe('portsAndTransports', () => {
  it.each<[Partial<DiscoveryQuery>, string[]]>([
    [{}, ['udp 5060', 'tcp 5060', 'udp 5061', 'tcp 5061', 'udp 5080', 'tcp 5080', 'tls 5061']],
    [{ port: 5070 }, ['udp 5070', 'tcp 5070', 'tls 5070']],
    [{ transport: 'tls' }, ['tls 5060', 'tls 5061', 'tls 5080']],
    [{ port: 5070, transport: 'tcp' }, ['tcp 5070']],
  ])('%j is %j', (given, expected) => {
    expect(shown(portsAndTransports(query(given)))).toEqual(expected);
  });
});

describe('candidatesOf', () => {
  const place = { target: 'edge.example.com', address: '192.0.2.9', port: 5071, transport: 'tls' } as const;

  it('combines every address with every port and transport, and adds the SRV targets, under the name of the host', () => {
    const candidates = candidatesOf(query(), ['192.0.2.1', '2001:db8::1'], [place]);
    expect(candidates).toHaveLength(15);
    expect(candidates.at(-1)).toEqual({
      host: 'sip.example.com',
      address: '192.0.2.9',
      port: 5071,
      transport: 'tls',
    });
  });

  it('probes each candidate once', () => {
    const known = { ...place, address: '192.0.2.1', port: 5061 };
    expect(candidatesOf(query(), ['192.0.2.1'], [known])).toHaveLength(7);
  });

  it('leaves out SRV targets that do not match the query', () => {
    const candidates = candidatesOf(query({ transport: 'tcp', port: 5060 }), ['192.0.2.1'], [place]);
    expect(shown(candidates)).toEqual(['tcp 5060']);
    expect(shown(candidatesOf(query({ port: 5071 }), [], [place]))).toEqual(['tls 5071']);
  });
});
