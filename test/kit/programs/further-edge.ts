/** A second edge of a system under test, with its own data folder and ports, and the same certificates. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EdgeOptions } from '../../../edge/start/context.ts';
import { eventually } from './eventually.ts';
import type { TestSystem } from './harness.ts';
import { freeTcpPort, freeUdpRange } from './ports.ts';
import { isAlive } from './processes.ts';
import { TestProgram } from './program.ts';

const rtpPorts = 64;
const ample = 300;

/** The control plane that an edge connects to. */
export type ControlOfEdges = Pick<TestSystem, 'controlPort' | 'folder'> & {
  readonly bootstrap: { readonly edge_token: string };
};

/** Any edge of a system under test. */
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

/** Kills an edge with all its children, as a power cut would. */
export async function crash({ program }: Pick<EdgeUnderTest, 'program'>): Promise<void> {
  const members = program.noteFamily();
  await program.end('SIGKILL');
  await eventually('engine and media workers to end with the edge', () =>
    members.some(isAlive) ? null : true,
  );
}

/** Settings for many short calls: a pair of RTP ports rests for a while after each. */
export async function ampleRtpPorts(): Promise<{ RTP_PORT_MIN: string; RTP_PORT_MAX: string }> {
  const first = await freeUdpRange(ample);
  return { RTP_PORT_MIN: String(first), RTP_PORT_MAX: String(first + ample - 1) };
}

export class FurtherEdge implements EdgeUnderTest {
  readonly sipPort: number;
  readonly program: TestProgram;
  readonly folder: string;

  private constructor(folder: string, sipPort: number, program: TestProgram) {
    this.folder = folder;
    this.sipPort = sipPort;
    this.program = program;
  }

  /** @param extra settings in addition to those of the harness */
  static async start(
    system: ControlOfEdges,
    extra: Record<string, string> = {},
    options: EdgeOptions = {},
  ): Promise<FurtherEdge> {
    const folder = await mkdtemp(join(tmpdir(), 'trunkline-edge-'));
    const sipPort = await freeTcpPort();
    const rtp = await freeUdpRange(rtpPorts);
    const tls = (name: string) => join(system.folder, 'tls', name);
    const program = TestProgram.edge(
      {
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
        RTP_PORT_MIN: String(rtp),
        RTP_PORT_MAX: String(rtp + rtpPorts - 1),
        ...extra,
      },
      options,
    );
    const edge = new FurtherEdge(folder, sipPort, program);
    await edge.start(system);
    return edge;
  }

  /** Resolves when control lists one edge more. */
  async start(system: ControlOfEdges): Promise<void> {
    const before = await connected(system);
    this.program.start();
    await eventually('a further edge to connect', async () => {
      if (!this.program.running) throw new Error(`the edge ended while starting:\n${this.program.output}`);
      return (this.program.isReady && (await connected(system)).length > before.length) || null;
    });
    this.program.noteFamily();
  }

  /** Kills it with all its children, as a power cut would. */
  crash(): Promise<void> {
    return crash(this);
  }

  async stop(): Promise<void> {
    await this.program.end('SIGTERM');
    await rm(this.folder, { recursive: true });
  }
}

/** Ids of the edges that are connected to control. */
async function connected({ controlPort }: ControlOfEdges): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${controlPort}/health`);
  const { edge } = (await response.json()) as { edge: { ids: string[] } };
  return edge.ids;
}
