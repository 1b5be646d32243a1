/** Another edge of a running system: its own data folder, ports and engine, the same certificate. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import type { TestSystem } from './harness.ts';
import { freeTcpPort, freeUdpRange } from './ports.ts';
import { isAlive } from './processes.ts';
import { TestProgram } from './program.ts';

/** A pair rests for a while after a call, and a drained edge's calls are this one's too. */
export const ampleRtpPorts = 300;

export interface EdgeUnderTest {
  readonly program: TestProgram;
  readonly sipPort: number;
  readonly folder: string;
}

/** The id of an edge that has been started. */
export function edgeId({ folder }: Pick<EdgeUnderTest, 'folder'>): Promise<string> {
  const file = join(folder, 'edge-id');
  return eventually('the id of the edge', () =>
    existsSync(file) ? readFileSync(file, 'utf8').trim() : null,
  );
}

/** Kills an edge with its engine and media workers, as a power cut would. */
export async function crash({ program }: Pick<EdgeUnderTest, 'program'>): Promise<void> {
  const members = program.noteFamily();
  await program.end('SIGKILL');
  await eventually('engine and media workers to end with the edge', () =>
    members.some(isAlive) ? null : true,
  );
}

export class SecondEdge implements EdgeUnderTest {
  readonly program: TestProgram;
  readonly sipPort: number;
  readonly folder: string;

  private constructor(folder: string, sipPort: number, program: TestProgram) {
    this.folder = folder;
    this.sipPort = sipPort;
    this.program = program;
  }

  /** Starts it; it has connected when `GET /v1/admin/edges` shows it. */
  static async start(system: TestSystem, extra: Record<string, string> = {}): Promise<SecondEdge> {
    const folder = await mkdtemp(join(tmpdir(), 'trunkline-edge-'));
    const [sipPort, rtpMin] = [await freeTcpPort(), await freeUdpRange(ampleRtpPorts)];
    const tls = (name: string) => join(system.folder, 'tls', name);
    const program = TestProgram.edge({
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      XDG_CACHE_HOME: process.env.XDG_CACHE_HOME,
      TRUNKLINE_CACHE: process.env.TRUNKLINE_CACHE,
      TRUNKLINE_DATA: folder,
      CONTROL_URL: `http://127.0.0.1:${system.controlPort}`,
      EDGE_TOKEN: system.bootstrap.edge_token,
      TLS_CERT: tls('server.crt'),
      TLS_KEY: tls('server.key'),
      TLS_CA: tls('ca.crt'),
      SIP_HOST: '0.0.0.0',
      SIP_TLS_PORT: String(sipPort),
      SIP_PUBLIC_HOST: '127.0.0.1',
      RTP_HOST: '127.0.0.1',
      RTP_PUBLIC_IP: '127.0.0.1',
      RTP_PORT_MIN: String(rtpMin),
      RTP_PORT_MAX: String(rtpMin + ampleRtpPorts - 1),
      ...extra,
    });
    program.start();
    return new SecondEdge(folder, sipPort, program);
  }

  /** Stops it as an operator would. */
  async stop(): Promise<void> {
    await this.program.end('SIGTERM');
    await rm(this.folder, { recursive: true });
  }
}
