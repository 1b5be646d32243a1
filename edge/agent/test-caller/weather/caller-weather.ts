/**
 * The weather of one test run's call: put between the caller and its leg, with a measure of what the agent hears.
 *
 *     caller --CallerSound--> leg --CallerNetwork--> ... --> leg --HeardLevels--> tested agent
 */
import type { Weather, WeatherReport } from '#shared/agent-test-weather.ts';
import { type Chance, chance } from '#shared/chance.ts';
import type { Clock } from '#shared/clock.ts';
import { g711 } from '#shared/g711.ts';
import type { AgentLeg, Agents } from '../../../call/ports/agents.ts';
import { type Media, withLegs } from '../../../call/ports/media.ts';
import { tappedLeg } from '../tapped-leg.ts';
import { CallerSound } from './caller-sound.ts';
import { HeardLevels } from './heard-levels.ts';
import { CallerNetwork } from './network.ts';

export class CallerWeather {
  readonly #weather: Weather;
  /** Of the sound and of the network apart: how many packets there are depends on the time. */
  readonly #soundChance: Chance;
  readonly #network: CallerNetwork;
  readonly #heard = new HeardLevels();
  readonly #clock: Clock;
  /** The sound of a given noise, once it is here. */
  #given: Int16Array | null = null;
  readonly #arrival = Promise.withResolvers<void>();

  constructor(weather: Weather, seed: number, clock: Clock) {
    this.#weather = weather;
    this.#clock = clock;
    const seeds = chance(seed);
    const next = () => chance(Math.floor(seeds.next() * 2 ** 32));
    this.#soundChance = next();
    this.#network = new CallerNetwork(weather, next(), clock);
  }

  /** Resolves when the caller can be made: with the sound of its noise, where that is given. Rejects when it is late. */
  async noiseArrives(withinMs: number): Promise<void> {
    if (this.#weather.noise?.kind !== 'given') return;
    const late = new Error('control did not send the given noise of the weather');
    const timer = this.#clock.after(withinMs, () => this.#arrival.reject(late));
    try {
      await this.#arrival.promise;
    } finally {
      timer.cancel();
    }
  }

  /** @param audio of a noise: mu-law at 8 kHz, base64 */
  give(audio: string): void {
    const { toLinear } = g711.PCMU;
    this.#given = Int16Array.from(Buffer.from(audio, 'base64'), (octet) => toLinear[octet] ?? 0);
    this.#arrival.resolve();
  }

  /** The caller's media. */
  media(media: Media): Media {
    return withLegs(media, (options) => media.createLeg({ ...options, way: this.#network }));
  }

  /** The caller, as its telephone hears it. */
  caller(caller: AgentLeg): AgentLeg {
    const sound = new CallerSound(this.#weather, this.#soundChance, caller.sampleRate, this.#given);
    return tappedLeg(caller, {
      read: (frame) => sound.send(frame, caller.read(frame)),
      write: (frame) => {
        sound.hear(frame);
        caller.write?.(frame);
      },
    });
  }

  /** The tested agents, with a measure of what they hear. */
  tested(agents: Agents): Agents {
    return {
      ...agents,
      create: (...call) => {
        const agent = agents.create(...call);
        return tappedLeg(agent, {
          write: (frame) => {
            this.#heard.add(frame);
            agent.write?.(frame);
          },
        });
      },
    };
  }

  report(): WeatherReport {
    return { ...this.#network.counts, loud_dbov: this.#heard.loud, quiet_dbov: this.#heard.quiet };
  }

  close(): void {
    this.#network.close();
  }
}
